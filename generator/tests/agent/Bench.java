import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.CountDownLatch;

/**
 * Work whose time is known without the agent: Bench KIND NUMBER prints the nanoseconds that it took, and those of the processor for
 * this thread. "hold" keeps objects until standard input ends.
 */
public final class Bench {
    static Object[] kept;
    static Object sink;
    static int number;

    static void allocate(int depth, int count) {
        if (depth > 0) {
            allocate(depth - 1, count);
            return;
        }
        for (int i = 0; i < count; i++) {
            sink = new Object();
        }
    }

    static int fibonacci(int n) {
        return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
    }

    static int loop(int count) {
        int sum = 0;
        for (int i = 0; i < count; i++) {
            sum += step(i);
        }
        return sum;
    }

    static int step(int i) {
        return i * 31 ^ i >>> 3;
    }

    static final class Node {
        Object next;
        int value;
    }

    static void keep(int count) {
        kept = new Object[count / 2];
        for (int i = 0; i < kept.length; i++) {
            Node node = new Node();
            node.next = new int[2];
            kept[i] = node;
        }
    }

    /** So many threads that wait, and one that works. */
    static void threads(int count) throws InterruptedException {
        CountDownLatch started = new CountDownLatch(count), over = new CountDownLatch(1);
        for (int i = 0; i < count; i++) {
            Thread thread = new Thread(() -> {
                started.countDown();
                try {
                    over.await();
                } catch (InterruptedException e) {
                    number++;
                }
            });
            thread.setDaemon(true);
            thread.start();
        }
        started.await();
    }

    public static void main(String[] arguments) throws Exception {
        int count = Integer.parseInt(arguments[1]);
        if (arguments[0].equals("threads")) {
            threads(count);
            fibonacci(30);
        }
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long begin = System.nanoTime(), processor = threads.getCurrentThreadCpuTime();
        switch (arguments[0]) {
            case "allocate":
                allocate(4, count);
                break;
            case "fibonacci":
                number = fibonacci(count);
                break;
            case "loop":
                number = loop(count);
                break;
            case "keep":
                keep(count);
                break;
            case "hold":
                keep(count);
                System.out.println("ready");
                while (System.in.read() >= 0) {
                    number++;
                }
                break;
            case "threads":
                number = fibonacci(43);
                break;
            default:
                throw new IllegalArgumentException(arguments[0]);
        }
        processor = threads.getCurrentThreadCpuTime() - processor;
        System.out.println(System.nanoTime() - begin + " " + processor);
    }
}
