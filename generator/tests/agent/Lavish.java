import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.lang.reflect.Array;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Takes all descriptors that a process may have; or starts 2000 threads, one after the other, and waits for input; or starts
 * 10,000 from 50 threads at a time; or allocates, each time with another stack, until there is input; or allocates arrays of
 * many types and sizes in four threads; or fills the heap, and ends so, or waits for input; or reads its input in 300 threads,
 * which run as the VM sees it.
 */
public final class Lavish {
    static final List<FileInputStream> opened = new ArrayList<>();
    static int ended;
    static Object[] kept = new Object[1000];

    static void takeDescriptors() {
        try {
            while (true) {
                opened.add(new FileInputStream("/dev/null"));
            }
        } catch (IOException e) {
            System.out.println(e.getMessage());
        }
    }

    static void startThreads() throws IOException, InterruptedException {
        for (int i = 0; i < 2000; i++) {
            Thread thread = new Thread(() -> ended++);
            thread.start();
            thread.join();
        }
        System.out.println("ready");
        while (System.in.read() >= 0) {
            ended++;
        }
    }

    static void startAndJoin(int count, String name, Runnable work) {
        try {
            Thread[] threads = new Thread[count];
            for (int i = 0; i < count; i++) {
                threads[i] = new Thread(null, work, name + "-" + i, 1 << 16);
                threads[i].start();
            }
            for (Thread thread : threads) {
                thread.join();
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void startMany() {
        for (int i = 0; i < 10; i++) {
            startAndJoin(50, "many-" + i, () -> {
                for (int k = 0; k < 20; k++) {
                    startAndJoin(1, Thread.currentThread().getName() + "-" + k, () -> ended++);
                }
            });
        }
    }

    static Object even(int path) {
        return path < 2 ? new Object() : path % 2 == 0 ? even(path / 2) : odd(path / 2);
    }

    static Object odd(int path) {
        return path < 2 ? new Object() : path % 2 == 0 ? even(path / 2) : odd(path / 2);
    }

    static void startTraces() throws IOException {
        Thread thread = new Thread(() -> {
            for (int i = 0; i < 1 << 20; i++) {
                kept[i % kept.length] = even(1 << 20 | i);
                if (i % 10 == 0) {
                    LockSupport.parkNanos(1_000_000);
                }
            }
        });
        thread.setDaemon(true);
        thread.start();
        System.out.println("ready");
        while (System.in.read() >= 0) {
            ended++;
        }
    }

    /** Of 64 types, and of 500 sizes each. */
    static void allocateSizes(Class<?>[] types, int first) {
        for (int i = first; i < first + 32000; i++) {
            kept[0] = Array.newInstance(types[i % 64], i / 64 % 500 * 2);
        }
    }

    static void startSizes() {
        Class<?>[] types = new Class<?>[64];
        types[0] = int[].class;
        for (int i = 1; i < 64; i++) {
            types[i] = Array.newInstance(types[i - 1], 0).getClass();
        }
        startAndJoin(4, "sizes", () -> allocateSizes(types, 8000 * (Thread.currentThread().getName().charAt(6) - '0')));
    }

    static void fillHeap() {
        Object last = null;
        for (int size = 1 << 18; size > 0; size /= 2) {
            try {
                while (true) {
                    Object[] more = new Object[size];
                    more[0] = last;
                    last = more;
                    kept[0] = last;
                }
            } catch (OutOfMemoryError e) {
                ended++;
            }
        }
    }

    static void waitWithFullHeap() throws IOException {
        FileInputStream input = new FileInputStream(FileDescriptor.in);
        System.out.println("ready");
        fillHeap();
        input.read();
        kept = null;
    }

    static void read() {
        try {
            new FileInputStream(FileDescriptor.in).read();
        } catch (IOException e) {
            ended++;
        }
    }

    public static void main(String[] arguments) throws IOException, InterruptedException {
        if (arguments[0].equals("threads")) {
            startThreads();
        } else if (arguments[0].equals("traces")) {
            startTraces();
        } else if (arguments[0].equals("sizes")) {
            startSizes();
        } else if (arguments[0].equals("many")) {
            startMany();
        } else if (arguments[0].equals("memory")) {
            fillHeap();
            throw new IllegalStateException();
        } else if (arguments[0].equals("full")) {
            waitWithFullHeap();
        } else if (arguments[0].equals("read")) {
            System.out.println("ready");
            startAndJoin(300, "read", Lavish::read);
        } else {
            takeDescriptors();
        }
    }
}
