import java.util.Map;

/** jhat of JDK 8, without its web server. */
final class Jhat extends HatWalker {
    @Override
    public Map<String, String> unsupported() {
        return Map.of("gzip", "opens plain files only", "version-1.0.3", "knows Java's own versions",
                "several-heap-dumps", "shows one heap dump of a file", "no-heap-dump", "a browser of a heap");
    }
}
