/** gridkit's fork of the heap library. It keeps one root of an object, whatever the dump has, so roots are not asked for. */
final class GridKit extends HeapWalker {
}
