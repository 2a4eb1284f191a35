/** Threads whose names are hostile to a text format. */
public final class Names {
    public static void main(String[] arguments) throws InterruptedException {
        StringBuilder longest = new StringBuilder();
        for (int i = 0; i < 1200; i++) {
            longest.append((char) ('a' + i % 26));
        }
        String[] names = {"", "with \"quotes\"", "a\", group=\"b\")", "tab\there", "\u00fc\u20ac\ud83d\ude00", "nul\0here", "two\nlines",
            longest.toString()};
        for (String name : names) {
            Thread thread = new Thread(name);
            thread.start();
            thread.join();
        }
    }
}
