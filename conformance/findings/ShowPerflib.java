import com.squareup.haha.perflib.*;
import com.squareup.haha.perflib.io.MemoryMappedFileBuffer;
import java.io.File;
import java.util.Map;

/** Prints what Android's perflib gives of a dump. */
class ShowPerflib {
    static String name(String name) { // in ASCII
        StringBuilder shown = new StringBuilder();
        String.valueOf(name).chars()
                .forEach(c -> shown.append(c > 31 && c < 127 ? String.valueOf((char) c) : String.format("\\u%04x", c)));
        return shown.toString();
    }

    static String id(Instance one) {
        return one == null ? "null" : "0x" + Long.toHexString(one.getUniqueId());
    }

    static String value(Field field, Object value) {
        String shown = value instanceof Instance ? id((Instance) value) : String.valueOf(value);
        return field.getType() + " " + name(field.getName()) + " = " + name(shown);
    }

    static void printElements(ArrayInstance array) {
        for (Object element : array.getValues()) {
            String shown = element instanceof Instance ? id((Instance) element) : name(String.valueOf(element));
            System.out.println("  element " + shown);
        }
    }

    public static void main(String[] arguments) throws Exception {
        Snapshot snapshot = new HprofParser(new MemoryMappedFileBuffer(new File(arguments[0]))).parse();
        for (RootObj one : snapshot.getGCRoots()) {
            System.out.println("root " + one.getRootType() + " 0x" + Long.toHexString(one.getUniqueId()));
        }
        for (Heap heap : snapshot.getHeaps()) {
            System.out.println("heap " + heap.getName());
            for (ClassObj one : heap.getClasses()) {
                System.out.println("class " + id(one) + " " + name(one.getClassName()) + " extends " + id(one.getSuperClassObj()));
                for (Map.Entry<Field, Object> each : one.getStaticFieldValues().entrySet()) {
                    System.out.println("  static " + value(each.getKey(), each.getValue()));
                }
            }
            for (Instance one : heap.getInstances()) {
                System.out.println(one.getClass().getSimpleName() + " " + id(one) + " of " + id(one.getClassObj()));
                if (one instanceof ClassInstance) {
                    for (ClassInstance.FieldValue each : ((ClassInstance) one).getValues()) {
                        System.out.println("  field " + value(each.getField(), each.getValue()));
                    }
                } else {
                    printElements((ArrayInstance) one);
                }
            }
        }
    }
}
