/**
 * What it costs to take a lock that nobody else wants, and to give it back.
 *
 * <pre>java HoldCost ROUNDS PAIRS</pre>
 *
 * <p>Prints "block N method N lock N fresh N nothing N": nanoseconds of one pair by a synchronized
 * block, by a synchronized method, by a ReentrantLock's lock and unlock, by a synchronized block on
 * an object that was just made and that no other thread can see, whose locking the JIT compiler removes
 * if it can; and of a step without any. Each is the fastest of ROUNDS rounds of PAIRS pairs, which
 * neighbours disturb least. All are called through the same interface, so that none is compiled
 * into the loop, where the compiler would join the locked regions of several turns.
 */
import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;

public final class HoldCost {
    private interface Step {
        void run();
    }

    private static final class Counter {
        long n;

        synchronized void add() {
            n++;
        }
    }

    private static final String[] NAMES = {"block", "method", "lock", "fresh", "nothing"};
    private static final Object MONITOR = new Object();
    private static final Counter COUNTER = new Counter();
    private static final ReentrantLock LOCK = new ReentrantLock();
    private static long n;

    private static double time(int pairs, Step step) {
        long began = System.nanoTime();
        for (int i = 0; i < pairs; i++)
            step.run();
        return (double) (System.nanoTime() - began) / pairs;
    }

    public static void main(String[] args) {
        int rounds = Integer.parseInt(args[0]);
        int pairs = Integer.parseInt(args[1]);
        Step[] steps = {
            () -> {
                synchronized (MONITOR) {
                    n++;
                }
            },
            COUNTER::add,
            () -> {
                LOCK.lock();
                n++;
                LOCK.unlock();
            },
            () -> {
                synchronized (new Counter()) {
                    n++;
                }
            },
            () -> n++,
        };
        double[] best = new double[steps.length];
        Arrays.fill(best, Double.MAX_VALUE);
        for (int r = 0; r < rounds; r++)
            for (int s = 0; s < steps.length; s++)
                best[s] = Math.min(best[s], time(pairs, steps[s]));
        for (int s = 0; s < steps.length; s++)
            System.out.printf("%s %.1f%s", NAMES[s], best[s], s + 1 < steps.length ? " " : "\n");
    }
}
