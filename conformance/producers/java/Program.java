import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * A program that is dumped. It makes objects, prints what it holds, and waits. Facts go to standard output, a line each, then
 * "ready". Commands come from standard input: "dump FILE", "collect", "fill"; the end of the input ends the program.
 *
 * <p>Lines are ASCII, with other characters as \\uXXXX: a name that is printed as it is would be in the buffers of the dump, too.
 */
final class Program {
    /** What a program holds. */
    interface Content {
        void make(List<Object> kept) throws Exception;

        /** Facts, whose words are separated by tabs. */
        void say(Facts facts) throws Exception;
    }

    interface Facts {
        void fact(Object... words);
    }

    private static final List<Object> KEPT = new ArrayList<>();
    private static Content[] running; // an agent that dumps when the VM ends finds no frame of main any more

    private Program() {}

    /** A class of its own for each loader. */
    static final class Loader extends ClassLoader {
        Class<?> define(String name) throws IOException {
            try (InputStream in = Program.class.getResourceAsStream("/" + name + ".class")) {
                byte[] bytes = new byte[1 << 16];
                int length = 0;
                for (int read = in.read(bytes); read > 0; read = in.read(bytes, length, bytes.length - length)) {
                    length += read;
                }
                return defineClass(name, bytes, 0, length);
            }
        }
    }

    static String escaped(String text) {
        StringBuilder found = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c < 128 && c != '\\') {
                found.append(c);
            } else {
                found.append('\\').append('u').append(Integer.toHexString(c + 0x10000).substring(1));
            }
        }
        return found.toString();
    }

    private static void fill() {
        List<byte[]> all = new ArrayList<>();
        try {
            while (true) {
                all.add(new byte[1 << 20]);
            }
        } catch (OutOfMemoryError expected) {
            all.clear();
        }
    }

    private static void dump(String file) throws Exception {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        server.invoke(new ObjectName("com.sun.management:type=HotSpotDiagnostic"), "dumpHeap",
                new Object[] {file, true}, new String[] {"java.lang.String", "boolean"});
    }

    static void run(Content... contents) throws Exception {
        PrintStream out = new PrintStream(System.out, true, "US-ASCII");
        running = contents;
        for (Content one : contents) {
            one.make(KEPT);
        }
        System.gc(); // unloads what nothing refers to
        for (Content one : contents) {
            one.say(words -> {
                StringBuilder line = new StringBuilder();
                for (Object word : words) {
                    line.append(line.length() == 0 ? "" : "\t").append(escaped(word.toString()));
                }
                out.println(line);
            });
        }
        out.println("ready");
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            if (line.equals("fill")) {
                fill();
            } else if (line.equals("collect")) {
                System.gc();
            } else {
                dump(line.substring("dump ".length()));
            }
            out.println("done");
        }
    }
}
