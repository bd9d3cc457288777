import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Virtual threads in pairs, each of which hands one number over a SynchronousQueue. At most 500
 * pairs live at a time. Prints the sum of what arrived on standard output; the most memory this
 * process ever had (VmHWM, kB), on standard error.
 */
public class Million {
    public static void main(String[] args) throws Exception {
        int pairs = Integer.parseInt(args[0]) / 2;
        SynchronousQueue<Integer> queue = new SynchronousQueue<>();
        Semaphore room = new Semaphore(500);
        CountDownLatch done = new CountDownLatch(pairs);
        ReentrantLock lock = new ReentrantLock();
        AtomicLong sum = new AtomicLong();
        long[] locked = new long[1];
        for (int i = 0; i < pairs; i++) {
            int n = i;
            room.acquire();
            Thread.ofVirtual().start(() -> {
                try {
                    queue.put(n);
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            });
            Thread.ofVirtual().start(() -> {
                try {
                    int got = queue.take();
                    sum.addAndGet(got);
                    lock.lock();
                    try {
                        locked[0] += got;
                    } finally {
                        lock.unlock();
                    }
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                } finally {
                    room.release();
                    done.countDown();
                }
            });
        }
        done.await();
        System.out.println("sum " + sum + " " + locked[0]);
        for (String line : Files.readAllLines(Path.of("/proc/self/status")))
            if (line.startsWith("VmHWM"))
                System.err.println("peak " + line.replaceAll("[^0-9]", ""));
    }
}
