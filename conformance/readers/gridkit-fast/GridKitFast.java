import java.io.File;
import java.io.IOException;
import java.util.List;
import org.netbeans.lib.profiler.heap.Heap;
import org.netbeans.lib.profiler.heap.HeapFactory;
import org.netbeans.lib.profiler.heap.Instance;

/** gridkit's fork of the heap library, in the mode that keeps no index of instances. */
final class GridKitFast extends HeapWalker {
    @Override
    Heap open(File dump) throws IOException {
        return HeapFactory.createFastHeap(dump);
    }

    @Override
    Iterable<Instance> instances(Heap heap) {
        return heap.getAllInstances();
    }

    /** Its summary counts nothing. */
    @Override
    public List<String> counts() {
        return List.of("classes", "instances", "object_arrays", "primitive_arrays");
    }
}
