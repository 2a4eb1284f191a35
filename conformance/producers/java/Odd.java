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
        }

        @Override
        public void make(List<Object> kept) {
            kept.add(new N\u00e4me\u20ac());
        }

        @Override
        public void say(Program.Facts facts) {
            facts.fact("class", "Odd$Names$N\u00e4me\u20ac", 1);
            facts.fact("static", "Odd$Names$N\u00e4me\u20ac", "z\u00e4hler", "0000002a");
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
