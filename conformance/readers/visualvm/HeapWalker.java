import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.graalvm.visualvm.lib.jfluid.heap.Field;
import org.graalvm.visualvm.lib.jfluid.heap.FieldValue;
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
        return List.of("classes", "loaders", "statics", "instances", "object_arrays", "primitive_arrays");
    }

    /** It gives an object for a reference: none if it is dangling. */
    @Override
    public String references() {
        return "resolved";
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
                objectArray((ObjectArrayInstance) one, answer);
                objectArrays++;
            } else if (one instanceof PrimitiveArrayInstance) {
                primitiveArray((PrimitiveArrayInstance) one, answer);
                primitiveArrays++;
            } else {
                instance(one, answer);
                instances++;
            }
        }
        answer.count("classes", classes);
        answer.count("instances", instances);
        answer.count("object_arrays", objectArrays);
        answer.count("primitive_arrays", primitiveArrays);
        if (counts().contains("objects")) {
            answer.count("objects", heap.getSummary().getTotalLiveInstances());
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

    private static Item value(Item item, FieldValue value) {
        int type = typeOf(value.getField());
        item.text(value.getField().getName()).type(type);
        if (type == UNKNOWN) {
            return item;
        } else if (type == 2) {
            return item.number(idOf(((ObjectFieldValue) value).getInstance()));
        }
        return item.part(bytes(value.getValue(), type));
    }

    private static void classDump(JavaClass one, Answer answer) {
        long id = one.getJavaClassId();
        Item item = new Item("class").number(id).className(one.getName());
        item.number(one.getSuperClass() == null ? 0 : one.getSuperClass().getJavaClassId());
        for (Object each : one.getFields()) {
            Field field = (Field) each;
            if (!field.isStatic()) {
                item.text(field.getName()).type(typeOf(field));
            }
        }
        answer.add("classes", item);
        answer.add("loaders", new Item("loader").number(id).number(idOf(one.getClassLoader())));
        for (Object each : one.getStaticFieldValues()) {
            FieldValue value = (FieldValue) each;
            if (!value.getField().getName().equals(LOADER)) {
                answer.add("statics", value(new Item("static").number(id), value));
            }
        }
    }

    private static void instance(Instance one, Answer answer) {
        Item item = new Item("instance").number(one.getInstanceId()).number(one.getJavaClass().getJavaClassId());
        for (Object each : one.getFieldValues()) {
            FieldValue value = (FieldValue) each;
            value(item.number(value.getField().getDeclaringClass().getJavaClassId()), value);
        }
        answer.add("instances", item);
    }

    private static void objectArray(ObjectArrayInstance one, Answer answer) {
        ByteBuffer elements = ByteBuffer.allocate(8 * one.getLength());
        for (Object each : one.getValues()) {
            elements.putLong(idOf((Instance) each));
        }
        Item item = new Item("object array").number(one.getInstanceId()).number(one.getJavaClass().getJavaClassId());
        answer.add("object_arrays", item.part(elements.array()));
    }

    private static void primitiveArray(PrimitiveArrayInstance one, Answer answer) {
        String name = one.getJavaClass().getName();
        int type = typeOf(name.substring(0, name.length() - 2));
        ByteBuffer elements = ByteBuffer.allocate(8 * one.getLength());
        for (Object each : one.getValues()) {
            elements.put(bytes(each, type));
        }
        Item item = new Item("primitive array").number(one.getInstanceId()).type(type);
        answer.add("primitive_arrays", item.part(Arrays.copyOf(elements.array(), elements.position())));
    }
}
