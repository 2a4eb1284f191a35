import com.sun.tools.hat.internal.model.JavaClass;
import com.sun.tools.hat.internal.model.JavaField;
import com.sun.tools.hat.internal.model.JavaHeapObject;
import com.sun.tools.hat.internal.model.JavaObject;
import com.sun.tools.hat.internal.model.JavaObjectArray;
import com.sun.tools.hat.internal.model.JavaStatic;
import com.sun.tools.hat.internal.model.JavaThing;
import com.sun.tools.hat.internal.model.JavaValueArray;
import com.sun.tools.hat.internal.model.Root;
import com.sun.tools.hat.internal.model.Snapshot;
import com.sun.tools.hat.internal.parser.Reader;
import java.io.File;
import java.lang.reflect.Array;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Enumeration;
import java.util.List;

/** The parser and the model of a heap that jhat and the tests of OpenJDK share by descent. A build for one of them takes its package. */
abstract class HatWalker implements Adapter {
    private static final String SIGNATURES = "ZCFDBSIJ"; // of the types from 4 on
    private static final String OF_VALID_DUMPS = ".*(not found for serial # 0|hprof file does not include java[.]lang[.]\\w+!)";
    private static final List<String> COUNTS = List.of("classes", "instances", "object_arrays", "primitive_arrays");

    /** By Root.getType, from Root.UNKNOWN on. A root of a thread is kept as a thread. */
    private static final List<String> ROOTS = List.of("ROOT_UNKNOWN", "ROOT_STICKY_CLASS", "ROOT_JNI_LOCAL", "ROOT_JNI_GLOBAL",
            "ROOT_THREAD_BLOCK", "ROOT_MONITOR_USED", "ROOT_JAVA_FRAME", "ROOT_NATIVE_STACK");

    @Override
    public List<String> counts() {
        List<String> counts = new ArrayList<>(COUNTS);
        counts.addAll(ROOTS);
        return counts;
    }

    @Override
    public List<String> digests() {
        return List.of("classes", "loaders", "statics", "instances", "object_arrays", "primitive_arrays", "roots");
    }

    /** It gives an object for a reference; what it does not find is no object. */
    @Override
    public String references() {
        return "resolved";
    }

    @Override
    public void read(File dump, Answer answer) throws Exception {
        for (String line : Said.during(() -> walk(dump, answer))) {
            if (line.matches("(WARNING:|lazy read failed).*") && !line.matches(OF_VALID_DUMPS)) {
                answer.notices.add(line);
            }
        }
    }

    private static void walk(File dump, Answer answer) throws Exception {
        Snapshot snapshot = Reader.readFile(dump.getPath(), true, 0);
        snapshot.resolve(false);
        long[] counts = new long[4];
        for (Enumeration<JavaHeapObject> all = snapshot.getThings(); all.hasMoreElements();) {
            JavaHeapObject one = all.nextElement();
            if (one instanceof JavaClass) {
                counts[0]++;
                classDump((JavaClass) one, answer);
            } else if (one instanceof JavaObject) {
                counts[1]++;
                answer.add("instances", () -> instance((JavaObject) one));
            } else if (one instanceof JavaObjectArray) {
                counts[2]++;
                answer.add("object_arrays", () -> objectArray((JavaObjectArray) one));
            } else if (one instanceof JavaValueArray) {
                counts[3]++;
                answer.add("primitive_arrays", () -> valueArray((JavaValueArray) one));
            }
        }
        for (int i = 0; i < counts.length; i++) {
            answer.count(COUNTS.get(i), counts[i]);
        }
        answer.attempt("roots", () -> roots(snapshot, answer));
    }

    private static void roots(Snapshot snapshot, Answer answer) {
        long[] counts = new long[Root.JAVA_STATIC + 1];
        for (Enumeration<?> all = snapshot.getRoots(); all.hasMoreElements();) {
            Root one = (Root) all.nextElement();
            counts[one.getType()]++;
            int kind = one.getType() - Root.UNKNOWN;
            if (kind < ROOTS.size()) {
                answer.add("roots", () -> Item.root(ROOTS.get(kind), idOf(snapshot.findThing(one.getId()))));
            }
        }
        for (String kind : ROOTS) {
            answer.count(kind, counts[Root.UNKNOWN + ROOTS.indexOf(kind)]);
        }
    }

    private static long idOf(JavaThing thing) {
        return thing instanceof JavaHeapObject ? ((JavaHeapObject) thing).getId() : 0;
    }

    private static int typeOf(JavaField field) {
        int at = SIGNATURES.indexOf(field.getSignature().charAt(0));
        return at < 0 ? 2 : at + 4;
    }

    private static Item value(Item item, JavaField field, JavaThing value) {
        int type = typeOf(field);
        item.text(field.getName()).type(type);
        return type == 2 ? item.number(idOf(value)) : item.part(Item.value(value.toString(), type));
    }

    private static void classDump(JavaClass one, Answer answer) {
        answer.add("classes", () -> {
            Item item = new Item("class").number(one.getId()).className(one.getName());
            item.number(one.getSuperclass() == null ? 0 : one.getSuperclass().getId());
            for (JavaField field : one.getFields()) {
                item.text(field.getName()).type(typeOf(field));
            }
            return item;
        });
        answer.add("loaders", () -> new Item("loader").number(one.getId()).number(idOf(one.getLoader())));
        answer.attempt("statics", () -> {
            for (JavaStatic each : one.getStatics()) {
                answer.add("statics", value(new Item("static").number(one.getId()), each.getField(), each.getValue()));
            }
        });
    }

    /** It puts the fields of superclasses first. */
    private static Item instance(JavaObject one) {
        Item item = new Item("instance").number(one.getId()).number(one.getClazz().getId());
        JavaThing[] values = one.getFields();
        JavaField[] fields = one.getClazz().getFieldsForInstance();
        int end = values.length;
        if (end != fields.length) { // it could not read them, and said so
            return item;
        }
        for (JavaClass declaring = one.getClazz(); declaring != null; declaring = declaring.getSuperclass()) {
            int first = end - declaring.getFields().length;
            for (int i = first; i < end; i++) {
                value(item.number(declaring.getId()), fields[i], values[i]);
            }
            end = first;
        }
        return item;
    }

    private static Item objectArray(JavaObjectArray one) {
        JavaThing[] elements = one.getElements();
        ByteBuffer ids = ByteBuffer.allocate(8 * elements.length);
        for (JavaThing element : elements) {
            ids.putLong(idOf(element));
        }
        Item item = new Item("object array").number(one.getId()).number(one.getClazz().getId());
        return item.part(ids.array());
    }

    /** Elements are values in jhat, and texts in the tests' parser. */
    private static Item valueArray(JavaValueArray one) {
        int type = SIGNATURES.indexOf(one.getElementType()) + 4;
        Object elements = one.getElements();
        ByteBuffer bytes = ByteBuffer.allocate(8 * one.getLength());
        for (int i = 0; i < one.getLength(); i++) {
            Object element = Array.get(elements, i);
            bytes.put(element instanceof JavaThing ? Item.value(element.toString(), type) : Item.value(element));
        }
        Item item = new Item("primitive array").number(one.getId()).type(type);
        return item.part(Arrays.copyOf(bytes.array(), bytes.position()));
    }
}
