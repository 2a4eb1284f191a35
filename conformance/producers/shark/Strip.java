import java.io.File;
import shark.HprofPrimitiveArrayStripper;

/** Copies a dump with Shark's HprofWriter: the same records, the elements of primitive arrays replaced. */
final class Strip {
    public static void main(String[] files) throws Exception {
        new HprofPrimitiveArrayStripper().stripPrimitiveArrays(new File(files[0]), new File(files[1]));
    }
}
