import java.io.InputStream;

/** The system's class loader, which loads nothing while the program holds its gate; the program defines classes meanwhile. */
public final class Gatekeeper extends ClassLoader {
    static final Object GATE = new Object();

    public Gatekeeper(ClassLoader parent) {
        super(parent);
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        synchronized (GATE) {
            return super.loadClass(name, resolve);
        }
    }

    static final class Definer extends ClassLoader {
        Class<?> define(byte[] bytes) {
            return defineClass(null, bytes, 0, bytes.length);
        }
    }

    public static void main(String[] arguments) throws Exception {
        byte[] bytes = new byte[10_000];
        int length = 0;
        try (InputStream file = Gatekeeper.class.getResourceAsStream("Passing.class")) {
            for (int more = file.read(bytes); more > 0; more = file.read(bytes, length, bytes.length - length)) {
                length += more;
            }
        }
        byte[] exact = java.util.Arrays.copyOf(bytes, length);
        new Definer().define(exact).getConstructor().newInstance();
        synchronized (GATE) {
            System.out.println("ready");
            for (int i = 0; i < 100; i++) {
                new Definer().define(exact).getConstructor().newInstance();
                Thread.sleep(20);
            }
        }
        System.out.println("defined");
    }
}
