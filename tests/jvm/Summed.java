import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Waits that are counted: pairs of threads, t-0 and t-1, t-2 and t-3 ..., hand a token around by park and unpark, and each
 * counts its calls of park at two places, and their time by its own clock. Each 400th of them waits for three milliseconds.
 * Where they are platform threads, they also take one monitor and one fair lock, and the JVM counts for them.
 *
 * <pre>java Summed platform|virtual PAIRS STEPS [stay]</pre>
 *
 * <p>Prints "NAME parks N here H there T ns X waited W blocked B" for each (W, B: as the JVM counts, -1 of virtual ones), then
 * "counted"; stay: and goes on without end before that, with two threads, knot-0 and knot-1, that block each other.
 */
public final class Summed {
    private static final int LONG_EVERY = 400;
    private static final long LONG_NS = 3_000_000;
    private static final Object MONITOR = new Object();
    private static final ReentrantLock FAIR = new ReentrantLock(true);
    private static volatile int read; // how many threads may end
    private static int sink;

    private static final class Pair {
        volatile int turn;
        final Thread[] threads = new Thread[2];
    }

    private static final class Part implements Runnable {
        final Pair pair;
        final int number, me, steps;
        final boolean platform;
        long here, there, ns;
        volatile boolean done;
        volatile long progress;

        Part(Pair pair, int number, int steps, boolean platform) {
            this.pair = pair;
            this.number = number;
            this.me = number % 2;
            this.steps = steps;
            this.platform = platform;
        }

        void parkHere() {
            here++;
            LockSupport.park(pair);
        }

        void parkThere(boolean briefly) {
            there++;
            if (briefly)
                LockSupport.park();
            else
                LockSupport.parkNanos(LONG_NS);
        }

        void park(int step) {
            long began = System.nanoTime();
            if (step % 2 == 0)
                parkHere();
            else
                parkThere(true);
            ns += System.nanoTime() - began;
        }

        void contend() {
            synchronized (MONITOR) {
                for (int i = 0; i < 300; i++)
                    sink = sink * 31 + i;
            }
            FAIR.lock();
            try {
                for (int i = 0; i < 300; i++)
                    sink = sink * 31 + i;
            } finally {
                FAIR.unlock();
            }
        }

        @Override public void run() {
            for (int step = 0; step < steps; step++) {
                while (pair.turn != me)
                    park(step);
                if (step % LONG_EVERY == LONG_EVERY - 1)
                    parkThere(false);
                if (platform)
                    contend();
                pair.turn = 1 - me;
                LockSupport.unpark(pair.threads[1 - me]);
                progress = step;
            }
            done = true;
            while (platform && read <= number) // alive, so that the JVM tells what it counted
                Thread.yield();
        }
    }

    private Summed() { }

    private static void knot(ReentrantLock mine, ReentrantLock other) {
        mine.lock();
        while (!other.isLocked())
            Thread.yield();
        other.lock();
    }

    /** Two threads, each of which wants the lock that the other one has, for ever. */
    private static void startKnot(ThreadFactory factory) {
        ReentrantLock[] locks = {new ReentrantLock(), new ReentrantLock()};
        for (int i = 0; i < 2; i++) {
            ReentrantLock mine = locks[i], other = locks[1 - i];
            Thread t = factory.newThread(() -> knot(mine, other));
            t.setName("knot-" + i);
            t.start();
        }
        while (!locks[0].hasQueuedThreads() || !locks[1].hasQueuedThreads())
            Thread.yield();
    }

    private static ThreadFactory virtual() throws Exception {
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        return (ThreadFactory) Class.forName("java.lang.Thread$Builder").getMethod("factory").invoke(builder);
    }

    private static boolean all(Part[] parts) {
        boolean all = true;
        for (Part p : parts)
            all &= p.done;
        return all;
    }

    public static void main(String[] args) throws Exception {
        boolean platform = args[0].equals("platform");
        int pairs = Integer.parseInt(args[1]), steps = Integer.parseInt(args[2]);
        ThreadFactory factory = platform ? Thread::new : virtual();
        var mx = ManagementFactory.getThreadMXBean();
        mx.getThreadInfo(Thread.currentThread().getId());
        Part[] parts = new Part[2 * pairs];
        Thread[] threads = new Thread[2 * pairs];
        for (int i = 0; i < 2 * pairs; i++) {
            Pair pair = i % 2 == 0 ? new Pair() : parts[i - 1].pair;
            parts[i] = new Part(pair, i, steps, platform);
            threads[i] = pair.threads[i % 2] = factory.newThread(parts[i]);
            threads[i].setName("t-" + i);
        }
        for (Thread t : threads)
            t.start();
        if (args.length > 3) {
            while (parts[0].progress < 1000)
                Thread.yield();
            startKnot(factory);
            System.out.println("going");
        }
        while (!all(parts))
            Thread.sleep(10);
        for (int i = 0; i < threads.length; i++) {
            Part p = parts[i];
            ThreadInfo info = platform ? mx.getThreadInfo(threads[i].getId()) : null;
            System.out.printf("t-%d parks %d here %d there %d ns %d waited %d blocked %d%n", i, p.here + p.there, p.here, p.there, p.ns,
                    info == null ? -1 : info.getWaitedCount(), info == null ? -1 : info.getBlockedCount());
        }
        // One after the other: on 17 those that end at a time contend for their ThreadGroup, which is in no count that was printed.
        for (Thread t : threads) {
            read++;
            t.join();
        }
        System.out.println("counted");
    }
}
