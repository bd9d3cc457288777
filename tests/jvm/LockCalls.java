/* Known numbers of calls of java.util.concurrent, for the group "locks".
 *
 * "locker-0" to "locker-2" lock and unlock one ReentrantLock 100 times each and fail one tryLock(); the main
 * thread puts 50 times into an ArrayBlockingQueue, "taker" takes as often; a pool of two threads,
 * "pool-1-thread-*", runs 20 tasks submitted by main, which gets each; one task throws. */
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.*;
import java.util.concurrent.locks.ReentrantLock;

public class LockCalls {
    static final ReentrantLock lock = new ReentrantLock();
    static final ReentrantLock held = new ReentrantLock();
    static int sum;

    public static void main(String[] args) throws Exception {
        held.lock();
        Thread[] lockers = new Thread[3];
        for (int i = 0; i < 3; i++)
            lockers[i] = Sync.start("locker-" + i, () -> {
                for (int n = 0; n < 100; n++) {
                    lock.lock(); // site: lock
                    sum++;
                    lock.unlock();
                }
                if (held.tryLock())
                    throw new IllegalStateException();
            });
        for (Thread t : lockers)
            t.join();
        BlockingQueue<Integer> queue = new ArrayBlockingQueue<>(2);
        Thread taker = Sync.start("taker", () -> {
            for (int n = 0; n < 50; n++)
                sum += queue.take();
        });
        for (int n = 0; n < 50; n++)
            queue.put(n);
        taker.join();
        ExecutorService pool = Executors.newFixedThreadPool(2);
        List<Future<Integer>> futures = new ArrayList<>();
        for (int n = 0; n < 20; n++) {
            int k = n;
            futures.add(pool.submit(() -> {
                if (k == 7)
                    throw new IllegalStateException();
                return k;
            }));
        }
        for (Future<Integer> f : futures)
            try {
                sum += f.get();
            } catch (ExecutionException e) {
                sum += 1000;
            }
        pool.shutdown();
        pool.awaitTermination(10, TimeUnit.SECONDS);
        System.out.println("sum " + sum);
    }
}
