import java.io.File;
import java.util.List;
import java.util.Map;

/** A reader as the protocol sees it. Only what the reader itself decoded goes into the answer. */
interface Adapter {
    /** Of PROTOCOL.md 2.2, with the reason. */
    Map<String, String> unsupported();

    List<String> counts();

    List<String> digests();

    /** Whether a dangling reference is its ID, or looks like null. */
    String references();

    void read(File dump, Answer answer) throws Exception;
}
