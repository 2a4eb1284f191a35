import java.nio.ByteBuffer;
import java.util.Arrays;
import shark.HprofRecord.HeapDumpRecord.ObjectRecord.PrimitiveArrayDumpRecord;
import shark.HprofRecord.HeapDumpRecord.ObjectRecord.PrimitiveArrayDumpRecord.BooleanArrayDump;
import shark.HprofRecord.HeapDumpRecord.ObjectRecord.PrimitiveArrayDumpRecord.ByteArrayDump;
import shark.HprofRecord.HeapDumpRecord.ObjectRecord.PrimitiveArrayDumpRecord.CharArrayDump;
import shark.HprofRecord.HeapDumpRecord.ObjectRecord.PrimitiveArrayDumpRecord.DoubleArrayDump;
import shark.HprofRecord.HeapDumpRecord.ObjectRecord.PrimitiveArrayDumpRecord.FloatArrayDump;
import shark.HprofRecord.HeapDumpRecord.ObjectRecord.PrimitiveArrayDumpRecord.IntArrayDump;
import shark.HprofRecord.HeapDumpRecord.ObjectRecord.PrimitiveArrayDumpRecord.LongArrayDump;
import shark.HprofRecord.HeapDumpRecord.ObjectRecord.PrimitiveArrayDumpRecord.ShortArrayDump;
import shark.ValueHolder;

/** Shark's values and arrays as the dump has them. */
final class SharkArrays {
    private SharkArrays() {}

    static byte[] ids(long[] elements, long mask) {
        ByteBuffer bytes = ByteBuffer.allocate(8 * elements.length);
        for (long element : elements) {
            bytes.putLong(element & mask);
        }
        return bytes.array();
    }

    static Object primitive(ValueHolder holder) {
        if (holder instanceof ValueHolder.BooleanHolder) {
            return ((ValueHolder.BooleanHolder) holder).getValue();
        } else if (holder instanceof ValueHolder.ByteHolder) {
            return ((ValueHolder.ByteHolder) holder).getValue();
        } else if (holder instanceof ValueHolder.CharHolder) {
            return ((ValueHolder.CharHolder) holder).getValue();
        } else if (holder instanceof ValueHolder.ShortHolder) {
            return ((ValueHolder.ShortHolder) holder).getValue();
        } else if (holder instanceof ValueHolder.IntHolder) {
            return ((ValueHolder.IntHolder) holder).getValue();
        } else if (holder instanceof ValueHolder.FloatHolder) {
            return ((ValueHolder.FloatHolder) holder).getValue();
        } else if (holder instanceof ValueHolder.LongHolder) {
            return ((ValueHolder.LongHolder) holder).getValue();
        }
        return ((ValueHolder.DoubleHolder) holder).getValue();
    }

    private static int typeOf(PrimitiveArrayDumpRecord array) {
        return array instanceof BooleanArrayDump ? 4 : array instanceof CharArrayDump ? 5 : array instanceof FloatArrayDump ? 6
                : array instanceof DoubleArrayDump ? 7 : array instanceof ByteArrayDump ? 8 : array instanceof ShortArrayDump ? 9
                : array instanceof IntArrayDump ? 10 : 11;
    }

    private static byte[] bytesOf(PrimitiveArrayDumpRecord array) {
        ByteBuffer bytes = ByteBuffer.allocate(8 * array.getSize());
        if (array instanceof BooleanArrayDump) {
            for (boolean one : ((BooleanArrayDump) array).getArray()) {
                bytes.put((byte) (one ? 1 : 0));
            }
        } else if (array instanceof CharArrayDump) {
            for (char one : ((CharArrayDump) array).getArray()) {
                bytes.putChar(one);
            }
        } else if (array instanceof FloatArrayDump) {
            for (float one : ((FloatArrayDump) array).getArray()) {
                bytes.putInt(Float.floatToRawIntBits(one));
            }
        } else if (array instanceof DoubleArrayDump) {
            for (double one : ((DoubleArrayDump) array).getArray()) {
                bytes.putLong(Double.doubleToRawLongBits(one));
            }
        } else if (array instanceof ByteArrayDump) {
            bytes.put(((ByteArrayDump) array).getArray());
        } else if (array instanceof ShortArrayDump) {
            for (short one : ((ShortArrayDump) array).getArray()) {
                bytes.putShort(one);
            }
        } else if (array instanceof IntArrayDump) {
            for (int one : ((IntArrayDump) array).getArray()) {
                bytes.putInt(one);
            }
        } else {
            for (long one : ((LongArrayDump) array).getArray()) {
                bytes.putLong(one);
            }
        }
        return Arrays.copyOf(bytes.array(), bytes.position());
    }

    static Item elements(Item item, PrimitiveArrayDumpRecord array) {
        return item.type(typeOf(array)).part(bytesOf(array));
    }
}
