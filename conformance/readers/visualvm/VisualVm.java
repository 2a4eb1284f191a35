import java.util.List;

/** The heap library of VisualVM. */
final class VisualVm extends HeapWalker {
    @Override
    public String name() {
        return "VisualVM";
    }

    @Override
    public String version() {
        return "2.1.4";
    }

    @Override
    public String bugs() {
        return "https://github.com/oracle/visualvm/issues";
    }

    /** Its summary needs an instance of java.lang.System. */
    @Override
    public List<String> counts() {
        return List.of("classes", "instances", "object_arrays", "primitive_arrays");
    }
}
