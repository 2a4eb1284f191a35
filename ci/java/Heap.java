import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A program with a heap worth dumping: at least as many MB of dump as its argument says, and not many more. */
public final class Heap {
    static final int ENTRY = 268; // bytes of a dump that one entry makes, at the least

    static final class Node {
        final Node next;
        final String name;
        final Object payload;
        final int number;
        final boolean even;

        Node(Node next, String name, Object payload, int number) {
            this.next = next;
            this.name = name;
            this.payload = payload;
            this.number = number;
            this.even = number % 2 == 0;
        }
    }

    static final List<Map<Integer, Node>> MAPS = new ArrayList<>();

    public static void main(String[] arguments) throws Exception {
        long entries = Long.parseLong(arguments[0]) * 1_000_000 / ENTRY;
        Node last = null;
        for (int i = 0; i < entries; i++) {
            if (i % 10_000 == 0) {
                MAPS.add(new HashMap<>());
            }
            Object payload = i % 3 == 0 ? new int[i % 16] : i % 3 == 1 ? new Object[] {last, i, null} : Long.valueOf(i);
            last = new Node(last, "node " + i, payload, i);
            MAPS.get(MAPS.size() - 1).put(i, last);
        }
        System.out.println("ready");
        System.in.read();
    }
}
