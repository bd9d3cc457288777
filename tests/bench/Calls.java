/**
 * What one call costs that is recorded but does not block, and a program that never blocks.
 *
 * <pre>java Calls ROUNDS</pre>
 *
 * <p>Prints "notify N unpark_park N semaphore N lock N start_join N cpu N": nanoseconds of one
 * Object.notify without a waiter, of an unpark of oneself and the park that takes the permit, of a
 * Semaphore's acquire and release, of a ReentrantLock's lock and unlock, of a thread's start and
 * join, and of one step of a computation that calls none of them. Each is
 * the fastest of ROUNDS rounds, which neighbours disturb least.
 */
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

public final class Calls {
    private interface Step {
        void run() throws Exception;
    }

    private static final Object MONITOR = new Object();
    private static final Semaphore SEMAPHORE = new Semaphore(1);
    private static final ReentrantLock LOCK = new ReentrantLock();
    private static long state = 88172645463325252L;

    private static double best(int rounds, int times, Step step) throws Exception {
        double best = Double.MAX_VALUE;
        for (int r = 0; r < rounds; r++) {
            long began = System.nanoTime();
            for (int i = 0; i < times; i++)
                step.run();
            best = Math.min(best, (double) (System.nanoTime() - began) / times);
        }
        return best;
    }

    public static void main(String[] args) throws Exception {
        int rounds = Integer.parseInt(args[0]);
        Thread self = Thread.currentThread();
        double notify, park, semaphore, lock, start, cpu;
        synchronized (MONITOR) {
            notify = best(rounds, 20_000, MONITOR::notify);
        }
        park = best(rounds, 20_000, () -> {
            LockSupport.unpark(self);
            LockSupport.park();
        });
        semaphore = best(rounds, 20_000, () -> {
            SEMAPHORE.acquire();
            SEMAPHORE.release();
        });
        lock = best(rounds, 20_000, () -> {
            LOCK.lock();
            LOCK.unlock();
        });
        start = best(Math.min(rounds, 5), 200, () -> {
            Thread t = new Thread(() -> { });
            t.start();
            t.join();
        });
        cpu = best(rounds, 200_000, () -> {
            state ^= state << 13;
            state ^= state >>> 7;
            state ^= state << 17;
        });
        System.out.printf("notify %.1f unpark_park %.1f semaphore %.1f lock %.1f start_join %.0f cpu %.3f%n",
                notify, park, semaphore, lock, start, cpu);
    }
}
