import java.io.IOException;

/** Threads in each state, until standard input ends: main owns a monitor twice. */
public final class Held {
    static final class Lock {
    }

    interface Work {
        void run() throws InterruptedException;
    }

    static final Lock LOCK = new Lock();
    static int sink;

    static void start(String name, Work work, Thread.State state) throws InterruptedException {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (InterruptedException e) {
                sink++;
            }
        }, name);
        thread.setDaemon(true);
        thread.start();
        while (thread.getState() != state) {
            Thread.sleep(1);
        }
    }

    static void await(long milliseconds) throws InterruptedException {
        synchronized (LOCK) {
            LOCK.wait(milliseconds);
        }
    }

    static void enter() {
        synchronized (LOCK) {
            sink++;
        }
    }

    public static void main(String[] arguments) throws InterruptedException, IOException {
        await(300);
        start("held-waiter", () -> await(0), Thread.State.WAITING);
        start("held-sleeper", () -> Thread.sleep(1L << 40), Thread.State.TIMED_WAITING);
        synchronized (LOCK) {
            synchronized (LOCK) {
                start("held-enterer", Held::enter, Thread.State.BLOCKED);
                Thread.currentThread().interrupt();
                System.out.println("ready");
                while (System.in.read() >= 0) {
                    sink++;
                }
            }
        }
    }
}
