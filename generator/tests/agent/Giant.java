/** Holds an array of more than 4 GiB. */
public class Giant {
    static final long[] values = new long[600_000_000];

    public static void main(String[] arguments) {
        values[0] = 1;
    }
}
