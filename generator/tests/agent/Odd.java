import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Odd SEED: classes, fields, methods, source files, threads and their groups of any names that the VM takes. */
public final class Odd extends ClassLoader {
    private static final String MEANT = "\t\n\r\"'(),:=@$%<>\\ \u007f\0\u0085\u2028\ufeff\uffff\ud800\udc00";
    private static final List<Object> kept = new ArrayList<>();
    private final Random draw;

    private Odd(long seed) {
        draw = new Random(seed);
    }

    private char letter() {
        switch (draw.nextInt(5)) {
            case 0:
                return (char) draw.nextInt(0x20);
            case 1:
                return (char) draw.nextInt(0x10000);
            case 2:
                return MEANT.charAt(draw.nextInt(MEANT.length()));
            default:
                return (char) (0x20 + draw.nextInt(0x60));
        }
    }

    private String name(String forbidden) {
        StringBuilder text = new StringBuilder();
        for (int left = 1 + draw.nextInt(12); left > 0;) {
            char one = letter();
            if (forbidden.indexOf(one) < 0) {
                text.append(one);
                left--;
            }
        }
        return text.toString();
    }

    /** Its method allocates an instance, and puts it into the static field; frames have a line, or none. */
    private byte[] make() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        String within = draw.nextBoolean() ? "" : name(".;[/") + "/";
        String[] texts = {within + name(".;[/"), "java/lang/Object", name(".;[/"), "Ljava/lang/Object;", "s" + name(".;[/"),
            name(".;[/<>"), "()Ljava/lang/Object;", "Code", "<init>", "()V", "SourceFile", name(""), "LineNumberTable"};
        out.writeInt(0xcafebabe);
        out.writeInt(49);
        out.writeShort(21);
        for (String text : texts) {
            out.writeByte(1);
            out.writeUTF(text);
        }
        int[][] constants = {{7, 1}, {7, 2}, {12, 5, 4}, {9, 14, 16}, {12, 9, 10}, {10, 15, 18}, {10, 14, 18}}; // 14 to 20
        for (int[] constant : constants) {
            out.writeByte(constant[0]);
            for (int i = 1; i < constant.length; i++) {
                out.writeShort(constant[i]);
            }
        }
        int[] head = {0x21, 14, 15, 0, 2, 1, 3, 4, 0, 9, 5, 4, 0, 2}; // a field, a static one; two methods follow
        for (int one : head) {
            out.writeShort(one);
        }
        method(out, 1, 9, 10, new int[] {0x2a, 0xb7, 0, 19, 0xb1}, -1);
        method(out, 9, 6, 7, new int[] {0xbb, 0, 14, 0x59, 0xb7, 0, 20, 0x59, 0xb3, 0, 17, 0xb0}, draw.nextInt(0x20000) - 0x10000);
        out.writeShort(1);
        out.writeShort(11);
        out.writeInt(2);
        out.writeShort(12);
        return bytes.toByteArray();
    }

    private static void method(DataOutputStream out, int access, int name, int type, int[] code, int line) throws IOException {
        out.writeShort(access);
        out.writeShort(name);
        out.writeShort(type);
        out.writeShort(1);
        out.writeShort(8);
        out.writeInt(12 + code.length + (line < 0 ? 0 : 12));
        out.writeInt(4 << 16 | 1);
        out.writeInt(code.length);
        for (int one : code) {
            out.writeByte(one);
        }
        out.writeShort(0);
        out.writeShort(line < 0 ? 0 : 1);
        if (line >= 0) {
            out.writeShort(13);
            out.writeInt(6);
            out.writeShort(1);
            out.writeShort(0);
            out.writeShort(line);
        }
    }

    public static void main(String[] arguments) throws Exception {
        Odd loader = new Odd(Long.parseLong(arguments[0]));
        int made = 0;
        while (made < 200) {
            byte[] bytes = loader.make();
            Class<?> fresh;
            try {
                fresh = loader.defineClass(null, bytes, 0, bytes.length);
            } catch (LinkageError | SecurityException e) {
                continue; // a name that there is already
            }
            for (Method method : fresh.getDeclaredMethods()) {
                kept.add(method.invoke(null));
            }
            kept.add(Array.newInstance(fresh, 3));
            made++;
        }
        for (int i = 0; i < 20; i++) {
            Thread thread = new Thread(new ThreadGroup(loader.name("")), () -> kept.add(new Object()), loader.name(""));
            thread.start();
            thread.join();
        }
        System.out.println("made " + made);
    }
}
