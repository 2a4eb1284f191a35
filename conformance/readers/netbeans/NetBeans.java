/** The heap library of the NetBeans profiler, from which VisualVM's descends. */
final class NetBeans extends HeapWalker {
}
