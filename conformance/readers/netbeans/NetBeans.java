/** The heap library of the NetBeans profiler, from which VisualVM's descends. */
final class NetBeans extends HeapWalker {
    @Override
    public String name() {
        return "NetBeans profiler";
    }

    @Override
    public String version() {
        return "RELEASE250";
    }

    @Override
    public String bugs() {
        return "https://github.com/apache/netbeans/issues";
    }
}
