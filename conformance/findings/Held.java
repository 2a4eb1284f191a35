import java.util.ArrayList;
import java.util.List;

/** A program to be dumped. It holds 20,000 nodes, prints "ready", and ends with its input. */
final class Held {
    static final class Node {
        final byte[] bytes;

        Node(int length) {
            bytes = new byte[length];
        }
    }

    static final List<Object> KEPT = new ArrayList<>();

    public static void main(String[] arguments) throws Exception {
        for (int n = 0; n < 80_000; n++) {
            Node made = new Node(n % 50);
            if (n % 4 == 0) { // the others are garbage between them
                KEPT.add(made);
            }
        }
        System.gc();
        System.out.println("ready");
        Waiting.forInput();
    }

    /** A second class on the stack. */
    static final class Waiting {
        static void forInput() throws Exception {
            while (System.in.read() >= 0) {
                continue;
            }
        }
    }
}
