/** gridkit's fork of the heap library. */
final class GridKit extends HeapWalker {
}
