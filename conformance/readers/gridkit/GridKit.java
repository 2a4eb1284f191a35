/** gridkit's fork of the heap library. */
final class GridKit extends HeapWalker {
    @Override
    public String name() {
        return "gridkit hprof-heap";
    }

    @Override
    public String version() {
        return "0.16";
    }

    @Override
    public String bugs() {
        return "https://github.com/aragozin/heaplib/issues";
    }
}
