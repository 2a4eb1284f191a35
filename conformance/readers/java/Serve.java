import com.google.gson.Gson;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.File;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/** One process for many cases, PROTOCOL.md 2: a line of JSON in, a line of JSON out. The argument is the class of the adapter. */
final class Serve {
    /** Errors of programming: the reader met something that its author did not think of. */
    static boolean isUncontrolled(Throwable error) {
        return error instanceof IndexOutOfBoundsException || error instanceof NullPointerException
                || error instanceof ClassCastException || error instanceof NegativeArraySizeException
                || error instanceof ArithmeticException || error instanceof java.nio.BufferUnderflowException
                || error instanceof java.util.NoSuchElementException || error instanceof java.util.MissingResourceException
                || error instanceof StackOverflowError || error instanceof AssertionError || error instanceof LinkageError;
    }

    private static String outcome(Throwable error) {
        return error instanceof OutOfMemoryError ? "out of memory" : isUncontrolled(error) ? "crashed" : "rejected";
    }

    private static String message(Throwable error) {
        StringBuilder message = new StringBuilder(error.toString());
        for (Throwable cause = error.getCause(); cause != null; cause = cause.getCause()) {
            message.append("; caused by ").append(cause);
        }
        return message.length() > 500 ? message.substring(0, 500) : message.toString();
    }

    private static Map<String, Object> hello(Adapter adapter) {
        Map<String, Object> hello = new LinkedHashMap<>();
        hello.put("protocol", 1);
        hello.put("name", adapter.name());
        hello.put("version", adapter.version());
        hello.put("bugs", adapter.bugs());
        hello.put("unsupported", adapter.unsupported());
        hello.put("counts", adapter.counts());
        hello.put("digests", adapter.digests());
        hello.put("references", adapter.references());
        return hello;
    }

    private static Map<String, Object> reply(Adapter adapter, JsonObject request) {
        Map<String, Object> reply = new LinkedHashMap<>();
        reply.put("case", request.get("case").getAsString());
        Answer answer = new Answer(adapter.digests());
        try {
            adapter.read(new File(request.get("file").getAsString()), answer);
            reply.put("outcome", "accepted");
            reply.put("notices", answer.notices);
            reply.put("counts", answer.counts);
            Map<String, Object> digests = new LinkedHashMap<>();
            answer.digests.forEach((name, entry) -> digests.put(name, entry.toJson()));
            reply.put("digests", digests);
        } catch (Throwable thrown) {
            Throwable error = thrown instanceof InvocationTargetException ? thrown.getCause() : thrown;
            reply.put("outcome", outcome(error));
            reply.put("message", message(error));
        }
        return reply;
    }

    public static void main(String[] arguments) throws Exception {
        Gson gson = new Gson();
        Adapter adapter = (Adapter) Class.forName(arguments[0]).getDeclaredConstructor().newInstance();
        try (OutputStream replies = new FileOutputStream(FileDescriptor.out);
                BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            System.setOut(new PrintStream(System.err)); // what a reader prints is no reply
            replies.write((gson.toJson(hello(adapter)) + "\n").getBytes(StandardCharsets.UTF_8));
            for (String line = requests.readLine(); line != null; line = requests.readLine()) {
                JsonObject request = JsonParser.parseString(line).getAsJsonObject();
                replies.write((gson.toJson(reply(adapter, request)) + "\n").getBytes(StandardCharsets.UTF_8));
            }
        }
    }
}
