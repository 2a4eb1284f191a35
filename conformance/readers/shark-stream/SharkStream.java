import java.io.File;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import shark.GcRoot;
import shark.HprofHeader;
import shark.HprofRecord.HeapDumpRecord.ObjectRecord.ClassDumpRecord;
import shark.HprofRecord.HeapDumpRecord.ObjectRecord.InstanceDumpRecord;
import shark.HprofRecord.HeapDumpRecord.ObjectRecord.ObjectArrayDumpRecord;
import shark.HprofRecord.HeapDumpRecord.ObjectRecord.PrimitiveArrayDumpRecord;
import shark.HprofRecord.LoadClassRecord;
import shark.HprofRecord.StringRecord;
import shark.HprofRecordReader;
import shark.HprofRecordTag;
import shark.StreamingHprofReader;
import shark.ValueHolder;

/** LeakCanary's Shark, record by record. It gives the bytes of instances, not their fields. */
final class SharkStream implements Adapter {
    @Override
    public Map<String, String> unsupported() {
        return Map.of("gzip", "opens plain files only");
    }

    @Override
    public List<String> counts() {
        List<String> counts =
                new ArrayList<>(List.of("strings", "classes", "instances", "object_arrays", "primitive_arrays", "roots", "ends"));
        for (HprofRecordTag kind : HprofRecordTag.Companion.getRootTags()) {
            counts.add(kind.name());
        }
        return counts;
    }

    @Override
    public List<String> digests() {
        return List.of("strings", "loaders", "statics", "classes", "instance_bytes", "object_arrays", "primitive_arrays", "roots");
    }

    @Override
    public String references() {
        return "exact";
    }

    @Override
    public void read(File dump, Answer answer) throws Exception {
        HprofHeader header = HprofHeader.Companion.parseHeaderOf(dump);
        Reading reading = new Reading(answer, header.getIdentifierByteSize() == 4 ? 0xFFFFFFFFL : -1L);
        Set<HprofRecordTag> tags = EnumSet.allOf(HprofRecordTag.class);
        StreamingHprofReader.Companion.readerFor(dump, header).readRecords(tags, reading::record);
        reading.finish();
    }

    private static final class Reading {
        private final Answer answer;
        private final long mask; // Shark extends the sign of IDs of 4 bytes
        private final Map<Long, String> strings = new HashMap<>();
        private final Map<Long, Long> names = new HashMap<>();
        private final List<ClassDumpRecord> classes = new ArrayList<>();
        private long instances;
        private long objectArrays;
        private long primitiveArrays;
        private long roots;
        private final Map<HprofRecordTag, Long> kinds = new EnumMap<>(HprofRecordTag.class);
        private long ends;

        Reading(Answer answer, long mask) {
            this.answer = answer;
            this.mask = mask;
        }

        private Item id(Item item, long id) {
            return item.number(id & mask);
        }

        private void root(HprofRecordTag kind, GcRoot one) {
            roots++;
            kinds.merge(kind, 1L, Long::sum);
            answer.add("roots", () -> Item.root(kind.name(), one.getId() & mask));
        }

