/* Counts under load, as the JVM itself counts them for each thread (ThreadMXBean): contended enters of a monitor,
 * waits, parks.  Between two readings of its counts a thread does nothing that is not asked about.
 *
 *   Hot    four threads fight for a monitor, whose owner parks for 20 us with it
 *   Short  two threads, holds so short that spinning wins most of the time: what the JVM counts as blocked is
 *          asked; how often a thread found the monitor taken, too, and nobody can know that
 *   Pass   two threads hand a turn to each other, 1,500 times, by notify
 *   lock   four threads fight for a ReentrantLock
 *
 * The JVM keeps these counts for platform threads alone; the other kinds have Monitors.rounds. */
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

public class Counts {
    static class Hot { }
    static class Short { }
    static class Pass { }

    static final ThreadMXBean jvm = ManagementFactory.getThreadMXBean();
    static final int THREADS = 4;
    static int enough = 2500;

    interface Work {
        void run(int me) throws Exception;
    }

    static ThreadInfo counts() {
        return jvm.getThreadInfo(Thread.currentThread().getId());
    }

    /** {blocked, waited} of each thread. */
    static long[][] count(String name, int n, Work work) throws Exception {
        long[][] counts = new long[n][2];
        CountDownLatch ready = new CountDownLatch(n), over = new CountDownLatch(n);
        Thread[] threads = new Thread[n];
        for (int i = 0; i < n; i++) {
            int me = i;
            threads[i] = Sync.start(name + i, () -> {
                ready.countDown();
                ready.await();
                ThreadInfo before = counts();
                work.run(me);
                ThreadInfo after = counts();
                counts[me][0] = after.getBlockedCount() - before.getBlockedCount();
                counts[me][1] = after.getWaitedCount() - before.getWaitedCount();
                over.countDown();
            });
        }
        over.await();
        for (Thread t : threads)
            t.join();
        return counts;
    }

    static void spin(long ns) {
        for (long until = System.nanoTime() + ns; System.nanoTime() < until;)
            Thread.onSpinWait();
    }

    static long sum(long[][] counts, int which) {
        long sum = 0;
        for (long[] c : counts)
            sum += c[which];
        return sum;
    }

    static void hot() throws Exception {
        Object lock = new Hot();
        long[][] counts = count("hot-", THREADS, me -> {
            for (int i = 0; i < enough * 6 / 5; i++) {
                synchronized (lock) {
                    LockSupport.parkNanos(20_000); // an owner that does not run is not spun for
                }
            }
        });
        Known.is("blocked-count", "on=Counts$Hot", sum(counts, 0));
        for (int i = 0; i < THREADS; i++)
            Known.is("blocked-count", "thread=hot-" + i + " on=Counts$Hot", counts[i][0]);
    }

    static void brief() throws Exception {
        Object lock = new Short();
        boolean[] taken = new boolean[1];
        long[] found = new long[2];
        long[][] counts = count("short-", 2, me -> {
            for (int i = 0; i < 20_000; i++) {
                if (taken[0])
                    found[me]++;
                synchronized (lock) {
                    taken[0] = true;
                    spin(1_000);
                    taken[0] = false;
                }
            }
        });
        Known.is("blocked-count", "on=Counts$Short", sum(counts, 0));
        Known.is("spun-count", "on=Counts$Short", found[0] + found[1]);
    }

    static void pass() throws Exception {
        Object lock = new Pass();
        int[] turn = new int[1];
        int times = enough * 3 / 5;
        long[] waits = new long[2];
        count("pass-", 2, me -> {
            for (int i = 0; i < times; i++)
                synchronized (lock) {
                    while (turn[0] % 2 != me) {
                        waits[me]++;
                        lock.wait();
                    }
                    turn[0]++;
                    lock.notify();
                }
        });
        for (int i = 0; i < 2; i++) {
            Known.is("wait-count", "thread=pass-" + i + " on=Counts$Pass", waits[i]);
            if (waits[i] > 0)
                Known.is("wakers", "thread=pass-" + i + " on=Counts$Pass", "pass-" + (1 - i));
        }
    }

    static void lock() throws Exception {
        ReentrantLock lock = new ReentrantLock();
        long[][] counts = count("lock-", THREADS, me -> {
            for (int i = 0; i < enough / 2; i++) {
                lock.lock();
                Thread.yield();
                Thread.yield();
                lock.unlock();
            }
        });
        for (int i = 0; i < THREADS; i++)
            Known.is("park-count", "thread=lock-" + i + " on=java.util.concurrent.locks.ReentrantLock$NonfairSync"
                    + " of=java.util.concurrent.locks.ReentrantLock$NonfairSync", counts[i][1]);
    }

    public static void main(String[] args) throws Exception {
        Known.mode(args);
        enough = args.length > 1 ? 200 : 2500;
        counts();
        hot();
        brief();
        pass();
        lock();
        Known.noDeadlock();
        Known.print();
    }
}
