import java.io.File;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import shark.CloseableHeapGraph;
import shark.GcRoot;
import shark.HeapField;
import shark.HeapObject;
import shark.HprofHeapGraph;
import shark.HprofRecord.HeapDumpRecord.ObjectRecord.ClassDumpRecord;
import shark.HprofRecordTag;
import shark.ValueHolder;

/** LeakCanary's Shark, by its index of the heap: objects, fields and static fields. */
final class SharkGraph implements Adapter {
    private static final int OBJECT = 2;
    private static final List<String> COUNTS = List.of("classes", "instances", "object_arrays", "primitive_arrays",
            "ROOT_UNKNOWN", "ROOT_JNI_GLOBAL", "ROOT_JNI_LOCAL", "ROOT_JAVA_FRAME", "ROOT_NATIVE_STACK", "ROOT_THREAD_BLOCK",
            "ROOT_MONITOR_USED", "ROOT_THREAD_OBJECT", "ROOT_INTERNED_STRING", "ROOT_FINALIZING", "ROOT_DEBUGGER",
            "ROOT_REFERENCE_CLEANUP", "ROOT_VM_INTERNAL", "ROOT_JNI_MONITOR", "ROOT_UNREACHABLE");

    @Override
    public Map<String, String> unsupported() {
        return Map.of("gzip", "opens plain files only", "several-heap-dumps", "one index of objects by ID, for one heap dump",
                "no-heap-dump", "a graph of a heap");
    }

    /** Of roots ROOT_STICKY_CLASS is missing: it keeps one of a class, however many the dump has. */
    @Override
    public List<String> counts() {
        return COUNTS;
    }

    @Override
    public List<String> digests() {
        return List.of(
                "classes", "loaders", "statics", "instances", "instance_bytes", "object_arrays", "primitive_arrays", "roots");
    }

    @Override
    public String references() {
        return "exact";
    }

    @Override
    public void read(File dump, Answer answer) throws Exception {
        try (CloseableHeapGraph graph =
                HprofHeapGraph.Companion.openHeapGraph(dump, null, HprofRecordTag.Companion.getRootTags())) {
            // Shark extends the sign of IDs of 4 bytes.
            new Reading(answer, graph.getIdentifierByteSize() == 4 ? 0xFFFFFFFFL : -1L).all(graph);
        }
    }

    private static final class Reading {
        private final Answer answer;
        private final long mask;

        Reading(Answer answer, long mask) {
            this.answer = answer;
            this.mask = mask;
        }

        private Item id(Item item, long id) {
            return item.number(id & mask);
        }

        void all(CloseableHeapGraph graph) {
            answer.count("classes", graph.getClassCount());
            answer.count("instances", graph.getInstanceCount());
            answer.count("object_arrays", graph.getObjectArrayCount());
            answer.count("primitive_arrays", graph.getPrimitiveArrayCount());
            answer.attempt("roots", () -> roots(graph));
            graph.getClasses().iterator().forEachRemaining(this::classDump);
            for (Iterator<HeapObject.HeapInstance> all = graph.getInstances().iterator(); all.hasNext();) {
                HeapObject.HeapInstance one = all.next();
                answer.add("instances", () -> instance(one));
                answer.add("instance_bytes", () -> {
                    Item item = id(id(new Item("instance bytes"), one.getObjectId()), one.getInstanceClassId());
                    return item.part(one.readRecord().getFieldValues());
                });
            }
            for (Iterator<HeapObject.HeapObjectArray> all = graph.getObjectArrays().iterator(); all.hasNext();) {
                HeapObject.HeapObjectArray array = all.next();
                answer.add("object_arrays", () -> {
                    Item item = id(id(new Item("object array"), array.getObjectId()), array.getArrayClassId());
                    return item.part(SharkArrays.ids(array.readRecord().getElementIds(), mask));
                });
            }
            for (Iterator<HeapObject.HeapPrimitiveArray> all = graph.getPrimitiveArrays().iterator(); all.hasNext();) {
                HeapObject.HeapPrimitiveArray array = all.next();
                answer.add("primitive_arrays",
                        () -> SharkArrays.elements(id(new Item("primitive array"), array.getObjectId()), array.readRecord()));
            }
        }

        private void roots(CloseableHeapGraph graph) {
            Map<String, Long> roots = new HashMap<>();
            for (GcRoot root : graph.getGcRoots()) {
                String kind = kind(root);
                roots.merge(kind, 1L, Long::sum);
                if (COUNTS.contains(kind)) {
                    answer.add("roots", () -> Item.root(kind, root.getId() & mask));
                }
            }
            COUNTS.stream().filter(name -> name.startsWith("ROOT_")).forEach(kind -> answer.count(kind, roots.getOrDefault(kind, 0L)));
        }

        /** Its class JniGlobal is ROOT_JNI_GLOBAL. */
        private static String kind(GcRoot root) {
            return "ROOT" + root.getClass().getSimpleName().replaceAll("([A-Z])", "_$1").toUpperCase(Locale.ROOT);
        }

        private Item value(Item item, ValueHolder holder) {
            if (holder instanceof ValueHolder.ReferenceHolder) {
                return id(item.type(OBJECT), ((ValueHolder.ReferenceHolder) holder).getValue());
            }
            Object value = SharkArrays.primitive(holder);
            return item.type(Item.typeOf(value)).part(Item.value(value));
        }

        private void classDump(HeapObject.HeapClass one) {
            answer.add("classes", () -> {
                Item item = id(new Item("class"), one.getObjectId()).className(one.getName());
                id(item, one.readRecord().getSuperclassId());
                for (ClassDumpRecord.FieldRecord field : one.readRecordFields()) {
                    item.text(one.instanceFieldName(field)).type(field.getType());
                }
                return item;
            });
            answer.add("loaders",
                    () -> id(id(new Item("loader"), one.getObjectId()), one.readRecord().getClassLoaderId()));
            answer.attempt("statics", () -> {
                for (Iterator<HeapField> all = one.readStaticFields().iterator(); all.hasNext();) {
                    HeapField field = all.next();
                    Item item = id(new Item("static"), one.getObjectId()).text(field.getName());
                    answer.add("statics", value(item, field.getValue().getHolder()));
                }
            });
        }

        private Item instance(HeapObject.HeapInstance one) {
            Item item = id(id(new Item("instance"), one.getObjectId()), one.getInstanceClassId());
            for (Iterator<HeapField> all = one.readFields().iterator(); all.hasNext();) {
                HeapField field = all.next();
                id(item, field.getDeclaringClass().getObjectId()).text(field.getName());
                value(item, field.getValue().getHolder());
            }
            return item;
        }
    }
}
