/**
 * Three methods that take six, three and one tenth of the processor time: by the same code, whether it is compiled yet or not, and in
 * turns, so that other work on the machine slows all of them down.
 */
public final class Shares {
    static final long TENTH = 800_000L;
    static final int TURNS = 150;
    static long sink;

    static void work(long tenths) {
        long n = 1;
        for (long i = tenths * TENTH; i > 0; i--) {
            n = n * 6364136223846793005L + 1442695040888963407L;
        }
        sink += n;
    }

    static void most() {
        work(6);
    }

    static void some() {
        work(3);
    }

    static void few() {
        work(1);
    }

    public static void main(String[] arguments) {
        for (int i = 0; i < TURNS; i++) {
            most();
            some();
            few();
        }
    }
}