        /** What fails to read a record has lost its place in the file, so it ends the dump. */
        void record(HprofRecordTag tag, long length, HprofRecordReader reader) {
            switch (tag) {
                case STRING_IN_UTF8: {
                    StringRecord record = reader.readStringRecord(length);
                    strings.putIfAbsent(record.getId(), record.getString());
                    break;
                }
                case LOAD_CLASS: {
                    LoadClassRecord record = reader.readLoadClassRecord();
                    names.put(record.getId(), record.getClassNameStringId()); // an ID may be reused after an UNLOAD_CLASS
                    break;
                }
                case CLASS_DUMP:
                    classes.add(reader.readClassDumpRecord());
                    break;
                case INSTANCE_DUMP: {
                    InstanceDumpRecord record = reader.readInstanceDumpRecord();
                    instances++;
                    answer.add("instance_bytes", () -> {
                        Item item = id(id(new Item("instance bytes"), record.getId()), record.getClassId());
                        return item.part(record.getFieldValues());
                    });
                    break;
                }
                case OBJECT_ARRAY_DUMP: {
                    ObjectArrayDumpRecord record = reader.readObjectArrayDumpRecord();
                    objectArrays++;
                    answer.add("object_arrays", () -> {
                        Item item = id(id(new Item("object array"), record.getId()), record.getArrayClassId());
                        return item.part(SharkArrays.ids(record.getElementIds(), mask));
                    });
                    break;
                }
                case PRIMITIVE_ARRAY_DUMP: {
                    PrimitiveArrayDumpRecord record = reader.readPrimitiveArrayDumpRecord();
                    primitiveArrays++;
                    answer.add("primitive_arrays",
                            () -> SharkArrays.elements(id(new Item("primitive array"), record.getId()), record));
                    break;
                }
                case ROOT_UNKNOWN:
                    root(tag, reader.readUnknownGcRootRecord());
                    break;
                case ROOT_JNI_GLOBAL:
                    root(tag, reader.readJniGlobalGcRootRecord());
                    break;
                case ROOT_JNI_LOCAL:
                    root(tag, reader.readJniLocalGcRootRecord());
                    break;
                case ROOT_JAVA_FRAME:
                    root(tag, reader.readJavaFrameGcRootRecord());
                    break;
                case ROOT_NATIVE_STACK:
                    root(tag, reader.readNativeStackGcRootRecord());
                    break;
                case ROOT_STICKY_CLASS:
                    root(tag, reader.readStickyClassGcRootRecord());
                    break;
                case ROOT_THREAD_BLOCK:
                    root(tag, reader.readThreadBlockGcRootRecord());
                    break;
                case ROOT_MONITOR_USED:
                    root(tag, reader.readMonitorUsedGcRootRecord());
                    break;
                case ROOT_THREAD_OBJECT:
                    root(tag, reader.readThreadObjectGcRootRecord());
                    break;
                case ROOT_INTERNED_STRING:
                    root(tag, reader.readInternedStringGcRootRecord());
                    break;
                case ROOT_FINALIZING:
                    root(tag, reader.readFinalizingGcRootRecord());
                    break;
                case ROOT_DEBUGGER:
                    root(tag, reader.readDebuggerGcRootRecord());
                    break;
                case ROOT_REFERENCE_CLEANUP:
                    root(tag, reader.readReferenceCleanupGcRootRecord());
                    break;
                case ROOT_VM_INTERNAL:
                    root(tag, reader.readVmInternalGcRootRecord());
                    break;
                case ROOT_JNI_MONITOR:
                    root(tag, reader.readJniMonitorGcRootRecord());
                    break;
                case ROOT_UNREACHABLE:
                    root(tag, reader.readUnreachableGcRootRecord());
                    break;
                case HEAP_DUMP_INFO:
                    reader.readHeapDumpInfoRecord();
                    break;
                case STACK_FRAME:
                    reader.readStackFrameRecord();
                    break;
                case STACK_TRACE:
                    reader.readStackTraceRecord();
                    break;
                case HEAP_DUMP_END:
                    ends++;
                    reader.skip(length);
                    break;
                default:
                    reader.skip(length);
            }
        }

        private String text(long id) {
            return strings.getOrDefault(id, "");
        }

        private Item classDump(ClassDumpRecord one) {
            Item item = id(new Item("class"), one.getId()).className(text(names.getOrDefault(one.getId(), 0L)));
            id(item, one.getSuperclassId());
            for (ClassDumpRecord.FieldRecord field : one.getFields()) {
                item.text(text(field.getNameStringId())).type(field.getType());
            }
            return item;
        }

        private Item staticField(ClassDumpRecord one, ClassDumpRecord.StaticFieldRecord field) {
            Item item = id(new Item("static"), one.getId()).text(text(field.getNameStringId())).type(field.getType());
            ValueHolder value = field.getValue();
            if (value instanceof ValueHolder.ReferenceHolder) {
                return id(item, ((ValueHolder.ReferenceHolder) value).getValue());
            }
            return item.part(Item.value(SharkArrays.primitive(value)));
        }

        void finish() {
            strings.forEach((id, text) -> answer.add("strings", () -> id(new Item("string"), id).text(text)));
            for (ClassDumpRecord one : classes) {
                answer.add("classes", () -> classDump(one));
                answer.add("loaders", () -> id(id(new Item("loader"), one.getId()), one.getClassLoaderId()));
                answer.attempt("statics", () -> {
                    for (ClassDumpRecord.StaticFieldRecord field : one.getStaticFields()) {
                        answer.add("statics", staticField(one, field));
                    }
                });
            }
            answer.count("strings", strings.size());
            answer.count("classes", classes.size());
            answer.count("instances", instances);
            answer.count("object_arrays", objectArrays);
            answer.count("primitive_arrays", primitiveArrays);
            answer.count("roots", roots);
            for (HprofRecordTag kind : HprofRecordTag.Companion.getRootTags()) {
                answer.count(kind.name(), kinds.getOrDefault(kind, 0L));
            }
            answer.count("ends", ends);
        }
    }
}
