import java.lang.ref.WeakReference;
import java.util.List;

/** Content that few dumps have, each kind a program of its own: what a reader makes of it hides nothing else. */
public final class Odd {
    private Odd() {}

    /** A name with a character beyond U+FFFF, which is a surrogate pair of six bytes in the dump. */
    static final class Supplementary implements Program.Content {
        static int \ud840\udc00 = 7;

        @Override
        public void make(List<Object> kept) {}

        @Override
        public void say(Program.Facts facts) {
            facts.fact("static", "Odd$Supplementary", "\ud840\udc00", "00000007");
        }
    }

    /** Names beyond ASCII, and no character beyond U+FFFF. */
    static final class Names implements Program.Content {
        static final class N\u00e4me\u20ac {
            static int z\u00e4hler = 42;
            String \u00fcber = "\u00fcber";
            int \u8a9e = 0x8a9e;
        }

        @Override
        public void make(List<Object> kept) {
            kept.add(new N\u00e4me\u20ac());
        }

        @Override
        public void say(Program.Facts facts) {
            facts.fact("class", "Odd$Names$N\u00e4me\u20ac", 1);
            facts.fact("static", "Odd$Names$N\u00e4me\u20ac", "z\u00e4hler", "0000002a");
            facts.fact("field", "Odd$Names$N\u00e4me\u20ac", "\u8a9e", "00008a9e");
            facts.fact("text", "\u00fcber");
        }
    }

    /** Halves of surrogate pairs as values of type char. Java allows each. */
    static final class Surrogates implements Program.Content {
        static char half = '\ud83d';
        char other = '\ude00';

        @Override
        public void make(List<Object> kept) {
            kept.add(this);
            kept.add(new char[] {'x', '\ud800'});
            kept.add(new String(new int[] {'e', 0x1f600}, 0, 2)); // no literal, which would be a name in the dump
        }

        @Override
        public void say(Program.Facts facts) {
            facts.fact("static", "Odd$Surrogates", "half", "d83d");
            facts.fact("field", "Odd$Surrogates", "other", "de00");
            facts.fact("elements", "[C", "0078d800");
        }
    }

    /** NaN with other bits than those of Float.NaN and Double.NaN. */
    static final class NaN implements Program.Content {
        static float single = Float.intBitsToFloat(0x7fc00001);
        static double twice = Double.longBitsToDouble(0x7ff8000000000001L);
        float negative = Float.intBitsToFloat(0xffc00000);
        double other = Double.longBitsToDouble(0xfff8000000000007L);

        @Override
        public void make(List<Object> kept) {
            kept.add(this);
            kept.add(new float[] {single, 2.5f});
            kept.add(new double[] {twice, 2.5});
        }

        @Override
        public void say(Program.Facts facts) {
            facts.fact("static", "Odd$NaN", "single", "7fc00001");
            facts.fact("static", "Odd$NaN", "twice", "7ff8000000000001");
            facts.fact("field", "Odd$NaN", "negative", "ffc00000");
            facts.fact("field", "Odd$NaN", "other", "fff8000000000007");
            facts.fact("elements", "[F", "7fc0000140200000");
            facts.fact("elements", "[D", "7ff80000000000014004000000000000");
        }
    }

    /** Values of each type with many bits and both signs: what a reader drops of such a value is seen. */
    static final class Extremes implements Program.Content {
        static byte octet = -100;
        static short small = -30000;
        static int number = -2000000000;
        static long wide = -8000000000000000001L;
        static float single = -1.5e38f;
        static double twice = -1.5e308;
        static char letter = '\uab12';
        static boolean truth = true;
        static float noSingle = -0f; // equal to 0
        static double noTwice = -0.0;
        byte ownOctet = -128;
        short ownSmall = -32768;
        int ownNumber = Integer.MIN_VALUE;
        long ownWide = Long.MIN_VALUE;
        float ownSingle = Float.NEGATIVE_INFINITY;
        double ownTwice = Double.NEGATIVE_INFINITY;
        char ownLetter = '\ufedc';
        boolean ownTruth = true;
        float ownNoSingle = -0f;
        double ownNoTwice = -0.0;

