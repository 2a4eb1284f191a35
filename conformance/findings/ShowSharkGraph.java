import java.io.File;
import java.util.Iterator;
import shark.*;

/** Prints what Shark's graph gives of a dump. */
class ShowSharkGraph {
    static String name(String name) { // in ASCII
        StringBuilder shown = new StringBuilder();
        name.chars().forEach(c -> shown.append(c > 31 && c < 127 ? String.valueOf((char) c) : String.format("\\u%04x", c)));
        return shown.toString();
    }

    static String value(HeapField field) {
        return name(field.getName()) + " = " + name(String.valueOf(field.getValue().getHolder()));
    }

    public static void main(String[] arguments) throws Exception {
        try (CloseableHeapGraph graph = HprofHeapGraph.Companion.openHeapGraph(
                new File(arguments[0]), null, HprofRecordTag.Companion.getRootTags())) {
            for (Iterator<HeapObject> all = graph.getObjects().iterator(); all.hasNext();) {
                HeapObject one = all.next();
                System.out.print("0x" + Long.toHexString(one.getObjectId()) + " ");
                if (one.getAsClass() != null) {
                    HprofRecord.HeapDumpRecord.ObjectRecord.ClassDumpRecord record = one.getAsClass().readRecord();
                    System.out.println("class " + name(one.getAsClass().getName()) + ", " + record.getFields().size() + " fields, loader 0x"
                            + Long.toHexString(record.getClassLoaderId()));
                    for (Iterator<HeapField> fields = one.getAsClass().readStaticFields().iterator(); fields.hasNext();) {
                        System.out.println("  static " + value(fields.next()));
                    }
                } else if (one.getAsInstance() != null) {
                    System.out.println("instance of " + name(one.getAsInstance().getInstanceClassName()));
                    System.out.println("  bytes " + one.getAsInstance().readRecord().getFieldValues().length);
                    for (Iterator<HeapField> fields = one.getAsInstance().readFields().iterator(); fields.hasNext();) {
                        System.out.println("  field " + value(fields.next()));
                    }
                } else if (one.getAsObjectArray() != null) {
                    long[] elements = one.getAsObjectArray().readRecord().getElementIds();
                    System.out.println("object array " + java.util.Arrays.toString(elements));
                } else {
                    HprofRecord.HeapDumpRecord.ObjectRecord.PrimitiveArrayDumpRecord record = one.getAsPrimitiveArray().readRecord();
                    String shown = record.getClass().getSimpleName() + " of " + record.getSize();
                    if (record instanceof HprofRecord.HeapDumpRecord.ObjectRecord.PrimitiveArrayDumpRecord.CharArrayDump) {
                        shown += " " + name(new String(
                                ((HprofRecord.HeapDumpRecord.ObjectRecord.PrimitiveArrayDumpRecord.CharArrayDump) record).getArray()));
                    }
                    System.out.println(shown);
                }
            }
        }
    }
}
