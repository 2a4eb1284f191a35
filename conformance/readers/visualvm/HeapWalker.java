import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.graalvm.visualvm.lib.jfluid.heap.Field;
import org.graalvm.visualvm.lib.jfluid.heap.FieldValue;
import org.graalvm.visualvm.lib.jfluid.heap.GCRoot;
import org.graalvm.visualvm.lib.jfluid.heap.Heap;
import org.graalvm.visualvm.lib.jfluid.heap.HeapFactory;
import org.graalvm.visualvm.lib.jfluid.heap.Instance;
import org.graalvm.visualvm.lib.jfluid.heap.JavaClass;
import org.graalvm.visualvm.lib.jfluid.heap.ObjectArrayInstance;
import org.graalvm.visualvm.lib.jfluid.heap.ObjectFieldValue;
import org.graalvm.visualvm.lib.jfluid.heap.PrimitiveArrayInstance;

/** The heap library that VisualVM, NetBeans and gridkit share by descent. A build for one of them takes its package. */
abstract class HeapWalker implements Adapter {
    private static final int UNKNOWN = 0;
    private static final String LOADER = "<classLoader>"; // which the library adds to static fields
    /** Those that the library has names for. */
    private static final List<String> ROOTS = List.of(
            "ROOT_UNKNOWN", "ROOT_JNI_GLOBAL", "ROOT_JNI_LOCAL", "ROOT_JAVA_FRAME", "ROOT_NATIVE_STACK",
            "ROOT_STICKY_CLASS", "ROOT_THREAD_BLOCK", "ROOT_MONITOR_USED", "ROOT_THREAD_OBJECT",
            "ROOT_INTERNED_STRING", "ROOT_FINALIZING", "ROOT_DEBUGGER", "ROOT_REFERENCE_CLEANUP",
            "ROOT_VM_INTERNAL", "ROOT_JNI_MONITOR");

    Heap open(File dump) throws IOException {
        return HeapFactory.createHeap(dump);
    }

    @Override
    public Map<String, String> unsupported() {
        return Map.of("gzip", "opens plain files only", "several-heap-dumps", "shows one heap dump of a file",
                "no-heap-dump", "a library for heaps", "no-instances", "a library for heaps of objects");
    }

    @Override
    public List<String> counts() {
        return List.of("classes", "instances", "object_arrays", "primitive_arrays", "objects");
    }

    @Override
    public List<String> digests() {
        List<String> found =
                new ArrayList<>(List.of("classes", "loaders", "statics", "instances", "object_arrays", "primitive_arrays"));
        if (counts().contains("roots")) {
            found.add("roots");
        }
        return found;
    }

    /** It gives an object for a reference: none if it is dangling. */
    @Override
    public String references() {
        return "resolved";
    }

    static List<String> withRoots(String... counts) {
        List<String> found = new ArrayList<>(List.of(counts));
        found.add("roots");
        found.addAll(ROOTS);
        return found;
    }

    /** The library's "JNI global" is ROOT_JNI_GLOBAL. */
    private static void roots(Heap heap, Answer answer) {
        Map<String, Long> found = new HashMap<>();
        for (Object one : heap.getGCRoots()) {
            String kind = "ROOT_" + ((GCRoot) one).getKind().toUpperCase(Locale.ROOT).replace(' ', '_');
            found.merge(kind, 1L, Long::sum);
            answer.add("roots", () -> Item.root(kind, idOf(((GCRoot) one).getInstance())));
        }
        answer.count("roots", found.values().stream().mapToLong(Long::longValue).sum());
        ROOTS.forEach(kind -> answer.count(kind, found.getOrDefault(kind, 0L)));
    }

    Iterable<Instance> instances(Heap heap) {
        List<Instance> found = new ArrayList<>();
        for (Object one : heap.getAllClasses()) {
            for (Object instance : ((JavaClass) one).getInstances()) {
                found.add((Instance) instance);
            }
        }
        return found;
    }

    @Override
    public void read(File dump, Answer answer) throws Exception {
        Heap heap = open(dump);
        long classes = 0;
        for (Object one : heap.getAllClasses()) {
            classDump((JavaClass) one, answer);
            classes++;
        }
        long instances = 0;
        long objectArrays = 0;
        long primitiveArrays = 0;
        for (Instance one : instances(heap)) {
            if (one instanceof ObjectArrayInstance) {
                answer.add("object_arrays", () -> objectArray((ObjectArrayInstance) one));
                objectArrays++;
            } else if (one instanceof PrimitiveArrayInstance) {
                answer.add("primitive_arrays", () -> primitiveArray((PrimitiveArrayInstance) one));
                primitiveArrays++;
            } else {
                answer.add("instances", () -> instance(one));
                instances++;
            }
        }
        answer.count("classes", classes);
        answer.count("instances", instances);
        answer.count("object_arrays", objectArrays);
        answer.count("primitive_arrays", primitiveArrays);
        if (counts().contains("objects")) {
            answer.attempt("objects", () -> answer.count("objects", heap.getSummary().getTotalLiveInstances()));
        }
        if (counts().contains("roots")) {
            answer.attempt("roots", () -> roots(heap, answer));
        }
    }

