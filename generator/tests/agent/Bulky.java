/** Small objects, and between them arrays that often do not fit into the rest of the buffer from which the thread allocates. */
public final class Bulky {
    static Object kept;

    static final class Small {
        long value;
    }

    static void allocate(int count, int size) {
        for (int i = 0; i < count; i++) {
            kept = new Small();
            if (i % 100 == 0) {
                kept = new long[size + i % 1000];
            }
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        for (int size = 1000; size < 200000; size *= 4) {
            allocate(50000, size);
        }
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {
            int size = 1000 * (i + 1);
            threads[i] = new Thread(() -> allocate(50000, size));
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }
}
