/* Waits and notifies of a thread that does not own the monitor: each throws at once. */
public class NotOwned {
    public static void main(String[] args) throws InterruptedException {
        Object lock = new Object();
        for (int i = 0; i < 5; i++) {
            try {
                lock.wait(); // site: wait
            } catch (IllegalMonitorStateException e) {
                sum++;
            }
            try {
                lock.notify();
            } catch (IllegalMonitorStateException e) {
                sum++;
            }
        }
        System.out.println(sum);
    }

    static int sum;
}
