/** A class that is loaded often, and unloaded. */
public final class Passing {
    static Object[] kept = {new Object(), "text"};
    static int number = 42;
    Object self = this;
}
