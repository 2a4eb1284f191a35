import java.io.File;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.openjdk.jol.heap.HeapDumpReader;

/** OpenJDK's JOL. It gives the bytes of instances and of primitive arrays, and of all else their number. */
final class Jol implements Adapter {
    private static final List<String> TYPES =
            List.of("", "", "Object", "", "boolean", "char", "float", "double", "byte", "short", "int", "long");

    @Override
    public Map<String, String> unsupported() {
        return Map.of();
    }

    @Override
    public List<String> counts() {
        return List.of("classes", "instances", "primitive_arrays", "objects");
    }

    @Override
    public List<String> digests() {
        return List.of("instance_bytes", "primitive_arrays");
    }

    @Override
    public String references() {
        return "exact";
    }

    @Override
    public void read(File dump, Answer answer) throws Exception {
        Reading reading = new Reading(dump, answer);
        long objects = reading.parse().size();
        answer.count("classes", reading.classes);
        answer.count("instances", reading.instances);
        answer.count("primitive_arrays", reading.primitiveArrays);
        answer.count("objects", objects);
    }

    private static final class Reading extends HeapDumpReader {
        private final Answer answer;
        private long classes;
        private long instances;
        private long primitiveArrays;

        Reading(File dump, Answer answer) throws IOException {
            super(dump);
            this.answer = answer;
        }

        @Override
        protected void visitClass(long id, String name, List<Integer> references, int idSize) {
            classes++;
        }

        @Override
        protected void visitInstance(long id, long classId, byte[] bytes) {
            instances++;
            answer.add("instance_bytes", new Item("instance bytes").number(id).number(classId).part(bytes));
        }

        @Override
        protected void visitPrimArray(long id, String type, int length, byte[] bytes) {
            primitiveArrays++;
            int code = TYPES.indexOf(type);
            byte[] elements = bytes.clone();
            if (code == 4) {
                for (int i = 0; i < elements.length; i++) {
                    elements[i] = (byte) (elements[i] == 0 ? 0 : 1);
                }
            }
            answer.add("primitive_arrays", new Item("primitive array").number(id).type(code).part(elements));
        }
    }
}
