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
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * One process for many cases, PROTOCOL.md 2: a line of JSON in, a line of JSON out. Arguments: the class of the adapter; the reader's
 * name and version, and where to report bugs.
 */
final class Serve {
    private static final int MOST = 300; // characters of a message
    private static final int DEPTH = 3; // methods

    /** Errors of programming and of the VM: the reader met something that its author did not think of. */
    static boolean isUncontrolled(Throwable error) {
        return error instanceof IndexOutOfBoundsException || error instanceof NullPointerException
                || error instanceof ClassCastException || error instanceof NegativeArraySizeException
                || error instanceof ArithmeticException || error instanceof java.nio.BufferUnderflowException
                || error instanceof java.util.NoSuchElementException || error instanceof java.util.MissingResourceException
                || error instanceof VirtualMachineError || error instanceof AssertionError || error instanceof LinkageError;
    }

    private static String outcome(Throwable error) {
        return error instanceof OutOfMemoryError ? "out of memory" : isUncontrolled(error) ? "crashed" : "rejected";
    }

    private static String message(Throwable error) {
        StringBuilder message = new StringBuilder(shortened(error.toString()));
        Throwable first = error;
        for (Throwable cause = error.getCause(); cause != null; cause = cause.getCause()) {
            message.append("; caused by ").append(shortened(cause.toString()));
            first = cause;
        }
        return message + where(first);
    }

    private static String shortened(String words) {
        return words.length() > MOST ? words.substring(0, MOST) : words;
    }

    /** The methods of the reader that led to the error, the innermost first: those of Java and Kotlin are left out. */
    private static String where(Throwable error) {
        List<String> methods = new ArrayList<>();
        for (StackTraceElement one : error.getStackTrace()) {
            String name = one.getClassName();
            if (!name.contains(".")) { // an adapter
                break;
            }
            if (!name.matches("(java|jdk.internal|sun|kotlin)[.].*")) {
                methods.add(name.substring(name.lastIndexOf('.') + 1) + "." + one.getMethodName() + ":" + one.getLineNumber());
            }
        }
        if (methods.isEmpty()) {
            return error.getStackTrace().length == 0 ? "" : " in the adapter";
        }
        return " at " + String.join(" from ", methods.subList(0, Math.min(DEPTH, methods.size())));
    }

    private static Map<String, Object> hello(Adapter adapter, String name, String version, String bugs) {
        Map<String, Object> hello = new LinkedHashMap<>();
        hello.put("protocol", 1);
        hello.put("name", name);
        hello.put("version", version);
        hello.put("bugs", bugs);
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
            String outcome = "accepted";
            Map<String, String> failed = new LinkedHashMap<>();
            for (Map.Entry<String, Throwable> one : answer.failed.entrySet()) {
                failed.put(one.getKey(), message(one.getValue()));
                answer.digests.remove(one.getKey());
                if (isUncontrolled(one.getValue())) {
                    outcome = "crashed";
                    reply.put("message", one.getKey() + ": " + message(one.getValue()));
                }
            }
            reply.put("outcome", outcome);
            reply.put("notices", answer.notices);
            reply.put("counts", answer.counts);
            Map<String, Object> digests = new LinkedHashMap<>();
            answer.digests.forEach((name, entry) -> digests.put(name, entry.toJson()));
            reply.put("digests", digests);
            reply.put("failed", failed);
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
            replies.write((gson.toJson(hello(adapter, arguments[1], arguments[2], arguments[3])) + "\n").getBytes(StandardCharsets.UTF_8));
            for (String line = requests.readLine(); line != null; line = requests.readLine()) {
                JsonObject request = JsonParser.parseString(line).getAsJsonObject();
                replies.write((gson.toJson(reply(adapter, request)) + "\n").getBytes(StandardCharsets.UTF_8));
            }
        }
    }
}
