import java.util.concurrent.CountDownLatch;

/** Swarm THREADS MILLISECONDS: virtual threads that are made, run and end all the time, and meet at a monitor: of JDK 21 and later. */
public final class Swarm {
    static final Object GATE = new Object();
    static volatile Object sink;
    static int entered;

    static void meet() {
        synchronized (GATE) {
            entered++;
            if (entered % 3 == 0) {
                try {
                    GATE.wait(1);
                } catch (InterruptedException e) {
                    entered++;
                }
            }
        }
    }

    static void live(int number, CountDownLatch over) {
        sink = new int[number % 7];
        Thread.yield();
        if (number % 11 == 0) {
            meet();
        }
        over.countDown();
    }

    public static void main(String[] arguments) throws Exception {
        int count = Integer.parseInt(arguments[0]);
        long end = System.nanoTime() + Long.parseLong(arguments[1]) * 1_000_000;
        long lives = 0;
        System.out.println("ready");
        while (System.nanoTime() < end) {
            CountDownLatch over = new CountDownLatch(count);
            for (int i = 0; i < count; i++) {
                int number = i;
                Thread.ofVirtual().start(() -> live(number, over));
            }
            over.await();
            lives += count;
        }
        System.out.println("lives " + lives);
    }
}
