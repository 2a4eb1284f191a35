import java.io.File;
import java.util.List;
import org.openjdk.jol.heap.HeapDumpReader;

/** Prints the classes, instances and arrays that JOL visits. */
class ShowJol extends HeapDumpReader {
    ShowJol(File dump) throws java.io.IOException {
        super(dump);
    }

    @Override
    protected void visitClass(long id, String name, List<Integer> references, int idSize) {
        System.out.println("class 0x" + Long.toHexString(id));
    }

    @Override
    protected void visitInstance(long id, long classId, byte[] bytes) {
        System.out.println("instance 0x" + Long.toHexString(id) + " of 0x" + Long.toHexString(classId));
    }

    @Override
    protected void visitPrimArray(long id, String type, int length, byte[] bytes) {
        System.out.println("array 0x" + Long.toHexString(id) + " of " + length + " " + type);
    }

    public static void main(String[] arguments) throws Exception {
        System.out.println(new ShowJol(new File(arguments[0])).parse().size() + " objects");
    }
}