    private static long idOf(Instance one) {
        return one == null ? 0 : one.getInstanceId();
    }

    /** Some give no type for one that they do not know. */
    private static int typeOf(Field field) {
        return field.getType() == null ? UNKNOWN : typeOf(field.getType().getName());
    }

    private static int typeOf(String name) {
        switch (name) {
            case "boolean":
                return 4;
            case "char":
                return 5;
            case "float":
                return 6;
            case "double":
                return 7;
            case "byte":
                return 8;
            case "short":
                return 9;
            case "int":
                return 10;
            case "long":
                return 11;
            default:
                return 2;
        }
    }

    /** In VisualVM and NetBeans a value is text; in gridkit it may be an object. */
    private static byte[] bytes(Object value, int type) {
        return value instanceof String ? Item.value((String) value, type) : Item.value(value);
    }

    /** `typed` is the value as an object where the library gives one: text has no bits of a NaN. */
    private static Item value(Item item, FieldValue value, Object typed) {
        int type = typeOf(value.getField());
        item.text(value.getField().getName()).type(type);
        if (type == UNKNOWN) {
            return item;
        } else if (type == 2) {
            return item.number(idOf(((ObjectFieldValue) value).getInstance()));
        }
        return item.part(bytes(typed == null ? value.getValue() : typed, type));
    }

    private static boolean isFloating(FieldValue value) {
        int type = typeOf(value.getField());
        return type == 6 || type == 7;
    }

    /** Whether no other value, from one position to another, has the name: the library gives values as objects by name. */
    private static boolean isOnly(List<FieldValue> values, int at, int from, int to) {
        for (int i = from; i < to; i++) {
            if (i != at && values.get(i).getField().getName().equals(values.get(at).getField().getName())) {
                return false;
            }
        }
        return true;
    }

    private static void classDump(JavaClass one, Answer answer) {
        answer.add("classes", () -> {
            Item item = new Item("class").number(one.getJavaClassId()).className(one.getName());
            item.number(one.getSuperClass() == null ? 0 : one.getSuperClass().getJavaClassId());
            for (Object each : one.getFields()) {
                Field field = (Field) each;
                if (!field.isStatic()) {
                    item.text(field.getName()).type(typeOf(field));
                }
            }
            return item;
        });
        answer.add("loaders", () -> new Item("loader").number(one.getJavaClassId()).number(idOf(one.getClassLoader())));
        answer.attempt("statics", () -> statics(one, answer));
    }

    @SuppressWarnings("unchecked")
    private static void statics(JavaClass one, Answer answer) {
        List<FieldValue> values = (List<FieldValue>) (List<?>) one.getStaticFieldValues();
        for (int i = 0; i < values.size(); i++) {
            FieldValue value = values.get(i);
            int at = i;
            if (!value.getField().getName().equals(LOADER)) {
                answer.add("statics", () -> { // of several with one name it gives the first
                    boolean typed = isFloating(value) && isOnly(values, at, 0, at);
                    Object object = typed ? one.getValueOfStaticField(value.getField().getName()) : null;
                    return value(new Item("static").number(one.getJavaClassId()), value, object);
                });
            }
        }
    }

    @SuppressWarnings("unchecked")
    private static Item instance(Instance one) {
        Item item = new Item("instance").number(one.getInstanceId()).number(one.getJavaClass().getJavaClassId());
        List<FieldValue> values = (List<FieldValue>) (List<?>) one.getFieldValues();
        for (int i = 0; i < values.size(); i++) { // of several with one name it gives the last
            FieldValue value = values.get(i);
            boolean typed = isFloating(value) && isOnly(values, i, i, values.size());
            item.number(value.getField().getDeclaringClass().getJavaClassId());
            value(item, value, typed ? one.getValueOfField(value.getField().getName()) : null);
        }
        return item;
    }

    /** The library takes the length from the dump as it is, so memory is needed only for the elements that it gives. */
    private static Item objectArray(ObjectArrayInstance one) throws IOException {
        ByteArrayOutputStream elements = new ByteArrayOutputStream();
        for (Object each : one.getValues()) {
            elements.write(Item.value(idOf((Instance) each)));
        }
        Item item = new Item("object array").number(one.getInstanceId()).number(one.getJavaClass().getJavaClassId());
        return item.part(elements.toByteArray());
    }

    private static Item primitiveArray(PrimitiveArrayInstance one) throws IOException {
        String name = one.getJavaClass().getName();
        int type = typeOf(name.substring(0, name.length() - 2));
        ByteArrayOutputStream elements = new ByteArrayOutputStream();
        for (Object each : one.getValues()) {
            elements.write(bytes(each, type));
        }
        Item item = new Item("primitive array").number(one.getInstanceId()).type(type);
        return item.part(elements.toByteArray());
    }
}
