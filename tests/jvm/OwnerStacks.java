/* What owners execute while others wait for their lock: OwnerStacks MODE [MS]
 *
 *     monitors  platform threads own and want a monitor
 *     virtual   the owners are virtual threads, which stay on their carriers
 *     fast      the monitors are fresh objects each time: their first contention
 *     queue     a lock of java.util.concurrent (AbstractQueuedSynchronizer)
 *     virtual-queue  the same, with virtual owners and one virtual rival
 *
 * Each owner takes a lock in `own`, and in it goes through phases, each a method of its own: one computes in a loop
 * that is compiled, one walks deep into a recursion, one sleeps, one parks, one calls native code again and again, one
 * is interpreted, one calls through interfaces that are inlined.  Rivals want the same lock all the time.
 * At the end it prints for each hold
 *
 *     phase THREAD HASH METHOD FROM TO
 *
 * in System.nanoTime: the method was executed at the earliest after FROM, when the one before it had ended, and at
 * the latest until TO, when the one behind it had begun. */
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.AbstractQueuedSynchronizer;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongUnaryOperator;

public class OwnerStacks {
    static volatile boolean stop;
    static volatile long sink;

    static final class Lock { }

    /** Its rivals park. */
    static final class LockByQueue extends AbstractQueuedSynchronizer {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean tryAcquire(int n) {
            boolean got = compareAndSetState(0, 1);
            if (got)
                setExclusiveOwnerThread(Thread.currentThread());
            return got;
        }

        @Override
        protected boolean tryRelease(int n) {
            setExclusiveOwnerThread(null);
            setState(0);
            return true;
        }
    }

    static final class Phase {
        final int hash;
        final String method;
        final long from;
        long to;

        Phase(int hash, String method, long from) {
            this.hash = hash;
            this.method = method;
            this.from = from;
        }
    }

    /** An owner, and what it has done. */
    static final class Owner {
        final List<Phase> phases = new ArrayList<>();
        final String name;
        Phase last;
        long ended;

        Owner(String name) {
            this.name = name;
        }

        void begin(int hash) {
            ended = System.nanoTime();
            last = null;
        }

        /** Called first in each phase, by its own method. */
        void enter(int hash, String method) {
            if (last != null)
                last.to = System.nanoTime();
            last = new Phase(hash, method, ended);
        }

        /** Called last. */
        void leave() {
            ended = System.nanoTime();
            phases.add(last);
        }

        void end() {
            last.to = System.nanoTime();
        }

        // --- phases ---------------------------------------------------------------------------------

        void compute(int hash) {
            enter(hash, "compute");
            long x = hash;
            for (int i = 0; i < 30_000; i++)
                x = x * 31 + (x >>> 7);
            sink = x;
            leave();
        }

        long down(int depth) {
            if (depth == 0) {
                long until = System.nanoTime() + 50_000, x = 0;
                while (System.nanoTime() < until)
                    x++;
                return x;
            }
            return down(depth - 1) + 1;
        }

        void recurse(int hash) {
            enter(hash, "recurse");
            sink = down(60);
            leave();
        }

        void sleep(int hash) throws InterruptedException {
            enter(hash, "sleep");
            Thread.sleep(1);
            leave();
        }

        void park(int hash) {
            enter(hash, "park");
            LockSupport.parkNanos(200_000);
            leave();
        }

        void callNatives(int hash) {
            enter(hash, "callNatives");
            long x = 0;
            for (int i = 0; i < 200; i++)
                x += new Object().hashCode() + Thread.currentThread().getStackTrace().length;
            sink = x;
            leave();
        }

        void inline(int hash) {
            enter(hash, "inline");
            LongUnaryOperator[] f = {x -> x * 3, x -> x ^ 5, x -> x + 7};
            long x = hash;
            for (int i = 0; i < 20_000; i++)
                x = f[i % 3].applyAsLong(x);
            sink = x;
            leave();
        }

        void phases(int hash) throws InterruptedException {
            begin(hash);
            compute(hash);
            recurse(hash);
            sleep(hash);
            park(hash);
            callNatives(hash);
            inline(hash);
            end();
        }

        void own(Object lock) throws InterruptedException {
            int hash = System.identityHashCode(lock);
            if (lock instanceof LockByQueue) {
                ((LockByQueue) lock).acquire(1);
                phases(hash);
                ((LockByQueue) lock).release(1);
            } else
                synchronized (lock) {
                    phases(hash);
                }
        }
    }

    static volatile Object[] locks;

    static void want(int i) throws InterruptedException {
        while (!stop) {
            Object lock = locks[i];
            if (lock instanceof LockByQueue) {
                ((LockByQueue) lock).acquire(1);
                ((LockByQueue) lock).release(1);
            } else
                synchronized (lock) {
                    sink++;
                }
            Thread.sleep(0, 300_000);
        }
    }

    static Thread start(String name, boolean virtual, Sync.Body body) throws Exception {
        Thread t = virtual ? Sync.virtual(name, body) : Sync.thread(name, body);
        t.start();
        return t;
    }

    public static void main(String[] args) throws Exception {
        boolean virtual = args[0].startsWith("virtual"), fresh = args[0].equals("fast");
        boolean queue = args[0].endsWith("queue");
        long ms = args.length > 1 ? Long.parseLong(args[1]) : 1500;
        int n = 2;
        locks = new Object[n];
        for (int i = 0; i < n; i++)
            locks[i] = queue ? new LockByQueue() : new Lock();
        List<Owner> owners = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            int k = i;
            Owner o = new Owner("owner-" + i);
            owners.add(o);
            threads.add(start(o.name, virtual, () -> {
                while (!stop) {
                    o.own(locks[k]);
                    if (fresh)
                        locks[k] = new Lock();
                }
            }));
            for (int r = 0; r < 2; r++)
                threads.add(start("rival-" + i + "-" + r, virtual && queue && r == 1, () -> want(k)));
        }
        Thread.sleep(ms);
        stop = true;
        for (Thread t : threads)
            t.join();
        StringBuilder out = new StringBuilder();
        for (Owner o : owners)
            for (Phase p : o.phases)
                out.append("phase ").append(o.name).append(' ').append(String.format("%08X", p.hash)).append(' ')
                        .append(p.method).append(' ').append(p.from).append(' ').append(p.to).append('\n');
        System.out.print(out);
    }
}
