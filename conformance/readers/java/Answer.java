import java.math.BigInteger;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a reader found in a dump: counts, digests, and what it noticed on the way. */
final class Answer {
    /** An entry of a digest: how many items, and the sum of their hashes. */
    static final class Entry {
        long count;
        private BigInteger sum = BigInteger.ZERO;

        Map<String, Object> toJson() {
            Map<String, Object> json = new LinkedHashMap<>();
            json.put("count", count);
            json.put("sum", String.format("%032x", sum.mod(BigInteger.ONE.shiftLeft(128))));
            return json;
        }
    }

    final Map<String, Long> counts = new LinkedHashMap<>();
    final Map<String, Entry> digests = new LinkedHashMap<>();
    final List<String> notices = new ArrayList<>();
    /** Entries whose calls failed, with the first error of each. */
    final Map<String, Throwable> failed = new LinkedHashMap<>();
    private final MessageDigest hash;

    Answer(Iterable<String> entries) {
        try {
            hash = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException impossible) {
            throw new AssertionError(impossible);
        }
        for (String entry : entries) {
            digests.put(entry, new Entry());
        }
    }

    void count(String what, long number) {
        counts.put(what, number);
    }

    /** What one call of the reader gives; null for no item. */
    interface Call {
        Item item() throws Exception;
    }

    /** Calls of the reader for one entry. */
    interface Calls {
        void make() throws Exception;
    }

    /** Makes calls for an entry. One that fails fails the entry, and no other. */
    void attempt(String entry, Calls calls) {
        if (failed.containsKey(entry)) {
            return; // the entry is not given, so the rest of it is not asked for
        }
        try {
            calls.make();
        } catch (OutOfMemoryError error) {
            throw error;
        } catch (Throwable error) {
            failed.put(entry, error);
        }
    }

    /** Adds what a call gives. */
    void add(String entry, Call call) {
        attempt(entry, () -> {
            Item item = call.item();
            if (item != null) {
                add(entry, item);
            }
        });
    }

    void add(String entry, Item item) {
        Entry one = digests.get(entry);
        one.count++;
        one.sum = one.sum.add(new BigInteger(1, Arrays.copyOf(hash.digest(item.encoded()), 16)));
    }
}
