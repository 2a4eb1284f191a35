import java.io.File;
import org.graalvm.visualvm.lib.jfluid.heap.Heap;
import org.graalvm.visualvm.lib.jfluid.heap.HeapFactory;
import org.graalvm.visualvm.lib.jfluid.heap.JavaClass;

/** What VisualVM's heap library finds in a dump: for each class a line with its instances and its name. */
public class VisualVm {
    public static void main(String[] arguments) throws Exception {
        Heap heap = HeapFactory.createHeap(new File(arguments[0]));
        for (Object each : heap.getAllClasses()) {
            JavaClass type = (JavaClass) each;
            System.out.println(type.getInstancesCount() + " " + type.getName());
        }
    }
}
