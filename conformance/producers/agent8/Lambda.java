/** The least program that shows how the HPROF agent of JDK 8 meets a lambda with cpu=times. */
public final class Lambda {
    public static void main(String[] arguments) {
        Runnable lambda = () -> System.out.println("called");
        lambda.run();
    }
}
