import com.squareup.haha.perflib.ArrayInstance;
import com.squareup.haha.perflib.ClassInstance;
import com.squareup.haha.perflib.ClassObj;
import com.squareup.haha.perflib.Field;
import com.squareup.haha.perflib.Heap;
import com.squareup.haha.perflib.HprofParser;
import com.squareup.haha.perflib.Instance;
import com.squareup.haha.perflib.RootObj;
import com.squareup.haha.perflib.RootType;
import com.squareup.haha.perflib.Snapshot;
import com.squareup.haha.perflib.Type;
import com.squareup.haha.perflib.io.MemoryMappedFileBuffer;
import java.io.File;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/** Android's perflib, which Android Studio had until 2018, as HAHA has it. */
final class HahaPerflib implements Adapter {
    /** It has no list of the threads, which are no roots to it. */
    private static final Map<RootType, String> ROOTS = Map.ofEntries(
            Map.entry(RootType.UNKNOWN, "ROOT_UNKNOWN"), Map.entry(RootType.NATIVE_STATIC, "ROOT_JNI_GLOBAL"),
            Map.entry(RootType.NATIVE_LOCAL, "ROOT_JNI_LOCAL"), Map.entry(RootType.JAVA_LOCAL, "ROOT_JAVA_FRAME"),
            Map.entry(RootType.NATIVE_STACK, "ROOT_NATIVE_STACK"), Map.entry(RootType.SYSTEM_CLASS, "ROOT_STICKY_CLASS"),
            Map.entry(RootType.THREAD_BLOCK, "ROOT_THREAD_BLOCK"), Map.entry(RootType.BUSY_MONITOR, "ROOT_MONITOR_USED"),
            Map.entry(RootType.INTERNED_STRING, "ROOT_INTERNED_STRING"), Map.entry(RootType.FINALIZING, "ROOT_FINALIZING"),
            Map.entry(RootType.DEBUGGER, "ROOT_DEBUGGER"), Map.entry(RootType.REFERENCE_CLEANUP, "ROOT_REFERENCE_CLEANUP"),
            Map.entry(RootType.VM_INTERNAL, "ROOT_VM_INTERNAL"), Map.entry(RootType.NATIVE_MONITOR, "ROOT_JNI_MONITOR"),
            Map.entry(RootType.UNREACHABLE, "ROOT_UNREACHABLE"));

    @Override
    public Map<String, String> unsupported() {
        return Map.of("gzip", "opens plain files only", "several-heap-dumps", "one snapshot of a file");
    }

    @Override
    public List<String> counts() {
        List<String> all = new ArrayList<>(List.of("classes", "instances", "object_arrays", "primitive_arrays"));
        all.addAll(new TreeSet<>(ROOTS.values())); // in one order, at each start
        return all;
    }

    @Override
    public List<String> digests() {
        return List.of("classes", "loaders", "statics", "instances", "object_arrays", "primitive_arrays", "roots");
    }

    /** It gives an object for a reference; what it does not find is null. */
    @Override
    public String references() {
        return "resolved";
    }

    @Override
    public void read(File dump, Answer answer) throws Exception {
        Snapshot[] parsed = new Snapshot[1];
        for (String line : Said.during(() -> parsed[0] = new HprofParser(new MemoryMappedFileBuffer(dump)).parse())) {
            if (!line.isEmpty() && !line.startsWith("\t")) { // a line of a stack
                answer.notices.add(line);
            }
        }
        long classes = 0;
        long instances = 0;
        long objectArrays = 0;
        long primitiveArrays = 0;
        for (Heap heap : parsed[0].getHeaps()) {
            for (ClassObj one : heap.getClasses()) {
                classes++;
                classDump(one, answer);
            }
            for (Instance one : heap.getInstances()) {
                if (one instanceof ClassInstance) {
                    instances++;
                    answer.add("instances", () -> instance((ClassInstance) one));
                } else if (((ArrayInstance) one).getArrayType() == Type.OBJECT) {
                    objectArrays++;
                    answer.add("object_arrays", () -> objectArray((ArrayInstance) one));
                } else {
                    primitiveArrays++;
                    answer.add("primitive_arrays", () -> primitiveArray((ArrayInstance) one));
                }
            }
        }
        answer.count("classes", classes);
        answer.count("instances", instances);
        answer.count("object_arrays", objectArrays);
        answer.count("primitive_arrays", primitiveArrays);
        answer.attempt("roots", () -> roots(parsed[0], answer));
    }

    private static void roots(Snapshot parsed, Answer answer) {
        Map<RootType, Long> roots = new HashMap<>();
        for (RootObj one : parsed.getGCRoots()) {
            roots.merge(one.getRootType(), 1L, Long::sum);
            if (ROOTS.containsKey(one.getRootType())) {
                answer.add("roots", () -> Item.root(ROOTS.get(one.getRootType()), idOf(parsed.findInstance(one.getId()))));
            }
        }
        ROOTS.forEach((type, kind) -> answer.count(kind, roots.getOrDefault(type, 0L)));
    }

    private static long idOf(Object object) {
        return object == null ? 0 : ((Instance) object).getUniqueId();
    }

    /** A name that the dump does not define, and a type that there is not, are null. */
    private static String name(String name) {
        return name == null ? "" : name;
    }

    private static Item field(Item item, Field field) {
        return item.text(name(field.getName())).type(field.getType() == null ? 0 : field.getType().getTypeId());
    }

    private static Item value(Item item, Field field, Object value) {
        field(item, field);
        return field.getType() == Type.OBJECT ? item.number(idOf(value)) : item.part(Item.value(value));
    }

    private static void classDump(ClassObj one, Answer answer) {
        answer.add("classes", () -> {
            Item item = new Item("class").number(idOf(one)).className(name(one.getClassName())).number(idOf(one.getSuperClassObj()));
            for (Field field : one.getFields()) {
                field(item, field);
            }
            return item;
        });
        answer.add("loaders", () -> new Item("loader").number(idOf(one)).number(idOf(one.getClassLoader())));
        answer.attempt("statics", () -> {
            for (Map.Entry<Field, Object> each : one.getStaticFieldValues().entrySet()) {
                answer.add("statics", value(new Item("static").number(idOf(one)), each.getKey(), each.getValue()));
            }
        });
    }

    /** Its values are those of the class, then those of each superclass. */
    private static Item instance(ClassInstance one) {
        Item item = new Item("instance").number(idOf(one)).number(idOf(one.getClassObj()));
        List<ClassInstance.FieldValue> values = one.getValues();
        int next = 0;
        for (ClassObj declaring = one.getClassObj(); declaring != null; declaring = declaring.getSuperClassObj()) {
            int end = next + declaring.getFields().length;
            for (; next < end; next++) {
                value(item.number(idOf(declaring)), values.get(next).getField(), values.get(next).getValue());
            }
        }
        return item;
    }

    private static Item objectArray(ArrayInstance one) {
        Object[] elements = one.getValues();
        ByteBuffer ids = ByteBuffer.allocate(8 * elements.length);
        for (Object element : elements) {
            ids.putLong(idOf(element));
        }
        return new Item("object array").number(idOf(one)).number(idOf(one.getClassObj())).part(ids.array());
    }

    private static Item primitiveArray(ArrayInstance one) {
        Object[] elements = one.getValues();
        ByteBuffer bytes = ByteBuffer.allocate(8 * elements.length);
        for (Object element : elements) {
            bytes.put(Item.value(element));
        }
        Item item = new Item("primitive array").number(idOf(one)).type(one.getArrayType().getTypeId());
        return item.part(Arrays.copyOf(bytes.array(), bytes.position()));
    }
}
