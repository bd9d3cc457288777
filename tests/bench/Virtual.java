import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What virtual threads get done that hardly do anything but wait for each other (JDK 21 and later).
 *
 * <ul>
 *   <li>lock: 24 threads take a fair lock in turn, for a microsecond; a step is one take.
 *   <li>pool: 24 threads take one of four things, kept under a fair lock with its condition; a step is one take.
 *   <li>queue: 500 pairs hand an object to each other and back over SynchronousQueues; a step is there and back.  All are
 *       there before one begins: the JDK's scheduler lets those that are started later wait for ever.
 *   <li>tasks: threads that compute for a microsecond and end; a step is one thread.
 * </ul>
 *
 * <pre>java Virtual lock|pool|queue|tasks SECONDS</pre>
 *
 * <p>Prints "steps N seconds X p99 US": what was done in that time after a second of warming up, and how long a step takes
 * of which one in a hundred takes longer, in microseconds (queue and tasks: 0, not measured).
 */
public final class Virtual {
    private static final int FRAMES = 12; // below what each thread does, as a server has them
    private static final int THREADS = 24, PAIRS = 500, THINGS = 4, BATCH = 10_000;
    private static final int KEPT = 1 << 16; // durations of each thread, the last ones

    private static volatile boolean stop;
    private static volatile boolean counting;
    private static volatile CountDownLatch begun;
    private static volatile int sink;

    private static final ReentrantLock LOCK = new ReentrantLock(true);
    private static final Condition FREE = LOCK.newCondition();
    private static int things = THINGS;

    private interface Step {
        void take() throws Exception;
    }

    /** One thread's part; counts for itself. */
    private static final class Part {
        long steps;
        final long[] took = new long[KEPT];

        void repeat(Step step, int depth) throws Exception {
            if (depth > 0) {
                repeat(step, depth - 1);
                return;
            }
            while (!stop) {
                long began = System.nanoTime();
                step.take();
                if (counting)
                    took[(int) (steps++ % KEPT)] = System.nanoTime() - began;
            }
        }
    }

    private Virtual() { }

    private static void compute(int turns) {
        int x = turns;
        for (int i = 0; i < turns; i++)
            x = x * 31 + i;
        sink = x;
    }

    private static void takeLock() {
        LOCK.lock();
        try {
            compute(200);
        } finally {
            LOCK.unlock();
        }
        compute(2000);
    }

    private static void takeThing() throws InterruptedException {
        LOCK.lock();
        try {
            while (things == 0)
                FREE.await();
            things--;
        } finally {
            LOCK.unlock();
        }
        compute(1000);
        LOCK.lock();
        try {
            things++;
            FREE.signal();
        } finally {
            LOCK.unlock();
        }
    }

    /** With a time limit: the other one may have stopped. */
    private static void thereAndBack(SynchronousQueue<Object> there, SynchronousQueue<Object> back) throws Exception {
        if (there.offer(LOCK, 1, TimeUnit.SECONDS))
            back.poll(1, TimeUnit.SECONDS);
    }

    private static void start(ThreadFactory factory, Part part, Step step) {
        factory.newThread(() -> {
            try {
                begun.countDown();
                begun.await();
                part.repeat(step, FRAMES);
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }).start();
    }

    private static Part[] startAll(ThreadFactory factory, String kind) {
        Part[] parts = new Part[kind.equals("queue") ? PAIRS : THREADS];
        begun = new CountDownLatch(kind.equals("queue") ? 2 * PAIRS : THREADS);
        for (int i = 0; i < parts.length; i++) {
            parts[i] = new Part();
            if (!kind.equals("queue")) {
                start(factory, parts[i], kind.equals("lock") ? Virtual::takeLock : Virtual::takeThing);
                continue;
            }
            SynchronousQueue<Object> there = new SynchronousQueue<>(), back = new SynchronousQueue<>();
            start(factory, parts[i], () -> thereAndBack(there, back));
            start(factory, new Part(), () -> {
                if (there.poll(1, TimeUnit.SECONDS) != null)
                    back.offer(LOCK, 1, TimeUnit.SECONDS);
            });
        }
        return parts;
    }

    private static long tasks(ThreadFactory factory, double seconds) throws Exception {
        long n = 0, end = System.nanoTime() + (long) (seconds * 1e9);
        while (System.nanoTime() < end) {
            Thread[] threads = new Thread[BATCH];
            for (int i = 0; i < BATCH; i++) {
                threads[i] = factory.newThread(() -> compute(300));
                threads[i].start();
            }
            for (Thread t : threads)
                t.join();
            n += BATCH;
        }
        return n;
    }

    public static void main(String[] args) throws Exception {
        String kind = args[0];
        double seconds = Double.parseDouble(args[1]);
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        ThreadFactory factory = (ThreadFactory) Class.forName("java.lang.Thread$Builder").getMethod("factory").invoke(builder);
        if (kind.equals("tasks")) {
            tasks(factory, 1);
            long began = System.nanoTime(), n = tasks(factory, seconds);
            System.out.printf("steps %d seconds %.3f p99 0%n", n, (System.nanoTime() - began) / 1e9);
            return;
        }
        Part[] parts = startAll(factory, kind);
        begun.await();
        Thread.sleep(1000);
        counting = true;
        long began = System.nanoTime();
        Thread.sleep((long) (seconds * 1000));
        counting = false;
        double took = (System.nanoTime() - began) / 1e9;
        long n = Arrays.stream(parts).mapToLong(p -> p.steps).sum();
        long[] all = Arrays.stream(parts).flatMapToLong(p -> Arrays.stream(p.took).limit(Math.min(p.steps, KEPT))).sorted().toArray();
        long p99 = kind.equals("queue") || all.length == 0 ? 0 : all[(int) (all.length * 0.99)];
        stop = true;
        System.out.printf("steps %d seconds %.3f p99 %.1f%n", n, took, p99 / 1e3);
        System.exit(0);
    }
}
