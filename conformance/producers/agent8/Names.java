import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;

/** Threads and classes whose names are hostile to a text format. */
public final class Names {
    /** A copy of the class Patient under another name, which no compiler accepts. */
    static final class Renamer extends ClassLoader {
        Class<?> define(String name) throws IOException {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            try (InputStream in = Names.class.getResourceAsStream("Patient.class")) {
                rename(new DataInputStream(in), new DataOutputStream(bytes), name);
            }
            return defineClass(null, bytes.toByteArray(), 0, bytes.size());
        }

        private static void rename(DataInputStream in, DataOutputStream out, String name) throws IOException {
            out.writeLong(in.readLong()); // the magic number and the version
            int count = in.readUnsignedShort();
            out.writeShort(count);
            for (int i = 1; i < count; i++) {
                int tag = in.readUnsignedByte();
                out.writeByte(tag);
                if (tag == 1) {
                    out.writeUTF(in.readUTF().replace("Patient", name));
                    continue;
                }
                boolean wide = tag == 5 || tag == 6;
                byte[] rest = new byte[wide ? 8 : tag == 7 || tag == 8 || tag == 16 ? 2 : tag == 15 ? 3 : 4];
                in.readFully(rest);
                out.write(rest);
                i += wide ? 1 : 0;
            }
            int next;
            while ((next = in.read()) >= 0) {
                out.writeByte(next);
            }
        }
    }

    static Object[] kept;

    public static void main(String[] arguments) throws Exception {
        StringBuilder longest = new StringBuilder();
        for (int i = 0; i < 1200; i++) {
            longest.append((char) ('a' + i % 26));
        }
        String[] names = {"", "with \"quotes\"", "a\", group=\"b\")", "tab\there", "\u00fc\u20ac\ud83d\ude00", "nul\0here", "two\nlines",
            "\nfirst and last\n", longest.toString(), longest + "\n"};
        for (String name : names) {
            Thread thread = new Thread(name);
            thread.start();
            thread.join();
        }
        String[] classes = {"Two\nlines", "a blank", longest.toString()};
        kept = new Object[classes.length];
        for (int i = 0; i < classes.length; i++) {
            Runnable one = (Runnable) new Renamer().define(classes[i]).newInstance();
            one.run();
            kept[i] = one;
        }
    }
}
