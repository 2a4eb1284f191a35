import java.io.IOException;

/** Loads a class, which it links and makes an instance of once there is input. */
public final class Late {
    static final class Linked {
        final int value = 7;
        final Object self = this;
    }

    static Object linked;

    public static void main(String[] arguments) throws ClassNotFoundException, IOException {
        Class<?> type = Class.forName("Late$Linked", false, Late.class.getClassLoader());
        System.out.println("ready");
        System.in.read();
        linked = new Linked();
        System.out.println(type.getName());
    }
}
