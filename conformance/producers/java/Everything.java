import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * A program whose heap holds one of everything, and that prints what it holds. Facts go to standard output, a line each, then
 * "ready". Commands come from standard input: "dump FILE", "collect", "fill"; the end of the input ends the program.
 */
public final class Everything {
    static final int NODES = 1000;
    static int large = 3 << 20;

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

    /** Names beyond ASCII, one of them beyond 16 bits. */
    static final class N\u00e4me\u20ac {
        static int z\u00e4hler = 42;
        static int \ud840\udc00 = 7;
        String \u00fcber = "\u00fcber";
    }

    /** Only a loader of its own loads it, and both go. */
    static final class Gone {
    }

    /** A virtual thread that runs an initializer has a native frame, so it stays on its carrier while it waits. */
    static final class Pinned {
        static {
            park();
        }

        static void initialize() {}
    }

    static boolean z = true;
    static char c = '\ud83d';
    static float f = Float.NaN;
    static double d = Double.NEGATIVE_INFINITY;
    static byte b = Byte.MIN_VALUE;
    static short s = Short.MAX_VALUE;
    static int i = Integer.MIN_VALUE;
    static long j = Long.MAX_VALUE;

    static final List<Object> KEPT = new ArrayList<>();
    static final Object MONITOR = new Object();
    static Node first;
    static int virtualThreads;
    static WeakReference<Class<?>> gone;

    static final class Loader extends ClassLoader {
        Class<?> define(String name) throws IOException {
            try (InputStream in = Everything.class.getResourceAsStream("/" + name + ".class")) {
                byte[] bytes = new byte[1 << 16];
                int length = 0;
                for (int read = in.read(bytes); read > 0; read = in.read(bytes, length, bytes.length - length)) {
                    length += read;
                }
                return defineClass(name, bytes, 0, length);
            }
        }
    }

    private static void makeHeap() throws Exception {
        Node last = null;
        for (int n = NODES - 1; n >= 0; n--) {
            Node node = new Node(n);
            node.next = last;
            last = node;
        }
        first = last;
        for (int n = 0; n < 10; n++) {
            KEPT.add(new Derived());
            KEPT.add(new Base());
        }
        KEPT.add(new N\u00e4me\u20ac());
        KEPT.add(new Object[][] {{"a", null}, new Color[] {Color.RED}, {}});
        KEPT.add(new int[][][] {{{1, 2}, {}}, {}});
        KEPT.add(new boolean[] {true, false});
        KEPT.add(new char[] {'x', '\ud800'});
        KEPT.add(new float[] {0f, -0f});
        KEPT.add(new double[] {Double.MIN_VALUE});
        KEPT.add(new short[0]);
        KEPT.add(new long[] {1});
        KEPT.add(new byte[large]);
        KEPT.add(new Object[large / 8]);
        KEPT.add((Shape) () -> 1.0);
        KEPT.add((Shape) () -> KEPT.size());
        KEPT.add("conformance caf\u00e9");
        KEPT.add("conformance \u6f22\u5b57 \ud83d\ude00");
        KEPT.add(new Loader().define("Everything$Node"));
        KEPT.add(new Loader().define("Everything$Node"));
        gone = new WeakReference<>(new Loader().define("Everything$Gone"));
    }

    /** What takes a class file of Java 17. */
    private static boolean hasModern() throws Exception {
        try {
            KEPT.add(Class.forName("Modern").getMethod("make").invoke(null));
            return true;
        } catch (UnsupportedClassVersionError olderJava) {
            return false;
        }
    }

    private static void say(PrintStream out) throws Exception {
        if (hasModern()) {
            out.println("class\tModern$Point\t5");
        }
        if (virtualThreads > 0) {
            out.println("class\tjava.lang.VirtualThread\t" + virtualThreads);
        }
        out.println("class\tEverything$Node\t" + NODES);
        out.println("class\tEverything$Derived\t10");
        out.println("class\tEverything$Base\t10");
        out.println("class\tEverything$N\u00e4me\u20ac\t1");
        out.println("class\tEverything$Color\t3");
        out.println("loaded\tEverything$Node\t3");
        if (gone.get() == null) { // not every collector unloads classes
            out.println("loaded\tEverything$Gone\t0");
        }
        out.println("text\tconformance caf\u00e9");
        out.println("text\tconformance \u6f22\u5b57 \ud83d\ude00");
        out.println("chain\tEverything$Node\tnumber\tnext\t" + NODES);
        out.println("static\tEverything\tz\t01");
        out.println("static\tEverything\tc\td83d");
        out.println("static\tEverything\tf\t7fc00000");
        out.println("static\tEverything\td\tfff0000000000000");
        out.println("static\tEverything\tb\t80");
        out.println("static\tEverything\ts\t7fff");
        out.println("static\tEverything\ti\t80000000");
        out.println("static\tEverything\tj\t7fffffffffffffff");
        out.println("static\tEverything$N\u00e4me\u20ac\tz\u00e4hler\t0000002a");
        out.println("static\tEverything$N\u00e4me\u20ac\t\ud840\udc00\t00000007");
        out.println("ready");
        out.flush();
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

    private static void startThreads() throws Exception {
        CountDownLatch ready = new CountDownLatch(1);
        Thread holder = new Thread(() -> hold(200, ready), "holder");
        holder.setDaemon(true);
        holder.start();
        ready.await();
        Thread blocked = new Thread(() -> {
            synchronized (MONITOR) {
                KEPT.clear();
            }
        }, "blocked");
        blocked.setDaemon(true);
        blocked.start();
        for (int n = 0; n < 10; n++) {
            startVirtual(Everything::park);
            startVirtual(() -> hold(3, new CountDownLatch(1)));
        }
        startVirtual(Pinned::initialize);
    }

    private static void park() {
        while (true) {
            LockSupport.park();
        }
    }

    private static void startVirtual(Runnable body) throws Exception {
        try {
            KEPT.add(Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, body));
            virtualThreads++;
        } catch (NoSuchMethodException olderJava) {
            // none before Java 21
        }
    }

    private static void fill() {
        List<byte[]> all = new ArrayList<>();
        try {
            while (true) {
                all.add(new byte[1 << 20]);
            }
        } catch (OutOfMemoryError expected) {
            all.clear();
        }
    }

    private static void dump(String file) throws Exception {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        server.invoke(new ObjectName("com.sun.management:type=HotSpotDiagnostic"), "dumpHeap",
                new Object[] {file, true}, new String[] {"java.lang.String", "boolean"});
    }

    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(System.out, true, "UTF-8");
        String size = arguments.length > 0 ? arguments[0] : "";
        if (size.equals("small")) {
            large = 1 << 10;
        }
        makeHeap();
        if (size.equals("huge")) { // more bytes than an int counts
            long[] huge = new long[(1 << 28) + 1];
            KEPT.add(huge);
            out.println("array\t[J\t" + huge.length);
        }
        startThreads();
        System.gc(); // Gone goes
        say(out);
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            if (line.equals("fill")) {
                fill();
            } else if (line.equals("collect")) {
                System.gc();
            } else {
                dump(line.substring("dump ".length()));
            }
            out.println("done");
        }
    }
}
