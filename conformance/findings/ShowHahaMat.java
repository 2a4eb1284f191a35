import java.io.File;
import java.util.HashMap;
import java.util.Map;
import org.eclipse.mat.parser.internal.SnapshotFactory;
import org.eclipse.mat.snapshot.ISnapshot;
import org.eclipse.mat.snapshot.model.Field;
import org.eclipse.mat.snapshot.model.IClass;
import org.eclipse.mat.snapshot.model.IInstance;
import org.eclipse.mat.snapshot.model.IObject;
import org.eclipse.mat.util.VoidProgressListener;

/** Prints what the HPROF code of MAT, as HAHA has it, gives of a dump. */
class ShowHahaMat {
    static String ascii(String name) {
        StringBuilder shown = new StringBuilder();
        name.chars().forEach(c -> shown.append(c > 31 && c < 127 ? String.valueOf((char) c) : String.format("\\u%04x", c)));
        return shown.toString();
    }

    public static void main(String[] arguments) throws Exception {
        Map<String, String> options = new HashMap<>();
        options.put("keep_unreachable_objects", "true");
        VoidProgressListener listener = new VoidProgressListener() {
            @Override
            public void sendUserMessage(Severity severity, String message, Throwable exception) {
                if (severity != Severity.INFO) {
                    System.out.println("notice: " + ascii(message));
                }
            }
        };
        ISnapshot snapshot = new SnapshotFactory().openSnapshot(new File(arguments[0]), options, listener);
        for (IClass one : snapshot.getClasses()) {
            System.out.println("class 0x" + Long.toHexString(one.getObjectAddress()) + " " + ascii(one.getName()));
            for (Field field : one.getStaticFields()) {
                System.out.println("  static " + ascii(field.getName()) + " = " + ascii(String.valueOf(field.getValue())));
            }
            for (int number : one.getObjectIds()) {
                IObject object = snapshot.getObject(number);
                System.out.println("object 0x" + Long.toHexString(object.getObjectAddress()) + " of " + ascii(one.getName()));
                if (object instanceof IInstance) {
                    for (Field field : ((IInstance) object).getFields()) {
                        System.out.println("  field " + ascii(field.getName()) + " = " + ascii(String.valueOf(field.getValue())));
                    }
                }
            }
        }
    }
}
