import java.io.InputStream;
import java.lang.invoke.MethodHandles;

/** What Everything holds where the JVM knows class files of Java 17: records and a hidden class. */
public final class Modern {
    record Point(int x, String name) {}

    /** Defined as a hidden class. */
    static final class Hidden {
        final int number = 17;
    }

    public static Object make() throws Exception {
        try (InputStream in = Modern.class.getResourceAsStream("/Modern$Hidden.class")) {
            Class<?> hidden = MethodHandles.lookup().defineHiddenClass(in.readAllBytes(), true).lookupClass();
            Object[] made = new Object[6];
            for (int n = 0; n < 5; n++) {
                made[n] = new Point(n, "point " + n);
            }
            made[5] = hidden.getDeclaredConstructor().newInstance();
            return made;
        }
    }
}
