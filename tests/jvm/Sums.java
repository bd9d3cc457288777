/* What the JVM counts itself: four threads contend, wait, park and sleep; then each says what its
 * ThreadMXBean says: "sums NAME BLOCKED WAITED", and ends. */
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

public class Sums {
    static final Object monitor = new Object();
    static final ReentrantLock lock = new ReentrantLock();
    static int count, locked; /* under monitor, under lock */
    static volatile int read; /* how many threads may end */

    static void work(int i) throws Exception {
        for (int n = 0; n < 200; n++) {
            synchronized (monitor) {
                count++;
                if (n % 20 == i)
                    Thread.sleep(1);
            }
            synchronized (monitor) {
                monitor.notify();
                if (n % 10 == i)
                    monitor.wait(1);
            }
            lock.lock();
            try {
                locked++;
                if (n % 25 == i)
                    LockSupport.parkNanos(100_000);
            } finally {
                lock.unlock();
            }
        }
    }

    static synchronized void say(String text) {
        System.out.println(text);
    }

    public static void main(String[] args) throws Exception {
        /* The classes that the threads need are loaded here, so that none waits for another to do it. */
        ThreadInfo warm = ManagementFactory.getThreadMXBean().getThreadInfo(Thread.currentThread().getId());
        String[] lines = new String[4];
        Thread[] threads = new Thread[4];
        CyclicBarrier barrier = new CyclicBarrier(1);
        barrier.await();
        for (int i = 0; i < 4; i++) {
            int me = i;
            threads[i] = new Thread(() -> {
                try {
                    work(me);
                } catch (Exception e) {
                    e.printStackTrace();
                }
                ThreadInfo t = ManagementFactory.getThreadMXBean().getThreadInfo(Thread.currentThread().getId());
                lines[me] = "sums " + t.getThreadName() + " " + t.getBlockedCount() + " " + t.getWaitedCount();
                while (read <= me)
                    Thread.yield();
            }, "sum-" + i);
        }
        for (Thread t : threads)
            t.start();
        /* One after the other: on 17 those that end at a time contend for their ThreadGroup, after they have counted. */
        for (Thread t : threads) {
            read++;
            t.join();
        }
        for (String line : lines)
            System.out.println(line);
        System.out.println(warm.getThreadName() + " " + (count + locked));
    }
}
