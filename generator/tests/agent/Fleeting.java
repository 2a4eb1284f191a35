import java.io.IOException;
import java.io.InputStream;

/** Threads that load classes which can be unloaded at once, and so many collections: Fleeting THREADS COLLECTIONS. */
public final class Fleeting {
    static volatile boolean over;

    /** Loads its own copy of Passing. */
    static final class Loader extends ClassLoader {
        Loader() {
            super(null);
        }

        Object make(byte[] bytes) throws ReflectiveOperationException {
            return defineClass("Passing", bytes, 0, bytes.length).getDeclaredConstructor().newInstance();
        }
    }

    static void load(byte[] bytes) {
        try {
            while (!over) {
                new Loader().make(bytes);
            }
        } catch (ReflectiveOperationException e) {
            e.printStackTrace();
            System.exit(7);
        }
    }

    public static void main(String[] arguments) throws IOException {
        byte[] bytes;
        try (InputStream stream = Fleeting.class.getResourceAsStream("/Passing.class")) {
            bytes = stream.readAllBytes();
        }
        for (int i = 0; i < Integer.parseInt(arguments[0]); i++) {
            new Thread(() -> load(bytes)).start();
        }
        for (int i = 0; i < Integer.parseInt(arguments[1]); i++) {
            System.gc();
        }
        over = true;
    }
}
