import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** More of everything than 16 bits count, and wide classes. Values count up, so that the dump packs well. */
public final class Large implements Program.Content {
    private static final int LENGTH = 70000; // of arrays and of a chain
    private static final int SURROGATES = 0xd800; // the first half of a pair, which is for Odd.java
    private static final int LOCALS = 16; // of each frame
    private static final int FRAMES = 4160;
    private static final int CLASSES_OF_NAMES = 100;
    private static final int NAMES = 700; // of each of these classes
    private static final int FIELDS = 300; // of a wide class
    private static final String TYPES = "ZCFDBSIJL"; // one after the other; L is a String

    private static final Object[] NODES = new Object[LENGTH];
    private static final CountDownLatch DEEP = new CountDownLatch(1);
    private String text;

    static final class Node {
        int number;
        Node next;
    }

    /** Of the classes that are written here. */
    private static final class Loader extends ClassLoader {
        Class<?> define(String name, byte[] bytes) throws ClassNotFoundException {
            defineClass(name, bytes, 0, bytes.length);
            return Class.forName(name, true, this); // a class that is not linked is not dumped
        }
    }

    /** A class file of Java 5, whose methods need no stack maps. */
    private static final class ClassFile {
        private final ByteArrayOutputStream poolBytes = new ByteArrayOutputStream();
        private final DataOutputStream pool = new DataOutputStream(poolBytes);
        private final ByteArrayOutputStream fieldBytes = new ByteArrayOutputStream();
        private final DataOutputStream fields = new DataOutputStream(fieldBytes);
        private final ByteArrayOutputStream codeBytes = new ByteArrayOutputStream();
        private final DataOutputStream code = new DataOutputStream(codeBytes);
        private int entries = 1;
        private int numberOfFields;
        private final int name;
        private final int parent;

        ClassFile(String name, String parent) throws IOException {
            this.name = reference(7, utf8(name));
            this.parent = reference(7, utf8(parent));
            code.writeByte(0x2a); // aload_0
            code.writeByte(0xb7); // invokespecial
            code.writeShort(member(10, this.parent, "<init>", "()V"));
        }

        private int utf8(String text) throws IOException {
            pool.writeByte(1);
            pool.writeUTF(text);
            return entries++;
        }

        /** An entry that has the numbers of others: a class, a string, a name and type, a field, a method. */
        private int reference(int tag, int... others) throws IOException {
            pool.writeByte(tag);
            for (int one : others) {
                pool.writeShort(one);
            }
            return entries++;
        }

        private int member(int tag, int owner, String called, String type) throws IOException {
            return reference(tag, owner, reference(12, utf8(called), utf8(type)));
        }

        private int constant(char type, int n) throws IOException {
            if (type == 'L') {
                return reference(8, utf8("value " + n));
            }
            boolean isWide = type == 'J' || type == 'D';
            pool.writeByte(isWide ? type == 'J' ? 5 : 6 : type == 'F' ? 4 : 3);
            if (isWide) {
                pool.writeLong(bits(type, n));
            } else {
                pool.writeInt((int) bits(type, n));
            }
            entries += isWide ? 2 : 1;
            return entries - (isWide ? 2 : 1);
        }

        void field(String called, String type) throws IOException {
            start(0, called, type);
            fields.writeShort(0); // attributes
        }

        private void start(int access, String called, String type) throws IOException {
            fields.writeShort(access);
            fields.writeShort(utf8(called));
            fields.writeShort(utf8(type));
            numberOfFields++;
        }

        void staticField(String called, int n) throws IOException {
            start(8, called, typeOf(n));
            fields.writeShort(1);
            fields.writeShort(utf8("ConstantValue"));
            fields.writeInt(2);
            fields.writeShort(constant(TYPES.charAt(n % TYPES.length()), n));
        }

        /** The constructor sets it. */
        void fieldWithValue(String called, int n) throws IOException {
            char type = TYPES.charAt(n % TYPES.length());
            field(called, typeOf(n));
            code.writeByte(0x2a); // aload_0
            code.writeByte(type == 'J' || type == 'D' ? 0x14 : 0x13); // ldc2_w, ldc_w
            code.writeShort(constant(type, n));
            code.writeByte(0xb5); // putfield
            code.writeShort(member(9, name, called, typeOf(n)));
        }

        private static String typeOf(int n) {
            char type = TYPES.charAt(n % TYPES.length());
            return type == 'L' ? "Ljava/lang/String;" : String.valueOf(type);
        }

        byte[] bytes() throws IOException {
            int constructor = utf8("<init>");
            int type = utf8("()V");
            int codeName = utf8("Code");
            ByteArrayOutputStream whole = new ByteArrayOutputStream();
            DataOutputStream out = new DataOutputStream(whole);
            out.writeInt(0xcafebabe);
            out.writeInt(49); // Java 5
            out.writeShort(entries);
            poolBytes.writeTo(out);
            out.writeShort(0x21); // public, and super
            out.writeShort(name);
            out.writeShort(parent);
            out.writeShort(0); // interfaces
            out.writeShort(numberOfFields);
            fieldBytes.writeTo(out);
            out.writeShort(1);
            out.writeShort(1); // a public method
            out.writeShort(constructor);
            out.writeShort(type);
            out.writeShort(1);
            out.writeShort(codeName);
            out.writeInt(codeBytes.size() + 13);
            out.writeShort(3); // of the stack
            out.writeShort(1); // local
            out.writeInt(codeBytes.size() + 1);
            codeBytes.writeTo(out);
            out.writeByte(0xb1); // return
            out.writeInt(0); // neither handlers nor attributes
            out.writeShort(0); // attributes
            return whole.toByteArray();
        }
    }

