import java.io.IOException;
import java.security.CodeSource;
import java.security.ProtectionDomain;
import java.security.PublicKey;
import java.security.cert.Certificate;

/** Objects of each kind of field, array and class, for a heap dump to have. */
public final class Graph {
    interface Named {
        String NAME = new String("a constant of an interface");
        int NUMBER = Integer.parseInt("7");
    }

    interface Sized extends Named {
        Object SIZE = new Object();
    }

    static class Base implements Named {
        byte b = 0x12;
        Object first = new Mark(1);
        long l = 0x123456789abcdef0L;
        static int shared = 0x5a5a5a5a;
        static Object sharedMark = new Mark(2);
    }

    static class Middle extends Base implements Sized {
        boolean z = true;
        char c = 0x20ac;
        static short own = -2;
    }

    static final class Leaf extends Middle {
        double d = -2.5;
        Object last = new Mark(3);
        float f = 1.5f;
        short s = -300;
        int i = -42;
        Object nothing;
    }

    static final class Mark {
        final int mark;

        Mark(int mark) {
            this.mark = mark;
        }
    }

    static final class Unlinked {
        static Object never = new Object();
    }

    /** Defines a class that somebody signed. */
    static final class Signer extends ClassLoader {
        Class<?> define() throws IOException {
            Certificate certificate = new Certificate("none") {
                @Override
                public byte[] getEncoded() {
                    return new byte[0];
                }

                @Override
                public void verify(PublicKey key) {
                }

                @Override
                public void verify(PublicKey key, String provider) {
                }

                @Override
                public String toString() {
                    return "";
                }

                @Override
                public PublicKey getPublicKey() {
                    return null;
                }
            };
            byte[] bytes = Graph.class.getResourceAsStream("Signed.class").readAllBytes();
            CodeSource source = new CodeSource(null, new Certificate[] {certificate});
            return defineClass("Signed", bytes, 0, bytes.length, new ProtectionDomain(source, null));
        }
    }

    static Object initialised = new Object[] {Named.NAME, Sized.SIZE}; // interfaces are not, by classes that implement them
    static Leaf leaf = new Leaf();
    static Object[] trailing = {new Mark(4), null, new Mark(5), null, null};
    static Object[] empty = {};
    static Mark[] marks = {};
    static Object[][] nested = {{new Mark(6)}, null, {}};
    static boolean[] booleans = {true, false, true};
    static char[] chars = {'a', 0x20ac};
    static float[] floats = {1.5f, -0.0f};
    static double[] doubles = {-2.5};
    static byte[] bytes = {1, -1};
    static short[] shorts = {-300, 7};
    static int[] ints = {1, -42, Integer.MIN_VALUE};
    static long[] longs = {0x123456789abcdef0L};
    static long[] none = {};
    static Class<?>[] classes = {int.class, void.class, String.class, Leaf.class, int[].class, Named.class};

    static Class<?> unlinked;
    static Class<?> signed;

    public static void main(String[] arguments) throws ClassNotFoundException, IOException {
        signed = new Signer().define();
        signed.getDeclaredFields(); // links it
        unlinked = Class.forName("Graph$Unlinked", false, Graph.class.getClassLoader());
        Object local = new Mark(7);
        System.gc();
        Runtime.getRuntime().halt(local == null ? 1 : 0);
    }
}

final class Signed {
}
