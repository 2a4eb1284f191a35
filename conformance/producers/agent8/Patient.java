/** Allocated, waited for and found at work under names that Names.java gives it. */
public final class Patient implements Runnable {
    static Patient last;
    Patient[] others = new Patient[2];
    long sum;

    @Override
    public void run() {
        last = new Patient();
        others[0] = last;
        for (long i = 200_000_000L; i > 0; i--) {
            sum = sum * 6364136223846793005L + i;
        }
        synchronized (this) {
            try {
                wait(10);
            } catch (InterruptedException e) {
                sum++;
            }
        }
    }
}
