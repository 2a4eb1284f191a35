import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Threads that allocate, contend for monitors, start other threads, load classes and let them be unloaded, until the time is over:
 * Busy THREADS MILLISECONDS. Prints how many rounds there were.
 */
public final class Busy {
    static final int COLLECTED = 100; // rounds between two collections
    static final int LEAST = COLLECTED + 1; // on a slow machine, too, classes are unloaded
    static final AtomicBoolean over = new AtomicBoolean();
    static final AtomicLong rounds = new AtomicLong();
    static final Object[] doors = {new Object(), new Object(), new Object()};
    static long entered;

    /** Loads its own copy of Passing. */
    static final class Loader extends ClassLoader {
        Loader() {
            super(null);
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            try (InputStream stream = Busy.class.getResourceAsStream("/" + name + ".class")) {
                byte[] bytes = stream.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    static void round(int number) throws Exception {
        Map<Integer, List<String>> map = new HashMap<>();
        for (int i = 0; i < 200; i++) {
            map.computeIfAbsent(i % 10, key -> new ArrayList<>()).add("entry " + i);
        }
        synchronized (doors[number % doors.length]) {
            entered++;
        }
        if (number % 20 == 0) {
            Thread thread = new Thread(() -> map.clear(), "passing-" + number);
            thread.start();
            thread.join();
        }
        if (number % 50 == 0) {
            new Loader().loadClass("Passing").getDeclaredConstructor().newInstance();
        }
        if (number % COLLECTED == 0) {
            System.gc();
        }
    }

    public static void main(String[] arguments) throws Exception {
        Thread[] threads = new Thread[Integer.parseInt(arguments[0])];
        for (int i = 0; i < threads.length; i++) {
            int first = i;
            threads[i] = new Thread(() -> {
                try {
                    for (int number = first; number < LEAST || !over.get(); number++) {
                        round(number);
                        rounds.incrementAndGet();
                    }
                } catch (Exception e) {
                    e.printStackTrace();
                    System.exit(7);
                }
            }, "busy-" + i);
            threads[i].start();
        }
        System.out.println("ready");
        System.out.flush();
        Thread.sleep(Long.parseLong(arguments[1]));
        over.set(true);
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("rounds " + rounds.get());
    }
}
