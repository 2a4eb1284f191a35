import java.io.File;
import java.util.List;
import java.util.Map;
import org.eclipse.mat.snapshot.ISnapshot;
import org.eclipse.mat.snapshot.MultipleSnapshotsException;
import org.eclipse.mat.snapshot.SnapshotFactory;

/** Eclipse MAT, as the user has installed it. Each heap dump of a file is a snapshot of its own. */
final class EclipseMat extends MatWalker {
    @Override
    public Map<String, String> unsupported() {
        return Map.of("no-java-lang-class", "adds java.lang.Class and java.lang.ClassLoader where they are missing",
                "version-1.0.3", "knows Java's own versions");
    }

    @Override
    List<String> roots() {
        return List.of("ROOT_UNKNOWN", "ROOT_JNI_GLOBAL", "ROOT_MONITOR_USED", "ROOT_THREAD_OBJECT");
    }

    @Override
    public void read(File dump, Answer answer) throws Exception {
        try {
            open(dump, options(), answer);
        } catch (MultipleSnapshotsException several) {
            for (MultipleSnapshotsException.Context one : several.getRuntimes()) {
                Map<String, String> options = options();
                options.put("snapshot_identifier", one.getRuntimeId());
                open(dump, options, answer);
            }
        }
    }

    private void open(File dump, Map<String, String> options, Answer answer) throws Exception {
        ISnapshot snapshot = SnapshotFactory.openSnapshot(dump, options, noticed(answer));
        try {
            walk(snapshot, answer);
        } finally {
            SnapshotFactory.dispose(snapshot);
        }
    }
}
