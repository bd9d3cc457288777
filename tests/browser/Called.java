/* Calls of methods that a table names, and notifies with nobody there: four of each, in one thread. */
public class Called {
    static final Object lock = new Object();

    static void hold() throws InterruptedException {
        synchronized (lock) {
            lock.wait(20); // inside the tracked call
        }
    }

    static boolean tryIt(int n) {
        return n % 2 == 0;
    }

    static void tick() { }

    static void work() {
        try {
            for (int i = 0; i < 4; i++) {
                hold();
                Thread.sleep(10);
                tryIt(i);
                Thread.sleep(10);
                tick();
                Thread.sleep(10);
                synchronized (lock) {
                    lock.notify();
                }
                Thread.sleep(10);
                synchronized (lock) {
                    lock.notifyAll();
                }
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread worker = new Thread(Called::work, "worker");
        worker.start();
        worker.join();
    }
}
