import java.util.concurrent.CountDownLatch;

/** Many threads wait to enter one monitor, and one waits to be notified: Crowd THREADS MILLISECONDS. */
public final class Crowd {
    static final class Door {
    }

    static final Door DOOR = new Door();
    static int entered;

    static final class Member extends Thread {
        final CountDownLatch started;

        Member(int number, CountDownLatch started) {
            super(null, null, "crowd-" + number, 1 << 16);
            this.started = started;
        }

        @Override
        public void run() {
            started.countDown();
            synchronized (DOOR) {
                entered++;
            }
        }
    }

    static final class Sleeper extends Thread {
        Sleeper() {
            super("crowd-sleeper");
            setDaemon(true);
        }

        @Override
        public void run() {
            synchronized (DOOR) {
                try {
                    DOOR.wait();
                } catch (InterruptedException e) {
                    entered++;
                }
            }
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        Thread[] members = new Thread[Integer.parseInt(arguments[0])];
        CountDownLatch started = new CountDownLatch(members.length);
        Thread sleeper = new Sleeper();
        sleeper.start();
        while (sleeper.getState() != Thread.State.WAITING) {
            Thread.sleep(1);
        }
        synchronized (DOOR) {
            for (int i = 0; i < members.length; i++) {
                members[i] = new Member(i, started);
                members[i].start();
            }
            started.await();
            for (Thread member : members) {
                while (member.getState() != Thread.State.BLOCKED) {
                    Thread.sleep(1);
                }
            }
            System.out.println("ready");
            Thread.sleep(Long.parseLong(arguments[1]));
        }
        for (Thread member : members) {
            member.join();
        }
    }
}
