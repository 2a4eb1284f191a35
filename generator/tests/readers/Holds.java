import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** A program with as many classes, threads of 40 objects on the stack each, and MB of arrays as its arguments say. */
public class Holds {
    static final List<Object> HELD = new ArrayList<>();

    static final class Part {
        int number;
        Object next;
    }

    /** Defines Part once more. */
    static final class Loader extends ClassLoader {
        private final byte[] part;

        Loader(byte[] part) {
            super(null);
            this.part = part;
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            return name.equals("Holds$Part") ? defineClass(name, part, 0, part.length) : getSystemClassLoader().loadClass(name);
        }
    }

    static void wait(int depth, Object one, Object other) {
        Object mine = new Object();
        if (depth > 0) {
            wait(depth - 1, mine, one);
        }
        synchronized (HELD) { // the main thread has it
            HELD.add(List.of(mine, other));
        }
    }

    public static void main(String[] arguments) throws ClassNotFoundException, IOException {
        byte[] part = Holds.class.getResourceAsStream("Holds$Part.class").readAllBytes();
        for (int i = 0; i < Integer.parseInt(arguments[0]); i++) {
            HELD.add(new Loader(part).loadClass("Holds$Part"));
        }
        for (int i = 0; i < Integer.parseInt(arguments[2]); i++) {
            HELD.add(new byte[1_000_000]);
        }
        synchronized (HELD) {
            for (int i = 0; i < Integer.parseInt(arguments[1]); i++) {
                Thread thread = new Thread(() -> wait(20, HELD, HELD));
                thread.setDaemon(true);
                thread.start();
            }
            System.out.println("ready");
            System.in.read();
        }
    }
}
