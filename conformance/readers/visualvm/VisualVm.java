import java.util.List;

/** The heap library of VisualVM. */
final class VisualVm extends HeapWalker {
    /** Its summary needs an instance of java.lang.System. */
    @Override
    public List<String> counts() {
        return withRoots("classes", "instances", "object_arrays", "primitive_arrays");
    }
}
