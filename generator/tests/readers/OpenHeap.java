import java.io.File;
import org.graalvm.visualvm.lib.jfluid.heap.Heap;
import org.graalvm.visualvm.lib.jfluid.heap.HeapFactory;
import org.graalvm.visualvm.lib.jfluid.heap.JavaClass;

/** Does what VisualVM does when it shows a dump: its summary, classes, GC roots and system properties. */
public class OpenHeap {
    public static void main(String[] arguments) throws Exception {
        Heap heap = HeapFactory.createHeap(new File(arguments[0]));
        long objects = 0;
        for (Object each : heap.getAllClasses()) {
            JavaClass type = (JavaClass) each;
            objects += type.getName().isEmpty() ? 0 : type.getInstancesCount();
            type.getAllInstancesSize();
        }
        heap.getSystemProperties();
        System.out.println(objects + " " + heap.getSummary().getTotalLiveInstances() + " " + heap.getGCRoots().size());
    }
}
