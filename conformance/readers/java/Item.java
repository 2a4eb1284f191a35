import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** An item of a digest, PROTOCOL.md 1.1: parts, each after its length. */
final class Item {
    private static final Map<String, String> PRIMITIVES = Map.of("boolean", "Z", "char", "C", "float", "F", "double", "D",
            "byte", "B", "short", "S", "int", "I", "long", "J");

    private final ByteArrayOutputStream encoded = new ByteArrayOutputStream();

    Item(String word) {
        part(word.getBytes(StandardCharsets.US_ASCII));
    }

    /** None for a root of no object. */
    static Item root(String kind, long object) {
        return object == 0 ? null : new Item("root").part(kind.getBytes(StandardCharsets.US_ASCII)).number(object);
    }

    Item part(byte[] bytes) {
        encoded.write(ByteBuffer.allocate(4).putInt(bytes.length).array(), 0, 4);
        encoded.write(bytes, 0, bytes.length);
        return this;
    }

    Item number(long value) {
        return part(ByteBuffer.allocate(8).putLong(value).array());
    }

    Item type(int type) {
        return part(new byte[] {(byte) type});
    }

    Item text(String text) {
        return part(units(text));
    }

    /** The name of a class, in slashes or dots, as `[C` or as `char[]`. */
    Item className(String name) {
        return text(canonical(name));
    }

    byte[] encoded() {
        return encoded.toByteArray();
    }

    static byte[] units(String text) {
        ByteBuffer units = ByteBuffer.allocate(2 * text.length());
        for (int i = 0; i < text.length(); i++) {
            units.putChar(text.charAt(i));
        }
        return units.array();
    }

    static String canonical(String name) {
        String element = name.replace('.', '/');
        StringBuilder dimensions = new StringBuilder();
        while (element.endsWith("[]")) {
            element = element.substring(0, element.length() - 2);
            dimensions.append('[');
        }
        if (dimensions.length() == 0 || element.startsWith("[")) {
            return dimensions + element;
        }
        return dimensions + PRIMITIVES.getOrDefault(element, "L" + element + ";");
    }

    /** A value as the dump has it: big-endian, in the width of its type. */
    static byte[] value(Object value) {
        if (value instanceof Boolean) {
            return new byte[] {(byte) ((Boolean) value ? 1 : 0)};
        } else if (value instanceof Byte) {
            return new byte[] {(Byte) value};
        } else if (value instanceof Character) {
            return ByteBuffer.allocate(2).putChar((Character) value).array();
        } else if (value instanceof Short) {
            return ByteBuffer.allocate(2).putShort((Short) value).array();
        } else if (value instanceof Integer) {
            return ByteBuffer.allocate(4).putInt((Integer) value).array();
        } else if (value instanceof Float) {
            return ByteBuffer.allocate(4).putInt(Float.floatToRawIntBits((Float) value)).array();
        } else if (value instanceof Long) {
            return ByteBuffer.allocate(8).putLong((Long) value).array();
        } else if (value instanceof Double) {
            return ByteBuffer.allocate(8).putLong(Double.doubleToRawLongBits((Double) value)).array();
        }
        throw new IllegalArgumentException("no value of a field: " + value);
    }

    /** The same for a value of a type that the reader gives as text: the bits of a NaN are lost. */
    static byte[] value(String text, int type) {
        switch (type) {
            case 4:
                return value(text.equals("true") || text.equals("1"));
            case 5:
                return value(text.charAt(0));
            case 6:
                return value(Float.valueOf(text));
            case 7:
                return value(Double.valueOf(text));
            case 8:
                return value(Integer.decode(text).byteValue());
            case 9:
                return value(Short.valueOf(text));
            case 10:
                return value(Integer.valueOf(text));
            default:
                return value(Long.valueOf(text));
        }
    }

    /** The basic type of a value that is no reference. */
    static int typeOf(Object value) {
        return value instanceof Boolean ? 4 : value instanceof Character ? 5 : value instanceof Float ? 6
                : value instanceof Double ? 7 : value instanceof Byte ? 8 : value instanceof Short ? 9
                : value instanceof Integer ? 10 : value instanceof Long ? 11 : 2;
    }
}
