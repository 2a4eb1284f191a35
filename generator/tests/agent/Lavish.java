import java.io.FileInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Takes all descriptors that a process may have; or starts 2000 threads, one after the other, and waits for input. */
public final class Lavish {
    static final List<FileInputStream> opened = new ArrayList<>();
    static int ended;

    static void takeDescriptors() {
        try {
            while (true) {
                opened.add(new FileInputStream("/dev/null"));
            }
        } catch (IOException e) {
            System.out.println(e.getMessage());
        }
    }

    static void startThreads() throws IOException, InterruptedException {
        for (int i = 0; i < 2000; i++) {
            Thread thread = new Thread(() -> ended++);
            thread.start();
            thread.join();
        }
        System.out.println("ready");
        while (System.in.read() >= 0) {
            ended++;
        }
    }

    public static void main(String[] arguments) throws IOException, InterruptedException {
        if (arguments[0].equals("threads")) {
            startThreads();
        } else {
            takeDescriptors();
        }
    }
}
