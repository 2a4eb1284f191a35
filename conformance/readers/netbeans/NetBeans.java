import java.util.List;

/** The heap library of the NetBeans profiler, from which VisualVM's descends. */
final class NetBeans extends HeapWalker {
    @Override
    public List<String> counts() {
        return withRoots("classes", "instances", "object_arrays", "primitive_arrays", "objects");
    }
}
