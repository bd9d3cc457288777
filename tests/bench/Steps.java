import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Small steps of one kind each, as they are ordered: what duel.c compares two libraries by.
 *
 * <p>"KIND N" on the input is a step of N operations; the answer is "done", or "done NS" where the figure is not the
 * processor time but a time of its own, or "none" where this JDK has no such thing. Ends with the input.
 *
 * <pre>java -Xss4m -Djdk.virtualThreadScheduler.parallelism=1 Steps</pre>
 */
public final class Steps {
    private interface Step {
        long run(int n) throws Exception;
    }

    private static final long NO_FIGURE = -1;
    private static final int DEEP = 50;

    private static final Object MONITOR = new Object();
    private static final Semaphore SEMAPHORE = new Semaphore(1);
    private static final ReentrantLock LOCK = new ReentrantLock();
    private static final ExecutorService POOL = Executors.newFixedThreadPool(1, Steps::daemon);
    private static final Map<String, Step> KINDS = new HashMap<>();
    private static final ExecutorService VIRTUAL = virtual();
    private static volatile Object sink;

    static {
        KINDS.put("idle", n -> NO_FIGURE);
        KINDS.put("notify", Steps::notifies);
        KINDS.put("notify_deep", n -> deep(DEEP, n));
        KINDS.put("unpark_park", Steps::parks);
        KINDS.put("semaphore", Steps::semaphores);
        KINDS.put("lock", Steps::locks);
        KINDS.put("block", Steps::blocks);
        KINDS.put("start_join", Steps::starts);
        KINDS.put("interrupted", Steps::interrupted);
        KINDS.put("storm", Steps::storm);
        KINDS.put("pingpong", Steps::pingpong);
        KINDS.put("parkpong", Steps::parkpong);
        KINDS.put("handoff", Steps::handoff);
        KINDS.put("tasks", n -> tasks(POOL, n));
        KINDS.put("object", Steps::objects);
        if (VIRTUAL != null) {
            KINDS.put("virtual", n -> tasks(VIRTUAL, n));
            KINDS.put("virtual_handoff", Steps::handovers);
        }
    }

    private static Thread daemon(Runnable r) {
        Thread t = new Thread(r);
        t.setDaemon(true);
        return t;
    }

