import java.util.Map;

/** What the tests of OpenJDK read dumps with: jdk.test.lib.hprof. */
final class OpenJdkTest extends HatWalker {
    @Override
    public Map<String, String> unsupported() {
        return Map.of("version-1.0.3", "knows Java's own versions", "several-heap-dumps", "shows one heap dump of a file",
                "no-heap-dump", "for dumps of heaps");
    }
}