    /** The value of a field as it is in the dump, in the last bytes. */
    private static long bits(char type, int n) {
        switch (type) {
            case 'Z':
                return 1;
            case 'C':
                return 'A' + n; // no half of a surrogate pair, which is for Odd.java
            case 'F':
                return Float.floatToIntBits(-0.5f - n);
            case 'D':
                return Double.doubleToLongBits(0.25 + n);
            default:
                return -0x0102030405060708L * (n + 1);
        }
    }

    private static String hex(char type, int n) {
        int digits = type == 'Z' || type == 'B' ? 2 : type == 'C' || type == 'S' ? 4 : type == 'F' || type == 'I' ? 8 : 16;
        return String.format("%016x", bits(type, n)).substring(16 - digits);
    }

    private static void makeClasses(List<Object> kept) throws Exception {
        Loader loader = new Loader();
        for (int c = 0; c < CLASSES_OF_NAMES; c++) {
            String name = "Large$Names" + c;
            ClassFile file = new ClassFile(name, "java/lang/Object");
            for (int n = 0; n < NAMES; n++) {
                file.field("many$" + (c * NAMES + n), "B");
            }
            kept.add(loader.define(name, file.bytes()));
        }
        ClassFile statics = new ClassFile("Large$Statics", "java/lang/Object");
        ClassFile wide = new ClassFile("Large$Wide", "java/lang/Object");
        ClassFile wider = new ClassFile("Large$Wider", "Large$Wide");
        for (int n = 0; n < FIELDS; n++) {
            statics.staticField("s" + n, n);
            wide.fieldWithValue("w" + n, n);
            wider.fieldWithValue("x" + n, FIELDS + n);
        }
        kept.add(loader.define("Large$Statics", statics.bytes()));
        for (Class<?> one : new Class<?>[] {loader.define("Large$Wide", wide.bytes()), loader.define("Large$Wider", wider.bytes())}) {
            kept.add(one.getConstructor().newInstance());
            kept.add(one.getConstructor().newInstance());
        }
    }

    /** Each frame holds other nodes, and uses them when it returns. */
    private static int hold(int at) {
        if (at == FRAMES * LOCALS) {
            DEEP.countDown();
            try {
                Thread.sleep(Long.MAX_VALUE);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return 0;
        }
        Node a = (Node) NODES[at];
        Node b = (Node) NODES[at + 1];
        Node c = (Node) NODES[at + 2];
        Node d = (Node) NODES[at + 3];
        Node e = (Node) NODES[at + 4];
        Node f = (Node) NODES[at + 5];
        Node g = (Node) NODES[at + 6];
        Node h = (Node) NODES[at + 7];
        Node i = (Node) NODES[at + 8];
        Node j = (Node) NODES[at + 9];
        Node k = (Node) NODES[at + 10];
        Node l = (Node) NODES[at + 11];
        Node m = (Node) NODES[at + 12];
        Node n = (Node) NODES[at + 13];
        Node o = (Node) NODES[at + 14];
        Node p = (Node) NODES[at + 15];
        int sum = hold(at + LOCALS);
        sum += a.number + b.number + c.number + d.number + e.number + f.number + g.number + h.number;
        return sum + i.number + j.number + k.number + l.number + m.number + n.number + o.number + p.number;
    }

    @Override
    public void make(List<Object> kept) throws Exception {
        byte[] bytes = new byte[LENGTH];
        char[] chars = new char[LENGTH];
        int[] ints = new int[LENGTH];
        StringBuilder counted = new StringBuilder();
        for (int n = 0; n < LENGTH; n++) {
            bytes[n] = (byte) (n + 1);
            chars[n] = (char) ((n + 1) % SURROGATES);
            ints[n] = n + 1;
            Node node = new Node();
            node.number = n;
            NODES[n] = node;
            if (n > 0) {
                ((Node) NODES[n - 1]).next = node;
            }
            if (counted.length() < LENGTH) {
                counted.append(n).append(' ');
            }
        }
        text = counted.toString();
        kept.add(bytes);
        kept.add(chars);
        kept.add(ints);
        kept.add(this);
        makeClasses(kept);
        Thread deep = new Thread(null, () -> hold(0), "deep", 64 << 20);
        deep.setDaemon(true);
        deep.start();
        DEEP.await();
    }

    @Override
    public void say(Program.Facts facts) {
        facts.fact("class", "Large$Node", LENGTH);
        facts.fact("chain", "Large$Node", "number", "next", LENGTH);
        facts.fact("members", "[Ljava/lang/Object;", "Large$Node", LENGTH);
        facts.fact("frames", "Large$Node", FRAMES * LOCALS);
        facts.fact("counting", "[B", LENGTH);
        facts.fact("counting", "[C", LENGTH);
        facts.fact("counting", "[I", LENGTH);
        facts.fact("text", text);
        facts.fact("strings", "many$", CLASSES_OF_NAMES * NAMES);
        facts.fact("loaded", "Large$Statics", 1);
        facts.fact("class", "Large$Wide", 2);
        facts.fact("class", "Large$Wider", 2);
        for (int n = 0; n < FIELDS; n++) {
            char type = TYPES.charAt(n % TYPES.length());
            char ofWider = TYPES.charAt((FIELDS + n) % TYPES.length());
            if (type != 'L') {
                facts.fact("static", "Large$Statics", "s" + n, hex(type, n));
                facts.fact("field", "Large$Wide", "w" + n, hex(type, n));
                facts.fact("field", "Large$Wider", "w" + n, hex(type, n));
            }
            if (ofWider != 'L') {
                facts.fact("field", "Large$Wider", "x" + n, hex(ofWider, FIELDS + n));
            }
        }
    }

    public static void main(String[] arguments) throws Exception {
        Program.run(new Large());
    }
}
