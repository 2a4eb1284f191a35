import java.util.List;

/** A program with value classes, a preview of JDK 28. The VM stores small values in the field or the array that holds them. */
public final class Values implements Program.Content {
    value static class Small {
        short first;
        byte second;

        Small(int first, int second) {
            this.first = (short) first;
            this.second = (byte) second;
        }
    }

    static final class Holder {
        Small small = new Small(0x1122, 0x33);
        int after = 7;
    }

    @Override
    public void make(List<Object> kept) {
        kept.add(new Holder());
        kept.add(new Small[] {new Small(0x4455, 0x66), null, new Small(0x7788, -1)});
    }

    @Override
    public void say(Program.Facts facts) {
        facts.fact("class", "Values$Holder", 1);
        facts.fact("field", "Values$Holder", "after", "00000007");
        facts.fact("refers", "Values$Holder", "small", "Values$Small", "112233");
        facts.fact("refers", "[LValues$Small;", 0, "Values$Small", "445566");
        facts.fact("refers", "[LValues$Small;", 2, "Values$Small", "7788ff");
    }

    public static void main(String[] arguments) throws Exception {
        Program.run(new Values());
    }
}
