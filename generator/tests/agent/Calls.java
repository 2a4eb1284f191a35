/** Calls that are known to the unit, also through exceptions and recursion. */
public final class Calls {
    static int sink;

    static void leaf() {
        sink++;
    }

    static void thrower(int i) {
        leaf();
        if (i % 2 == 0) {
            throw new IllegalStateException();
        }
    }

    static void catcher(int i) {
        try {
            thrower(i);
        } catch (IllegalStateException e) {
            leaf();
        }
    }

    static int fibonacci(int n) {
        return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
    }

    static void hot() {
        for (int i = 0; i < 3_000_000; i++) {
            sink += i * 31;
        }
    }

    static void cold() {
        for (int i = 0; i < 300_000; i++) {
            sink += i * 31;
        }
    }

    /** The time before a call is not that of the call. */
    static void caller() {
        for (int i = 0; i < 1_500_000; i++) {
            sink += i * 31;
        }
        leaf();
    }

    public static void main(String[] arguments) throws InterruptedException {
        for (int i = 0; i < 100; i++) {
            catcher(i);
        }
        fibonacci(15);
        Thread thread = new Thread(Calls::hot);
        thread.start();
        thread.join();
        cold();
        caller();
        Runtime.getRuntime().exit(0);
    }
}
