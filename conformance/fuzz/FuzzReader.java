import java.io.File;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Jazzer's target: a reader gets a file of any bytes. A find is what the reader did not throw on purpose: Serve.isUncontrolled. */
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
            empty(folder.toFile());
        }
    }

    /** Some readers leave a cache beside the dump, a file or a folder. */
    private static void empty(File directory) throws IOException {
        for (File left : directory.listFiles()) {
            if (left.isDirectory()) {
                empty(left);
            }
            Files.delete(left.toPath());
        }
    }
}