        @Override
        public void make(List<Object> kept) {
            kept.add(this);
            kept.add(new byte[] {-128, -1, 127, 85});
            kept.add(new short[] {-32768, -2, 32767, 0x5ac3});
            kept.add(new int[] {Integer.MIN_VALUE, -3, Integer.MAX_VALUE, 0x5ac3e178});
            kept.add(new long[] {Long.MIN_VALUE, -4, Long.MAX_VALUE, 0x5ac3e1780f2d4b96L});
            kept.add(new float[] {-1.5e38f, Float.MAX_VALUE, -Float.MIN_VALUE, Float.NEGATIVE_INFINITY, -0f});
            kept.add(new double[] {-1.5e308, Double.MAX_VALUE, -Double.MIN_VALUE, Double.NEGATIVE_INFINITY, -0.0});
            kept.add(new char[] {'\uffff', '\u8001', 'x', '\u0000'});
            kept.add(new boolean[] {true, true, false, true});
        }

        @Override
        public void say(Program.Facts facts) {
            facts.fact("static", "Odd$Extremes", "octet", "9c");
            facts.fact("static", "Odd$Extremes", "small", "8ad0");
            facts.fact("static", "Odd$Extremes", "number", hex(number));
            facts.fact("static", "Odd$Extremes", "wide", hex(wide));
            facts.fact("static", "Odd$Extremes", "single", hex(Float.floatToIntBits(single)));
            facts.fact("static", "Odd$Extremes", "twice", hex(Double.doubleToLongBits(twice)));
            facts.fact("static", "Odd$Extremes", "letter", "ab12");
            facts.fact("static", "Odd$Extremes", "truth", "01");
            facts.fact("static", "Odd$Extremes", "noSingle", "80000000");
            facts.fact("static", "Odd$Extremes", "noTwice", "8000000000000000");
            facts.fact("field", "Odd$Extremes", "ownOctet", "80");
            facts.fact("field", "Odd$Extremes", "ownSmall", "8000");
            facts.fact("field", "Odd$Extremes", "ownNumber", "80000000");
            facts.fact("field", "Odd$Extremes", "ownWide", "8000000000000000");
            facts.fact("field", "Odd$Extremes", "ownSingle", "ff800000");
            facts.fact("field", "Odd$Extremes", "ownTwice", "fff0000000000000");
            facts.fact("field", "Odd$Extremes", "ownLetter", "fedc");
            facts.fact("field", "Odd$Extremes", "ownTruth", "01");
            facts.fact("field", "Odd$Extremes", "ownNoSingle", "80000000");
            facts.fact("field", "Odd$Extremes", "ownNoTwice", "8000000000000000");
            facts.fact("elements", "[B", "80ff7f55");
            facts.fact("elements", "[S", "8000fffe7fff5ac3");
            facts.fact("elements", "[I", "80000000fffffffd7fffffff5ac3e178");
            facts.fact("elements", "[J", "8000000000000000fffffffffffffffc7fffffffffffffff5ac3e1780f2d4b96");
            facts.fact("elements", "[F", hex(Float.floatToIntBits(single)) + "7f7fffff80000001ff80000080000000");
            facts.fact("elements", "[D", hex(Double.doubleToLongBits(twice)) + "7fefffffffffffff8000000000000001fff00000000000008000000000000000");
            facts.fact("elements", "[C", "ffff800100780000");
            facts.fact("elements", "[Z", "01010001");
        }

        private static String hex(int value) {
            return hex((long) value).substring(8);
        }

        private static String hex(long value) {
            return String.format("%016x", value);
        }
    }

    /** One name from three loaders, and a class that is unloaded with its loader. */
    static final class Loaders implements Program.Content {
        static final class Twin {
        }

        static final class Gone {
        }

        private WeakReference<Class<?>> gone;

        @Override
        public void make(List<Object> kept) throws Exception {
            kept.add(new Twin());
            for (int n = 0; n < 2; n++) {
                java.lang.reflect.Constructor<?> twin = new Program.Loader().define("Odd$Loaders$Twin").getDeclaredConstructor();
                twin.setAccessible(true);
                kept.add(twin.newInstance());
            }
            gone = new WeakReference<>(new Program.Loader().define("Odd$Loaders$Gone"));
        }

        @Override
        public void say(Program.Facts facts) {
            facts.fact("loaded", "Odd$Loaders$Twin", 3);
            facts.fact("class", "Odd$Loaders$Twin", 3);
            if (gone.get() == null) { // not every collector unloads classes
                facts.fact("loaded", "Odd$Loaders$Gone", 0);
            }
        }
    }

    /** Found by its name, so that a dump has no other kind's names. */
    static Program.Content called(String kind) throws Exception {
        return (Program.Content) Class.forName("Odd$" + kind).getDeclaredConstructor().newInstance();
    }

    /** The argument names the kind. */
    public static void main(String[] arguments) throws Exception {
        Program.run(called(arguments[0]));
    }
}
