import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/** What the dumps of most programs have. A kind of content that most dumps do not have is a program of its own: Odd.java. */
public final class Everything implements Program.Content {
    static final int NODES = 1000;

    interface Shape {
        double area();
    }

    enum Color { RED, GREEN, BLUE }

    static class Base {
        boolean flag = true;
        char letter = '\u20ac';
        float single = 1.5f;
        double twice = -2.5;
        byte small = -7;
        short middle = -300;
        int whole = 123456789;
        long wide = 0x1122334455667788L;
        Object none;
    }

    /** The same names of fields again. */
    static final class Derived extends Base {
        long wide = -1;
        int whole = -2;
        Derived self = this;
    }

    static final class Node {
        final int number;
        Node next;

        Node(int number) {
            this.number = number;
        }
    }

    /** A virtual thread that runs an initializer has a native frame, so it stays on its carrier while it waits. */
    static final class Pinned {
        static {
            park();
        }

        static void initialize() {}
    }

    static boolean z = true;
    static char c = '\u20ac';
    static float f = Float.NaN;
    static double d = Double.NEGATIVE_INFINITY;
    static byte b = Byte.MIN_VALUE;
    static short s = Short.MAX_VALUE;
    static int i = Integer.MIN_VALUE;
    static long j = Long.MAX_VALUE;

    static final Object MONITOR = new Object();
    static Node first;

    private final int large; // bytes of an array
    private final boolean huge; // an array of more bytes than an int counts
    private boolean modern;
    private int virtualThreads;
    private String classOfVirtualThreads; // a VM that cannot unmount one, such as that of i386, has another

    Everything(String size) {
        large = size.equals("small") ? 1 << 10 : 3 << 20;
        huge = size.equals("huge");
    }

    @Override
    public void make(List<Object> kept) throws Exception {
        Node last = null;
        for (int n = NODES - 1; n >= 0; n--) {
            Node node = new Node(n);
            node.next = last;
            last = node;
        }
        first = last;
        for (int n = 0; n < 10; n++) {
            kept.add(new Derived());
            kept.add(new Base());
        }
        kept.add(new Object[][] {{"a", null}, new Color[] {Color.RED}, {}});
        kept.add(new int[][][] {{{1, 2}, {}}, {}});
        kept.add(new boolean[] {true, false});
        kept.add(new char[] {'x', '\u20ac'});
        kept.add(new float[] {0f, -0f});
        kept.add(new double[] {Double.MIN_VALUE});
        kept.add(new short[0]);
        kept.add(new long[] {1});
        kept.add(new byte[large]);
        kept.add(new Object[large / 8]);
        kept.add((Shape) () -> 1.0);
        kept.add((Shape) () -> kept.size());
        kept.add("conformance caf\u00e9");
        if (huge) {
            kept.add(new long[(1 << 28) + 1]);
        }
        modern = hasModern(kept);
        startThreads(kept);
    }

    /** What takes a class file of Java 17. */
    private static boolean hasModern(List<Object> kept) throws Exception {
        try {
            kept.add(Class.forName("Modern").getMethod("make").invoke(null));
            return true;
        } catch (UnsupportedClassVersionError olderJava) {
            return false;
        }
    }

    @Override
    public void say(Program.Facts facts) {
        if (modern) {
            facts.fact("class", "Modern$Point", 5);
            facts.fact("hidden", "Modern$Hidden", 1);
        }
        if (virtualThreads > 0) {
            facts.fact("class", classOfVirtualThreads, virtualThreads);
        }
        if (huge) {
            facts.fact("array", "[J", (1 << 28) + 1);
        }
        facts.fact("class", "Everything", 1);
        facts.fact("class", "Everything$Node", NODES);
        facts.fact("class", "Everything$Derived", 10);
        facts.fact("class", "Everything$Base", 10);
        facts.fact("class", "Everything$Color", 3);
        facts.fact("loaded", "Everything$Node", 1);
        facts.fact("text", "conformance caf\u00e9");
        facts.fact("chain", "Everything$Node", "number", "next", NODES);
        facts.fact("static", "Everything", "z", "01");
        facts.fact("static", "Everything", "c", "20ac");
        facts.fact("static", "Everything", "f", "7fc00000");
        facts.fact("static", "Everything", "d", "fff0000000000000");
        facts.fact("static", "Everything", "b", "80");
        facts.fact("static", "Everything", "s", "7fff");
        facts.fact("static", "Everything", "i", "80000000");
        facts.fact("static", "Everything", "j", "7fffffffffffffff");
        facts.fact("field", "Everything$Base", "flag", "01");
        facts.fact("field", "Everything$Base", "letter", "20ac");
        facts.fact("field", "Everything$Base", "single", "3fc00000");
        facts.fact("field", "Everything$Base", "twice", "c004000000000000");
        facts.fact("field", "Everything$Base", "small", "f9");
        facts.fact("field", "Everything$Base", "middle", "fed4");
        facts.fact("field", "Everything$Base", "whole", "075bcd15");
        facts.fact("field", "Everything$Base", "wide", "1122334455667788");
        facts.fact("field", "Everything$Derived", "wide", "ffffffffffffffff");
        facts.fact("field", "Everything$Derived", "whole", "fffffffe");
        facts.fact("elements", "[Z", "0100");
        facts.fact("elements", "[C", "007820ac");
        facts.fact("elements", "[F", "0000000080000000");
        facts.fact("elements", "[D", "0000000000000001");
        facts.fact("elements", "[I", "0000000100000002");
        facts.fact("elements", "[J", "0000000000000001");
        facts.fact("array", "[S", 0);
        facts.fact("array", "[B", large);
    }

    private static void hold(int depth, CountDownLatch ready) {
        if (depth > 0) {
            hold(depth - 1, ready);
            return;
        }
        synchronized (MONITOR) {
            ready.countDown();
            try {
                Thread.sleep(Long.MAX_VALUE);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void startThreads(List<Object> kept) throws Exception {
        CountDownLatch ready = new CountDownLatch(1);
        Thread holder = new Thread(() -> hold(200, ready), "holder");
        holder.setDaemon(true);
        holder.start();
        ready.await();
        Thread blocked = new Thread(() -> {
            synchronized (MONITOR) {
                kept.clear();
            }
        }, "blocked");
        blocked.setDaemon(true);
        blocked.start();
        for (int n = 0; n < 10; n++) {
            startVirtual(kept, Everything::park);
            startVirtual(kept, () -> hold(3, new CountDownLatch(1)));
        }
        startVirtual(kept, Pinned::initialize);
    }

    private static void park() {
        while (true) {
            LockSupport.park();
        }
    }

    private void startVirtual(List<Object> kept, Runnable body) throws Exception {
        try {
            Object started = Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, body);
            kept.add(started);
            classOfVirtualThreads = started.getClass().getName();
            virtualThreads++;
        } catch (NoSuchMethodException olderJava) {
            // none before Java 21
        }
    }

    /** Arguments: small or huge, or nothing; then the oddities of Odd.java that the dump has, too. */
    public static void main(String[] arguments) throws Exception {
        Program.Content[] contents = new Program.Content[Math.max(arguments.length, 1)];
        contents[0] = new Everything(arguments.length > 0 ? arguments[0] : "");
        for (int n = 1; n < arguments.length; n++) {
            contents[n] = Odd.called(arguments[n]);
        }
        Program.run(contents);
    }
}
