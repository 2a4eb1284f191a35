import THE.HEAP.*;
import java.io.File;
import java.util.List;

/** Prints what the heap library of VisualVM, NetBeans or gridkit gives of a dump. `show` names its package. */
class ShowNetBeans {
    static String name(String name) { // in ASCII
        StringBuilder shown = new StringBuilder();
        name.chars().forEach(c -> shown.append(c > 31 && c < 127 ? String.valueOf((char) c) : String.format("\\u%04x", c)));
        return shown.toString();
    }

    static String id(Instance one) {
        return one == null ? "null" : "0x" + Long.toHexString(one.getInstanceId());
    }

    static String value(FieldValue value, Object typed) {
        Field field = value.getField();
        String shown = value instanceof ObjectFieldValue ? id(((ObjectFieldValue) value).getInstance()) : value.getValue();
        if (typed instanceof Float) {
            shown += String.format(" (by name 0x%08x)", Float.floatToRawIntBits((Float) typed));
        } else if (typed instanceof Double) {
            shown += String.format(" (by name 0x%016x)", Double.doubleToRawLongBits((Double) typed));
        }
        return field.getType().getName() + " " + name(field.getName()) + " = " + name(shown);
    }

    public static void main(String[] arguments) throws Exception {
        Heap heap = HeapFactory.createHeap(new File(arguments[0]));
        for (Object each : heap.getAllClasses()) {
            JavaClass one = (JavaClass) each;
            System.out.println("class 0x" + Long.toHexString(one.getJavaClassId()) + " " + name(one.getName()));
            for (Object value : one.getStaticFieldValues()) {
                System.out.println("  static " + value((FieldValue) value, null));
            }
            for (Object object : one.getInstances()) {
                Instance instance = (Instance) object;
                System.out.println("instance " + id(instance) + " of " + name(one.getName()));
                for (Object value : instance.getFieldValues()) {
                    String field = ((FieldValue) value).getField().getName();
                    System.out.println("  field " + value((FieldValue) value, instance.getValueOfField(field)));
                }
                if (instance instanceof ObjectArrayInstance) {
                    List<?> values = ((ObjectArrayInstance) instance).getValues();
                    for (Object element : values) {
                        System.out.println("  element " + id((Instance) element));
                    }
                } else if (instance instanceof PrimitiveArrayInstance) {
                    System.out.println("  elements " + name(((PrimitiveArrayInstance) instance).getValues().toString()));
                }
            }
        }
        for (Object each : heap.getGCRoots()) {
            GCRoot root = (GCRoot) each;
            System.out.println("root " + root.getKind() + " " + id(root.getInstance()));
        }
    }
}
