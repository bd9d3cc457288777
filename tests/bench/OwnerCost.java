/**
 * Threads that block on locks whose owners compute: what it costs to look at these owners.
 *
 * <p>Each thread takes one of LOCKS locks, computes in it, gives it back and computes outside. All of
 * it is a fixed number of steps and of turns, so a round is always the same work.
 *
 * <ul>
 *   <li>monitor: synchronized. Whoever runs when a monitor is given back may take it first, so fewer
 *       turns block than find it taken.
 *   <li>fair: a fair ReentrantLock. It goes to who waits longest, so nearly each turn parks.
 * </ul>
 *
 * <pre>java OwnerCost monitor|fair THREADS LOCKS TURNS ROUNDS</pre>
 *
 * <p>TURNS of all threads together. The first fifth of the rounds warms up. Prints "rounds_per_s X
 * cpu_ms N seconds N": the median of the rest by the clock, their processor time a round, of the
 * whole process (its clock has ticks of 10 ms); and the time of all rounds, the first included.
 */
import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.locks.ReentrantLock;

public final class OwnerCost {
    private static final int STEPS_INSIDE = 30_000;
    private static final int STEPS_OUTSIDE = 1_000;

    private static boolean monitor;

    private static final class Account {
        private final ReentrantLock lock = new ReentrantLock(true);
        private long sum = 88172645463325252L;

        /** Some frames, so that there is something to see. */
        void book(int steps) {
            if (monitor) {
                synchronized (this) {
                    sum = interest(sum, steps);
                }
            } else {
                lock.lock();
                try {
                    sum = interest(sum, steps);
                } finally {
                    lock.unlock();
                }
            }
        }

        long interest(long x, int steps) {
            return compute(x, steps);
        }
    }

    private static long compute(long x, int steps) {
        for (int i = 0; i < steps; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        return x;
    }

    private static final class Worker extends Thread {
        private final CyclicBarrier barrier;
        private final Account[] accounts;
        private final int turns;
        private final int rounds;
        long own;

        Worker(int number, CyclicBarrier barrier, Account[] accounts, int turns, int rounds) {
            super("worker-" + number);
            this.barrier = barrier;
            this.accounts = accounts;
            this.turns = turns;
            this.rounds = rounds;
            own = number + 1;
        }

        @Override
        public void run() {
            try {
                for (int r = 0; r < rounds; r++) {
                    barrier.await();
                    for (int i = 0; i < turns; i++) {
                        accounts[(int) ((own >>> 8) & 0xffff) % accounts.length].book(STEPS_INSIDE);
                        own = compute(own, STEPS_OUTSIDE);
                    }
                    barrier.await();
                }
            } catch (InterruptedException | BrokenBarrierException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private static double median(double[] values) {
        Arrays.sort(values);
        return values[values.length / 2];
    }

    public static void main(String[] args) throws Exception {
        monitor = args[0].equals("monitor");
        int threads = Integer.parseInt(args[1]);
        Account[] accounts = new Account[Integer.parseInt(args[2])];
        int turns = Integer.parseInt(args[3]) / threads;
        int rounds = Integer.parseInt(args[4]);
        int warm = rounds / 5;
        Arrays.setAll(accounts, i -> new Account());
        CyclicBarrier barrier = new CyclicBarrier(threads + 1);
        for (int i = 0; i < threads; i++) {
            new Worker(i, barrier, accounts, turns, rounds).start();
        }
        OperatingSystemMXBean os =
                (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        double[] ns = new double[rounds - warm];
        long cpu = 0;
        long start = System.nanoTime();
        for (int r = 0; r < rounds; r++) {
            long cpuBefore = os.getProcessCpuTime();
            long began = System.nanoTime();
            barrier.await();
            barrier.await();
            if (r >= warm) {
                ns[r - warm] = System.nanoTime() - began;
                cpu += os.getProcessCpuTime() - cpuBefore;
            }
        }
        System.out.printf("rounds_per_s %.3f cpu_ms %.3f seconds %.3f%n", 1e9 / median(ns),
                cpu / 1e6 / (rounds - warm), (System.nanoTime() - start) / 1e9);
    }
}
