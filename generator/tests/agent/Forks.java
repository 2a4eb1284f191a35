import java.io.IOException;

/** Starts a process that prints the files that it has got. */
public final class Forks {
    public static void main(String[] arguments) throws IOException, InterruptedException {
        Process process = new ProcessBuilder("/bin/ls", "-l", "/proc/self/fd").inheritIO().start();
        System.out.println("ended " + process.waitFor());
    }
}
