import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/** What a reader prints while it reads a dump: some report there what they do not throw. */
final class Said {
    interface Work {
        void run() throws Exception;
    }

    private Said() {}

    /** Its lines on standard output and standard error. */
    static String[] during(Work work) throws Exception {
        PrintStream out = System.out;
        PrintStream err = System.err;
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        System.setOut(new PrintStream(said, true, "UTF-8"));
        System.setErr(System.out);
        try {
            work.run();
        } finally {
            System.setOut(out);
            System.setErr(err);
        }
        return new String(said.toByteArray(), StandardCharsets.UTF_8).split("\\R");
    }
}
