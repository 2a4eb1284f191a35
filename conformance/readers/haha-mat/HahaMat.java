import java.io.File;
import java.util.List;
import java.util.Map;
import org.eclipse.mat.parser.internal.SnapshotFactory;
import org.eclipse.mat.snapshot.ISnapshot;

/** The HPROF code of Eclipse MAT as it was in 2013. HAHA has it without Eclipse around it. */
final class HahaMat extends MatWalker {
    @Override
    public Map<String, String> unsupported() {
        return Map.of("no-java-lang-class", "looks up java.lang.Class and java.lang.ClassLoader", "gzip", "opens plain files only",
                "version-1.0.3", "knows Java's own versions", "several-heap-dumps", "shows one heap dump of a file");
    }

    @Override
    List<String> roots() {
        return List.of("ROOT_UNKNOWN", "ROOT_THREAD_BLOCK", "ROOT_MONITOR_USED", "ROOT_THREAD_OBJECT");
    }

    @Override
    public void read(File dump, Answer answer) throws Exception {
        SnapshotFactory factory = new SnapshotFactory();
        ISnapshot snapshot = factory.openSnapshot(dump, options(), noticed(answer));
        try {
            walk(snapshot, answer);
        } finally {
            factory.dispose(snapshot);
        }
    }
}
