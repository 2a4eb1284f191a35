import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/**
 * Two virtual threads that spin, and two that contend for a monitor: of JDK 21 and later. "Virtual hold": a virtual thread owns a
 * monitor, which a thread of the platform waits to enter. "Virtual await": one waits to be notified, another to enter a monitor.
 * "Virtual turns": two take turns, and then main works as long as both. "Virtual spin": one spins until a byte comes from standard input, then another until it ends.
 */
public final class Virtual {
    static final class Gate {
    }

    static final class Bell {
    }

    static final Gate GATE = new Gate();
    static final Bell BELL = new Bell();
    static long sink;
    static volatile int read = 1;

    static long spin(long milliseconds) {
        long n = 1;
        long end = System.nanoTime() + milliseconds * 1_000_000;
        while (System.nanoTime() < end) {
            n = n * 6364136223846793005L + 1442695040888963407L;
        }
        return n;
    }

    static void enter(CountDownLatch entered) {
        synchronized (GATE) {
            entered.countDown();
            sink += spin(100);
        }
    }

    static void hold() throws InterruptedException {
        CountDownLatch held = new CountDownLatch(1);
        Thread.ofVirtual().start(() -> {
            synchronized (GATE) {
                held.countDown();
                LockSupport.parkNanos(2_000_000_000L);
            }
        });
        held.await();
        Thread waiter = new Thread(() -> enter(held), "waiter");
        waiter.start();
        while (waiter.getState() != Thread.State.BLOCKED) {
            Thread.sleep(1);
        }
        System.out.println("ready");
        waiter.join();
    }

    static void waitForBell() {
        synchronized (BELL) {
            try {
                BELL.wait();
            } catch (InterruptedException e) {
                sink++;
            }
        }
    }

    static void await(Thread thread, Thread.State state) throws InterruptedException {
        while (thread.getState() != state) {
            Thread.sleep(1);
        }
    }

    static void enterAndPark() {
        enter(new CountDownLatch(1));
        while (true) {
            LockSupport.park();
        }
    }

    static void await() throws InterruptedException {
        await(Thread.ofVirtual().start(Virtual::waitForBell), Thread.State.WAITING);
        Thread thread;
        synchronized (GATE) {
            thread = Thread.ofVirtual().start(Virtual::enterAndPark);
            await(thread, Thread.State.BLOCKED);
            System.out.println("ready");
            Thread.sleep(1500);
        }
        await(thread, Thread.State.WAITING);
    }

    static void spinUntilFirst() {
        while (read == 1) {
            sink++;
        }
    }

    static void spinUntilSecond() {
        while (read == 2) {
            sink++;
        }
    }

    static void spinAndRead() throws Exception {
        Thread thread = Thread.ofVirtual().start(Virtual::spinUntilFirst);
        System.out.println("ready");
        System.in.read();
        read = 2;
        thread.join();
        thread = Thread.ofVirtual().start(Virtual::spinUntilSecond);
        System.out.println("next");
        System.in.read();
        read = 3;
        thread.join();
    }

    static void work(int turns) {
        for (int i = 0; i < turns * 200_000; i++) {
            sink += i;
        }
    }

    static void turn(int left) {
        work(1);
        Thread.yield();
        if (left > 0) {
            turn(left - 1);
        }
    }

    static void first() {
        turn(9);
    }

    static void second() {
        turn(9);
    }

    static void alone() {
        work(20);
    }

    static void takeTurns() throws InterruptedException {
        Thread one = Thread.ofVirtual().unstarted(Virtual::first);
        Thread other = Thread.ofVirtual().unstarted(Virtual::second);
        one.start();
        other.start();
        one.join();
        other.join();
        alone();
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments.length > 0) {
            switch (arguments[0]) {
                case "hold" -> hold();
                case "await" -> await();
                case "spin" -> spinAndRead();
                default -> takeTurns();
            }
            return;
        }
        Thread[] threads = new Thread[2];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = Thread.ofVirtual().start(() -> sink += spin(700));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        CountDownLatch entered = new CountDownLatch(1);
        Thread first = Thread.ofVirtual().start(() -> enter(entered));
        entered.await();
        Thread second = Thread.ofVirtual().start(() -> enter(entered));
        first.join();
        second.join();
    }
}
