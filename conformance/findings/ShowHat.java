import THE.HAT.model.*;
import THE.HAT.parser.Reader;
import java.lang.reflect.Array;
import java.util.Enumeration;

/** Prints what jhat, or the parser of OpenJDK's tests, gives of a dump. `show` names its package. */
class ShowHat {
    static String name(String name) { // in ASCII
        StringBuilder shown = new StringBuilder();
        name.chars().forEach(c -> shown.append(c > 31 && c < 127 ? String.valueOf((char) c) : String.format("\\u%04x", c)));
        return shown.toString();
    }

    static String value(JavaField field, JavaThing value) {
        return field.getSignature() + " " + name(field.getName()) + " = " + name(String.valueOf(value));
    }

    public static void main(String[] arguments) throws Exception {
        Snapshot snapshot = Reader.readFile(arguments[0], true, 0);
        snapshot.resolve(false);
        for (Enumeration<JavaHeapObject> all = snapshot.getThings(); all.hasMoreElements();) {
            JavaHeapObject one = all.nextElement();
            System.out.println("0x" + Long.toHexString(one.getId()) + " of " + name(one.getClazz().getName()));
            if (one instanceof JavaClass) {
                System.out.println("  class " + name(((JavaClass) one).getName()));
                for (JavaStatic each : ((JavaClass) one).getStatics()) {
                    System.out.println("  static " + value(each.getField(), each.getValue()));
                }
            } else if (one instanceof JavaObject) {
                JavaThing[] values = ((JavaObject) one).getFields();
                JavaField[] fields = one.getClazz().getFieldsForInstance();
                for (int i = 0; i < values.length && i < fields.length; i++) {
                    System.out.println("  field " + value(fields[i], values[i]));
                }
            } else if (one instanceof JavaObjectArray) {
                for (JavaThing element : ((JavaObjectArray) one).getElements()) {
                    System.out.println("  element " + name(String.valueOf(element)));
                }
            } else if (one instanceof JavaValueArray) {
                Object elements = ((JavaValueArray) one).getElements();
                for (int i = 0; i < ((JavaValueArray) one).getLength(); i++) {
                    System.out.println("  element " + name(String.valueOf(Array.get(elements, i))));
                }
            }
        }
    }
}