    private static ExecutorService virtual() {
        try {
            return (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        } catch (ReflectiveOperationException e) {
            return null; // JDK 17
        }
    }

    private static long notifies(int n) {
        synchronized (MONITOR) {
            for (int i = 0; i < n; i++)
                MONITOR.notify();
        }
        return NO_FIGURE;
    }

    private static long deep(int frames, int n) {
        return frames > 0 ? deep(frames - 1, n) : notifies(n);
    }

    private static long parks(int n) {
        Thread self = Thread.currentThread();
        for (int i = 0; i < n; i++) {
            LockSupport.unpark(self);
            LockSupport.park();
        }
        return NO_FIGURE;
    }

    private static long semaphores(int n) throws InterruptedException {
        for (int i = 0; i < n; i++) {
            SEMAPHORE.acquire();
            SEMAPHORE.release();
        }
        return NO_FIGURE;
    }

    private static long locks(int n) {
        for (int i = 0; i < n; i++) {
            LOCK.lock();
            LOCK.unlock();
        }
        return NO_FIGURE;
    }

    private static long blocks(int n) {
        for (int i = 0; i < n; i++)
            synchronized (MONITOR) {
                sink = null;
            }
        return NO_FIGURE;
    }

    private static long starts(int n) throws InterruptedException {
        for (int i = 0; i < n; i++) {
            Thread t = new Thread(() -> { });
            t.start();
            t.join();
        }
        return NO_FIGURE;
    }

    /** Waits that an interrupt ends at once: two events each, never blocking, and an exception. */
    private static long interrupted(int n) {
        synchronized (MONITOR) {
            for (int i = 0; i < n; i++) {
                Thread.currentThread().interrupt();
                try {
                    MONITOR.wait();
                } catch (InterruptedException expected) {
                    continue;
                }
            }
        }
        return NO_FIGURE;
    }

    /** Four threads do that. */
    private static long storm(int n) throws InterruptedException {
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {
            Object own = new Object();
            threads[i] = new Thread(() -> {
                synchronized (own) {
                    for (int k = 0; k < n / threads.length; k++) {
                        Thread.currentThread().interrupt();
                        try {
                            own.wait();
                        } catch (InterruptedException expected) {
                            continue;
                        }
                    }
                }
            });
            threads[i].start();
        }
        for (Thread t : threads)
            t.join();
        return NO_FIGURE;
    }

    /** Two threads hand a ball over by wait and notify, n times each. */
    private static long pingpong(int n) throws InterruptedException {
        int[] turn = new int[1];
        Thread[] players = new Thread[2];
        for (int i = 0; i < 2; i++) {
            int side = i;
            players[i] = new Thread(() -> play(turn, side, n));
            players[i].start();
        }
        for (Thread t : players)
            t.join();
        return NO_FIGURE;
    }

    private static void play(int[] turn, int side, int n) {
        synchronized (turn) {
            for (int i = 0; i < n; i++) {
                while (turn[0] != side)
                    try {
                        turn.wait();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                turn[0] = 1 - side;
                turn.notify();
            }
        }
    }

    private static volatile int turn;

    /** The same by park and unpark. */
    private static long parkpong(int n) throws InterruptedException {
        Thread self = Thread.currentThread();
        turn = 0;
        Thread other = new Thread(() -> parkplay(self, 1, n));
        other.start();
        parkplay(other, 0, n);
        other.join();
        return NO_FIGURE;
    }

    private static void parkplay(Thread other, int side, int n) {
        for (int i = 0; i < n; i++) {
            while (turn != side)
                LockSupport.park();
            turn = 1 - side;
            LockSupport.unpark(other);
        }
    }

    private static volatile long inside;

    /** From just before a monitor's release to the blocked thread inside, the fastest quarter's end. */
    private static long handoff(int n) throws InterruptedException {
        long[] taken = new long[n];
        CountDownLatch[] begin = new CountDownLatch[n];
        for (int i = 0; i < n; i++)
            begin[i] = new CountDownLatch(1);
        Thread b = new Thread(() -> {
            for (int i = 0; i < n; i++) {
                await(begin[i]);
                synchronized (MONITOR) {
                    inside = System.nanoTime();
                }
            }
        });
        b.start();
        for (int i = 0; i < n; i++) {
            inside = 0;
            long released;
            synchronized (MONITOR) {
                begin[i].countDown();
                while (b.getState() != Thread.State.BLOCKED)
                    Thread.onSpinWait();
                long until = System.nanoTime() + 50_000; // it spins before it blocks
                while (System.nanoTime() < until)
                    Thread.onSpinWait();
                released = System.nanoTime();
            }
            while (inside == 0)
                Thread.onSpinWait();
            taken[i] = inside - released;
        }
        b.join();
        Arrays.sort(taken);
        return taken[n / 4];
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** One task submits them all, so that they run behind one another and nobody blocks by chance. */
    private static long tasks(ExecutorService pool, int n) throws InterruptedException {
        CountDownLatch done = new CountDownLatch(n);
        pool.submit(() -> {
            for (int i = 0; i < n; i++)
                pool.submit(done::countDown);
        });
        done.await();
        return NO_FIGURE;
    }

    private static long handovers(int n) throws InterruptedException {
        SynchronousQueue<Object> queue = new SynchronousQueue<>();
        CountDownLatch done = new CountDownLatch(2);
        VIRTUAL.submit(() -> {
            for (int i = 0; i < n; i++)
                queue.put(queue);
            done.countDown();
            return null;
        });
        VIRTUAL.submit(() -> {
            for (int i = 0; i < n; i++)
                queue.take();
            done.countDown();
            return null;
        });
        done.await();
        return NO_FIGURE;
    }

    private static long objects(int n) {
        for (int i = 0; i < n; i++)
            sink = (i & 1) == 0 ? new Object() : new int[4];
        return NO_FIGURE;
    }

    public static void main(String[] args) throws Exception {
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in));
        for (String order; (order = orders.readLine()) != null;) {
            String[] words = order.split(" ");
            Step step = KINDS.get(words[0]);
            if (step == null) {
                System.out.println("none");
                continue;
            }
            long figure = step.run(Integer.parseInt(words[1]));
            System.out.println(figure < 0 ? "done" : "done " + figure);
        }
    }
}
