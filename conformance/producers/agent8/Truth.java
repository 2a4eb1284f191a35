import java.util.concurrent.CountDownLatch;

/**
 * A program of known content, for the HPROF agent to profile. It ends by itself, or, with the argument "wait", when its
 * standard input ends, on which it takes orders. What it leaves in a dump is in truth.py.
 */
public final class Truth {
    static final int POINTS = 1000;
    static final int NODES = 500;
    static final int INTS = 300;
    static final int INTS_LENGTH = 7;
    static final int ROWS = 40;
    static final int DROPPED = 2000;
    static final int CALLS = 1234;

    static class Base {
        long inBase = 0x1122334455667788L;
    }

    static final class Point extends Base {
        int x;
        Object next;

        Point(int x, Object next) {
            this.x = x;
            this.next = next;
        }
    }

    static final class Node {
        Node left;
        Node right;
        boolean set = true;
        byte b = -2;
        char c = '\u20ac';
        short s = -300;
        float f = 1.5f;
        double d = -2.5;
    }

    static final class Dropped {
        int unused;
    }

    static final class Gate {
    }

    // No lambdas: with cpu=times the agent ends the process at the first one (Lambda.java).

    static final class Contender extends Thread {
        final CountDownLatch started;

        Contender(int number, CountDownLatch started) {
            super("truth-contender-" + number);
            this.started = started;
        }

        @Override
        public void run() {
            started.countDown();
            synchronized (GATE) {
                sink++;
            }
        }
    }

    static final class Waiter extends Thread {
        Waiter() {
            super("truth-waiter");
            setDaemon(true);
        }

        @Override
        public void run() {
            synchronized (GATE) {
                try {
                    GATE.wait();
                } catch (InterruptedException e) {
                    sink++;
                }
            }
        }
    }

    static final Gate GATE = new Gate();
    static Object points;
    static Object nodes;
    static Object rows;
    static Object ints;
    static long sink;

    static void allocatePoints() {
        Point last = null;
        for (int i = 0; i < POINTS; i++) {
            last = new Point(i, last);
        }
        points = last;
    }

    static void allocateNodes() {
        Node[] all = new Node[NODES];
        for (int i = 0; i < NODES; i++) {
            all[i] = new Node();
            if (i > 0) {
                all[(i - 1) / 2].left = i % 2 == 1 ? all[i] : all[(i - 1) / 2].left;
                all[(i - 1) / 2].right = i % 2 == 0 ? all[i] : all[(i - 1) / 2].right;
            }
        }
        nodes = all[0];
    }

    static void allocateArrays() {
        int[][] all = new int[INTS][];
        for (int i = 0; i < INTS; i++) {
            all[i] = new int[INTS_LENGTH];
        }
        ints = all;
        Node[][] table = new Node[ROWS][3]; // the trailing nulls are left out by the agent
        for (int i = 0; i < ROWS; i++) {
            table[i][1] = (Node) nodes;
        }
        rows = table;
    }

    static void drop() {
        for (int i = 0; i < DROPPED; i++) {
            sink += new Dropped().unused;
        }
    }

    static long step(long n) {
        return n * 6364136223846793005L + 1442695040888963407L;
    }

    /** Takes long enough for all calls together to take some milliseconds, below which cpu=times leaves a method out. */
    static void called() {
        long n = sink;
        for (int i = 0; i < 5000; i++) {
            n = n * 6364136223846793005L + 1442695040888963407L;
        }
        sink = n;
    }

    static void call() {
        for (int i = 0; i < CALLS; i++) {
            called();
        }
    }

    static Object callDeep(int depth) {
        return depth > 0 ? callDeep(depth - 1) : new Gate();
    }

    /** About so many milliseconds of processor time, however busy the machine is. */
    static void spin(long milliseconds) {
        long n = 1;
        for (long i = milliseconds * 1_000_000; i > 0; i--) {
            n = (n >>> 1) * 6364136223846793005L + 1442695040888963407L; // without the shift JDK 25 skips steps
        }
        sink += n;
    }

    /** One thread holds the gate while three others wait to enter it. */
    static void contend() throws InterruptedException {
        Thread[] threads = new Thread[3];
        CountDownLatch started = new CountDownLatch(threads.length);
        synchronized (GATE) {
            for (int i = 0; i < threads.length; i++) {
                threads[i] = new Contender(i, started);
                threads[i].start();
            }
            started.await();
            for (Thread thread : threads) {
                while (thread.getState() != Thread.State.BLOCKED) {
                    Thread.sleep(1);
                }
            }
            Thread.sleep(50);
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    /** A daemon that waits to be notified until the program ends. */
    static void park() throws InterruptedException {
        Thread waiter = new Waiter();
        waiter.start();
        while (waiter.getState() != Thread.State.WAITING) {
            Thread.sleep(1);
        }
    }

    public static void main(String[] arguments) throws Exception {
        sink += step(1);
        allocatePoints();
        allocateNodes();
        allocateArrays();
        drop();
        call();
        contend();
        park();
        spin(400);
        if (arguments.length > 0 && arguments[0].equals("wait")) {
            System.out.println("ready");
            System.out.flush();
            int asked;
            while ((asked = System.in.read()) >= 0) {
                if (asked == 'd') {
                    drop();
                    System.out.println("dropped");
                } else if (asked == 's') {
                    spin(300);
                    System.out.println("spun");
                } else if (asked == 'c') {
                    callDeep(10);
                    System.out.println("called");
                }
                System.out.flush();
            }
        }
    }
}
