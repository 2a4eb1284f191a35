import java.io.File;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Jazzer's target: a reader gets a file of any bytes. What it throws on purpose is no find; what its author did not think of is. */
public final class FuzzReader {
    private static Adapter adapter;
    private static Path folder;

    public static void fuzzerInitialize() throws Exception {
        adapter = (Adapter) Class.forName(System.getProperty("hprof.reader")).getDeclaredConstructor().newInstance();
        folder = Files.createTempDirectory("hprof-fuzz");
        folder.toFile().deleteOnExit();
    }

    public static void fuzzerTestOneInput(byte[] data) throws Throwable {
        Path dump = folder.resolve("dump.hprof");
        Files.write(dump, data);
        try {
            adapter.read(dump.toFile(), new Answer(adapter.digests()));
        } catch (Throwable thrown) {
            Throwable error = thrown instanceof InvocationTargetException ? thrown.getCause() : thrown;
            if (error instanceof OutOfMemoryError || Serve.isUncontrolled(error)) {
                throw error;
            }
        } finally {
            empty();
        }
    }

    /** Some readers leave a cache beside the dump. */
    private static void empty() throws IOException {
        for (File left : folder.toFile().listFiles()) {
            Files.deleteIfExists(left.toPath());
        }
    }
}
