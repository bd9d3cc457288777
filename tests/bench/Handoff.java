import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * How long a lock takes from one thread to the next, in the slow case.
 *
 * <p>Each round A holds the lock until B, `frames` deep, has been blocked on it for 150 us; the
 * figure is the time from just before A's release to B's first instruction inside. Whatever a
 * profiler does between the two, it does while the user's lock is not free. The first fifth of the
 * rounds is dropped, as is a round in which B did not block within 20 ms. Both threads spin
 * between rounds, so it wants two cores.
 *
 * <pre>java -Xss4m Handoff.java monitor|lock FRAMES ROUNDS</pre>
 *
 * <p>Prints "p10_us X p50_us X rounds N".
 */
public final class Handoff {
    private static final long HOLD_NS = 150_000;
    private static final long PATIENCE_NS = 20_000_000;

    private static final Object MONITOR = new Object();
    private static final ReentrantLock LOCK = new ReentrantLock();

    private static boolean monitor;
    private static volatile int held;
    private static volatile int done;
    private static volatile boolean failed;
    private static volatile long inside;

    /** B, going down to where it takes the lock. */
    private static void descend(int frames) {
        if (frames > 0) {
            descend(frames - 1);
        } else if (monitor) {
            synchronized (MONITOR) {
                inside = System.nanoTime();
            }
        } else {
            LOCK.lock();
            inside = System.nanoTime();
            LOCK.unlock();
        }
    }

    private static void b(int frames, int rounds) {
        try {
            for (int round = 1; round <= rounds; round++) {
                while (held != round) {
                    Thread.onSpinWait();
                }
                descend(frames);
                done = round;
            }
        } catch (Throwable e) {
            failed = true;
            throw e;
        }
    }

    private static boolean blocked(Thread b) {
        return monitor ? b.getState() == Thread.State.BLOCKED : LOCK.hasQueuedThread(b);
    }

    /**
     * A's side of a round, inside the lock: when it was about to let go, or 0 if B was late. HotSpot
     * lets B spin before it blocks, sometimes longer than a fixed time of holding would last.
     */
    private static long hold(Thread b, int round) {
        held = round;
        if (!spin(PATIENCE_NS, () -> blocked(b))) {
            return 0;
        }
        spin(HOLD_NS, () -> false);
        return System.nanoTime();
    }

    private static boolean spin(long ns, BooleanSupplier until) {
        long end = System.nanoTime() + ns;
        while (!until.getAsBoolean()) {
            if (System.nanoTime() > end) {
                return false;
            }
            Thread.onSpinWait();
        }
        return true;
    }

    private static long round(Thread b, int round) {
        long released;
        if (monitor) {
            synchronized (MONITOR) {
                released = hold(b, round);
            }
        } else {
            LOCK.lock();
            released = hold(b, round);
            LOCK.unlock();
        }
        while (done != round && !failed) {
            Thread.onSpinWait();
        }
        return released == 0 ? -1 : inside - released;
    }

    public static void main(String[] args) throws InterruptedException {
        if (args.length != 3 || !args[0].matches("monitor|lock")) {
            System.err.println("usage: Handoff monitor|lock FRAMES ROUNDS");
            System.exit(2);
        }
        monitor = args[0].equals("monitor");
        int frames = Integer.parseInt(args[1]);
        int rounds = Integer.parseInt(args[2]);
        // run(), its lambda, b() and descend(0) are frames, too.
        Thread b = new Thread(() -> b(Math.max(0, frames - 4), rounds), "B");
        b.setDaemon(true);
        b.start();
        long[] latencies = new long[rounds];
        int n = 0;
        for (int round = 1; round <= rounds && !failed; round++) {
            long latency = round(b, round);
            if (latency >= 0 && round > rounds / 5) {
                latencies[n++] = latency;
            }
        }
        if (n == 0) {
            System.err.println("Handoff: B never blocked");
            System.exit(1);
        }
        latencies = Arrays.copyOf(latencies, n);
        Arrays.sort(latencies);
        System.out.printf("p10_us %.2f p50_us %.2f rounds %d%n", latencies[n / 10] / 1e3,
                latencies[n / 2] / 1e3, n);
    }
}
