import java.lang.reflect.Array;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.eclipse.mat.snapshot.ISnapshot;
import org.eclipse.mat.snapshot.model.Field;
import org.eclipse.mat.snapshot.model.FieldDescriptor;
import org.eclipse.mat.snapshot.model.GCRootInfo;
import org.eclipse.mat.snapshot.model.IClass;
import org.eclipse.mat.snapshot.model.IInstance;
import org.eclipse.mat.snapshot.model.IObject;
import org.eclipse.mat.snapshot.model.IObjectArray;
import org.eclipse.mat.snapshot.model.IPrimitiveArray;
import org.eclipse.mat.snapshot.model.ObjectReference;
import org.eclipse.mat.util.VoidProgressListener;

/** The model of a heap of Eclipse MAT, which that of 2013 in HAHA and that of today share. */
abstract class MatWalker implements Adapter {
    private static final int OBJECT = 2;
    private static final long SYSTEM_LOADER = 0; // the address of an object that it adds for the loader that is null in a dump
    private static final List<String> OBJECTS = List.of("instances", "object_arrays", "primitive_arrays");
    private static final Map<Integer, String> ROOTS = Map.of(GCRootInfo.Type.UNKNOWN, "ROOT_UNKNOWN",
            GCRootInfo.Type.NATIVE_STATIC, "ROOT_JNI_GLOBAL", GCRootInfo.Type.THREAD_BLOCK, "ROOT_THREAD_BLOCK",
            GCRootInfo.Type.BUSY_MONITOR, "ROOT_MONITOR_USED", GCRootInfo.Type.THREAD_OBJ, "ROOT_THREAD_OBJECT");

    /** The kinds that it gives as the dump has them. */
    abstract List<String> roots();

    @Override
    public List<String> counts() {
        List<String> counts = new ArrayList<>(List.of("classes"));
        counts.addAll(OBJECTS);
        counts.addAll(roots());
        return counts;
    }

    @Override
    public List<String> digests() {
        return List.of("classes", "loaders", "statics", "instances", "object_arrays", "primitive_arrays", "roots");
    }

    @Override
    public String references() {
        return "exact";
    }

    static Map<String, String> options() {
        Map<String, String> options = new HashMap<>();
        options.put("keep_unreachable_objects", "true"); // else it removes them
        return options;
    }

    static VoidProgressListener noticed(Answer answer) {
        return new VoidProgressListener() {
            @Override
            public void sendUserMessage(Severity severity, String message, Throwable error) {
                if (severity != Severity.INFO) {
                    answer.notices.add(message);
                }
            }
        };
    }

    /** Adds one snapshot to the answer. */
    final void walk(ISnapshot snapshot, Answer answer) throws Exception {
        counts().forEach(what -> count(answer, what, 0));
        answer.attempt("roots", () -> roots(snapshot, answer));
        for (IClass one : snapshot.getClasses()) {
            count(answer, "classes", 1);
            classDump(one, answer);
            for (String objects : OBJECTS) { // without its name, the objects of a class may be of any entry
                answer.attempt(objects, () -> {
                    if (entry(one).equals(objects)) {
                        for (int number : one.getObjectIds()) {
                            object(snapshot.getObject(number), answer);
                        }
                    }
                });
            }
        }
        answer.counts.keySet().removeAll(answer.failed.keySet()); // not all of such an entry were asked for
    }

    private void roots(ISnapshot snapshot, Answer answer) throws Exception {
        for (int object : snapshot.getGCRoots()) {
            for (GCRootInfo one : snapshot.getGCRootInfo(object)) {
                String kind = ROOTS.get(one.getType());
                if (kind != null && roots().contains(kind)) {
                    count(answer, kind, 1);
                    answer.add("roots", () -> Item.root(kind, one.getObjectAddress()));
                }
            }
        }
    }

    /** What the objects of a class are. */
    private static String entry(IClass one) {
        boolean ofPrimitives = Arrays.asList(IPrimitiveArray.TYPE).contains(one.getName());
        return ofPrimitives ? "primitive_arrays" : one.isArrayType() ? "object_arrays" : "instances";
    }

    private static void object(IObject object, Answer answer) {
        if (object instanceof IObjectArray) {
            count(answer, "object_arrays", 1);
            answer.add("object_arrays", () -> objectArray((IObjectArray) object));
        } else if (object instanceof IPrimitiveArray) {
            count(answer, "primitive_arrays", 1);
            answer.add("primitive_arrays", () -> primitiveArray((IPrimitiveArray) object));
        } else if (object instanceof IInstance && object.getObjectAddress() != SYSTEM_LOADER) {
            count(answer, "instances", 1);
            answer.add("instances", () -> instance((IInstance) object));
        } // else a class, as an object of java.lang.Class
    }

    private static void count(Answer answer, String what, long more) {
        answer.counts.merge(what, more, Long::sum);
    }

    private static Item value(Item item, Field field) {
        Object value = field.getValue();
        item.text(field.getName()).type(field.getType());
        if (field.getType() == OBJECT) {
            return item.number(value == null ? 0 : ((ObjectReference) value).getObjectAddress());
        }
        return item.part(Item.value(value));
    }

    private static void classDump(IClass one, Answer answer) {
        answer.add("classes", () -> {
            Item item = new Item("class").number(one.getObjectAddress()).className(one.getName());
            item.number(one.getSuperClass() == null ? 0 : one.getSuperClass().getObjectAddress());
            for (FieldDescriptor field : one.getFieldDescriptors()) {
                item.text(field.getName()).type(field.getType());
            }
            return item;
        });
        answer.add("loaders", () -> new Item("loader").number(one.getObjectAddress()).number(one.getClassLoaderAddress()));
        answer.attempt("statics", () -> {
            for (Field field : one.getStaticFields()) {
                answer.add("statics", value(new Item("static").number(one.getObjectAddress()), field));
            }
        });
    }

    /** Its fields are those of the class, then those of each superclass. */
    private static Item instance(IInstance one) {
        Item item = new Item("instance").number(one.getObjectAddress()).number(one.getClazz().getObjectAddress());
        int next = 0;
        List<Field> fields = one.getFields();
        for (IClass declaring = one.getClazz(); declaring != null; declaring = declaring.getSuperClass()) {
            int end = next + declaring.getFieldDescriptors().size();
            for (; next < end; next++) {
                value(item.number(declaring.getObjectAddress()), fields.get(next));
            }
        }
        return item;
    }

    private static Item objectArray(IObjectArray one) {
        long[] elements = one.getReferenceArray();
        ByteBuffer ids = ByteBuffer.allocate(8 * elements.length);
        for (long element : elements) {
            ids.putLong(element);
        }
        return new Item("object array").number(one.getObjectAddress()).number(one.getClazz().getObjectAddress()).part(ids.array());
    }

    private static Item primitiveArray(IPrimitiveArray one) {
        Object elements = one.getValueArray();
        ByteBuffer bytes = ByteBuffer.allocate(8 * one.getLength());
        for (int i = 0; i < one.getLength(); i++) {
            bytes.put(Item.value(Array.get(elements, i)));
        }
        Item item = new Item("primitive array").number(one.getObjectAddress()).type(one.getType());
        return item.part(Arrays.copyOf(bytes.array(), bytes.position()));
    }
}
