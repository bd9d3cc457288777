/* Virtual threads that own monitors while they are unmounted (JDK 24 and later; found by reflection, because the
 * tests are compiled for 17). Every monitor is new: the first who blocks on it meets a lock without an ObjectMonitor.
 *
 *   Unmounted facts ROUNDS      for each way to leave the carrier (KINDS): "h-KIND-i" owns three monitors one inside the other and leaves its carrier so; a platform and two virtual threads block on
 *                               them, in every second round after a collection. "strict" lines.
 *   Unmounted after ROUNDS      "a-i" owned a monitor while it was unmounted, came back and gave it back; then parks
 *                               without it, or has ended. Then "b-i" owns it: platform, virtual and spinning, virtual and
 *                               parked. "strict" lines.
 *   Unmounted storm N HOLDS     N virtual threads take two of many monitors in order and leave their carriers with them,
 *                               until there were so many holds; "hold" lines
 *   Unmounted circle N KIND     N virtual threads "v-i" in a circle: monitors (KIND monitor), ReentrantLocks (lock), the one
 *                               and the other (mixed), or monitors with every other one pinned (pinned) or with v-1 a
 *                               platform thread (platform); "behind" blocks on
 *                               a lock of v-0; "pooled", of an executor, waits for a latch. Prints "ready", stays.
 *   Unmounted circle N KIND M   first M virtual threads begin that park for nothing
 *   Unmounted straight N        the same threads without a circle: the last one sleeps; "beside", a platform thread, blocks on the lock of v-0,
 *                               too; prints "ready", stays */
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

public class Unmounted {
    static final StringBuilder truth = new StringBuilder();
    static volatile long sink;

    static void strict(Object lock, String holder, Thread blocked) {
        synchronized (truth) {
            truth.append("strict ").append(Sync.hash(lock)).append(' ').append(blocked.getName()).append(' ')
                    .append(holder).append('\n');
        }
    }

    static Thread virtual(String name, Sync.Body body) throws Exception {
        Thread t = Sync.virtual(name, body);
        t.start();
        return t;
    }

    static void pass(Object lock) {
        synchronized (lock) {
            sink++;
        }
    }

    /* --- facts ---------------------------------------------------------------------------------- */

    static final String[] KINDS = {"park", "parknanos", "sleep", "wait", "waitms", "enter", "lock", "await", "spin"};

    /** Where a holder stays until it is asked to go on. */
    static final class Stay {
        final String kind;
        final Object other = new Object();
        final ReentrantLock lock = new ReentrantLock();
        final Condition condition = lock.newCondition();
        final AtomicBoolean go = new AtomicBoolean();
        final CountDownLatch blocks = new CountDownLatch(1), release = new CountDownLatch(1);
        Thread who, blocker;

        Stay(String kind) throws Exception {
            this.kind = kind;
            if (kind.equals("enter") || kind.equals("lock")) {
                blocker = Sync.start("k", () -> {
                    lock.lock();
                    synchronized (other) {
                        blocks.countDown();
                        release.await();
                    }
                    lock.unlock();
                });
                blocks.await();
            }
        }

        void stay() throws Exception {
            switch (kind) {
            case "park" -> {
                while (!go.get())
                    LockSupport.park(this);
            }
            case "parknanos" -> {
                while (!go.get())
                    LockSupport.parkNanos(this, 60_000_000_000L);
            }
            case "sleep" -> {
                try {
                    Thread.sleep(60_000);
                } catch (InterruptedException e) {
                    sink++;
                }
            }
            case "wait", "waitms" -> {
                synchronized (other) {
                    while (!go.get())
                        other.wait(kind.equals("wait") ? 0 : 60_000);
                }
            }
            case "enter" -> pass(other);
            case "lock" -> {
                lock.lock();
                lock.unlock();
            }
            case "await" -> {
                lock.lock();
                while (!go.get())
                    condition.await();
                lock.unlock();
            }
            case "spin" -> {
                while (!go.get())
                    Thread.onSpinWait();
            }
            default -> throw new IllegalArgumentException(kind);
            }
        }

        void there() throws Exception {
            Thread.State state = switch (kind) {
            case "parknanos", "sleep", "waitms" -> Thread.State.TIMED_WAITING;
            case "enter" -> Thread.State.BLOCKED;
            case "spin" -> Thread.State.RUNNABLE;
            default -> Thread.State.WAITING;
            };
            Sync.state(state, who);
        }

        void goOn() throws Exception {
            go.set(true);
            if (kind.equals("sleep"))
                who.interrupt();
            LockSupport.unpark(who);
            release.countDown();
            synchronized (other) {
                other.notifyAll();
            }
            if (kind.equals("await")) {
                lock.lock();
                condition.signalAll();
                lock.unlock();
            }
        }
    }

    static void fact(String kind, int round) throws Exception {
        String id = kind + "-" + round;
        Object a = new Object(), b = new Object(), c = new Object();
        Stay s = new Stay(kind);
        CountDownLatch held = new CountDownLatch(1);
        s.who = virtual("h-" + id, () -> {
            synchronized (a) {
                synchronized (b) {
                    synchronized (c) {
                        held.countDown();
                        s.stay();
                    }
                }
            }
        });
        held.await();
        s.there();
        if (round % 2 == 1)
            System.gc();
        Thread p = Sync.start("p-" + id, () -> pass(a));
        Thread v = virtual("v-" + id, () -> pass(b)), w = virtual("w-" + id, () -> pass(c));
        Sync.state(Thread.State.BLOCKED, p, v, w);
        strict(a, "h-" + id, p);
        strict(b, "h-" + id, v);
        strict(c, "h-" + id, w);
        s.goOn();
        s.who.join();
        p.join();
        v.join();
        w.join();
        if (s.blocker != null)
            s.blocker.join();
    }

    /* --- after ---------------------------------------------------------------------------------- */

    static void after(int i) throws Exception {
        String[] then = {"spin", "park", "sleep", "platform"};
        Object x = new Object(), keeps = new Object();
        Stay first = new Stay(KINDS[i % (KINDS.length - 1)]), second = new Stay("park");
        boolean ends = i / 2 % 2 == 0;
        CountDownLatch held = new CountDownLatch(1), given = new CountDownLatch(1), taken = new CountDownLatch(1);
        second.who = first.who = virtual("a-" + i, () -> {
            synchronized (keeps) {
                synchronized (x) {
                    held.countDown();
                    first.stay();
                }
                given.countDown();
                if (!ends)
                    second.stay();
            }
        });
        held.await();
        first.there();
        first.goOn();
        given.await();
        if (!ends)
            second.there();
        String how = then[i % then.length];
        Stay third = new Stay(how.equals("platform") ? "park" : how);
        Sync.Body own = () -> {
            synchronized (x) {
                taken.countDown();
                third.stay();
            }
        };
        third.who = how.equals("platform") ? Sync.start("b-" + i, own) : virtual("b-" + i, own);
        taken.await();
        third.there();
        if (i % 3 == 0)
            System.gc();
        Thread c = i % 2 == 0 ? Sync.start("c-" + i, () -> pass(x)) : virtual("c-" + i, () -> pass(x));
        Sync.state(Thread.State.BLOCKED, c);
        strict(x, "b-" + i, c);
        third.goOn();
        if (!ends)
            second.goOn();
        first.who.join();
        third.who.join();
        c.join();
        if (first.blocker != null)
            first.blocker.join();
    }

    /* --- storm ---------------------------------------------------------------------------------- */

    /** As many monitors as hands can fill before they are thrown away, so that most are met for the first time. */
    static final class Board {
        final Object[] locks = new Object[64];

        Board() {
            for (int i = 0; i < locks.length; i++)
                locks[i] = new Object();
        }
    }

    static volatile Board board = new Board();

    static void leave(Random r, Object other) throws Exception {
        switch (r.nextInt(6)) {
        case 0 -> LockSupport.parkNanos(20_000 + r.nextInt(200_000));
        case 1 -> Thread.sleep(1);
        case 2 -> Thread.yield();
        case 3 -> {
            synchronized (other) {
                other.wait(1);
            }
        }
        case 4 -> pass(other);
        default -> sink++;
        }
    }

    static void storm(int n, long enough) throws Exception {
        List<Thread> threads = new ArrayList<>();
        List<List<String>> all = new ArrayList<>();
        AtomicLong count = new AtomicLong();
        for (int i = 0; i < n; i++) {
            List<String> holds = new ArrayList<>();
            all.add(holds);
            int seed = i;
            threads.add(virtual("s-" + i, () -> {
                Random r = new Random(seed);
                while (count.addAndGet(2) <= enough) {
                    Object[] l = board.locks;
                    int j = r.nextInt(l.length - 2), k = j + 1 + r.nextInt(l.length - j - 2);
                    long inner, innerEnd;
                    synchronized (l[j]) {
                        long outer = System.nanoTime();
                        leave(r, l[l.length - 1]);
                        synchronized (l[k]) {
                            inner = System.nanoTime();
                            leave(r, l[l.length - 1]);
                            innerEnd = System.nanoTime();
                        }
                        leave(r, new Object());
                        holds.add(Sync.hash(l[j]) + " s-" + seed + " " + outer + " " + System.nanoTime());
                    }
                    holds.add(Sync.hash(l[k]) + " s-" + seed + " " + inner + " " + innerEnd);
                }
            }));
        }
        while (count.get() < enough) {
            Thread.sleep(2);
            board = new Board();
        }
        for (Thread t : threads)
            t.join();
        List<String[]> holds = new ArrayList<>();
        for (List<String> l : all)
            for (String h : l)
                holds.add(h.split(" "));
        holds.sort((x, y) -> Long.compare(Long.parseLong(x[2]), Long.parseLong(y[2])));
        for (String[] h : holds)
            truth.append("hold ").append(String.join(" ", h)).append('\n');
    }

    /** Run it in a virtual thread of an executor. */
    static void pooled(String name, Sync.Body body) throws Exception {
        CountDownLatch runs = new CountDownLatch(1);
        ((ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null)).submit(() -> {
            Thread.currentThread().setName(name);
            runs.countDown();
            body.run();
            return null;
        });
        runs.await();
    }

    /* --- circles -------------------------------------------------------------------------------- */

    static void crowd(int n) throws Exception {
        CountDownLatch all = new CountDownLatch(n);
        for (int i = 0; i < n; i++)
            virtual("crowd-" + i, () -> {
                all.countDown();
                while (true)
                    LockSupport.park();
            });
        all.await();
    }

    static void circle(int n, String kind, boolean closed) throws Exception {
        Object[] monitors = new Object[n];
        ReentrantLock[] locks = new ReentrantLock[n];
        boolean[] isLock = new boolean[n];
        for (int i = 0; i < n; i++) {
            monitors[i] = new Object();
            locks[i] = new ReentrantLock();
            isLock[i] = kind.equals("lock") || kind.equals("mixed") && i % 2 == 1;
        }
        CountDownLatch all = new CountDownLatch(n);
        CountDownLatch[] go = new CountDownLatch[n];
        Thread[] threads = new Thread[n];
        for (int i = 0; i < n; i++) {
            int next = (i + 1) % n, me = i;
            go[i] = new CountDownLatch(1);
            Sync.Body wants = () -> {
                all.countDown();
                go[me].await();
                if (next == 0 && !closed)
                    Thread.sleep(600_000);
                else if (isLock[next])
                    locks[next].lock();
                else
                    pass(monitors[next]);
            };
            Sync.Body owns = () -> {
                if (isLock[me]) {
                    locks[me].lock();
                    wants.run();
                } else {
                    synchronized (monitors[me]) {
                        wants.run();
                    }
                }
            };
            if (kind.equals("platform") && i == 1)
                threads[i] = Sync.daemon("v-" + i, owns);
            else
                threads[i] = virtual("v-" + i, kind.equals("pinned") && i % 2 == 0 ? () -> pin(owns) : owns);
        }
        all.await();
        // One after the other, so that nobody asks for the lock of a thread that is just coming or going.
        for (int i = n - 1; i >= 0; i--) {
            int next = (i + 1) % n;
            go[i].countDown();
            if (next == 0 && !closed)
                Sync.state(Thread.State.TIMED_WAITING, threads[i]);
            else if (!isLock[next])
                Sync.state(Thread.State.BLOCKED, threads[i]);
            else
                while (!locks[next].hasQueuedThread(threads[i]) || threads[i].getState() != Thread.State.WAITING)
                    Thread.sleep(1);
        }
        Thread behind = virtual("behind", () -> {
            if (isLock[0])
                locks[0].lock();
            else
                pass(monitors[0]);
        });
        Sync.state(isLock[0] ? Thread.State.WAITING : Thread.State.BLOCKED, behind);
        if (!closed)
            Sync.state(Thread.State.BLOCKED, Sync.daemon("beside", () -> pass(monitors[0])));
        pooled("pooled", () -> {
            new CountDownLatch(1).await(); // site: pooled
        });
        System.out.println("ready");
        while (true)
            Thread.sleep(60_000);
    }

    public static final ThreadLocal<Runnable> pinned = new ThreadLocal<>();

    /** Its initializer runs what its thread has put there: a frame of native code is below it. */
    static final class Pin {
        static {
            pinned.get().run();
        }
    }

    /** Run it on a stack that cannot leave its carrier. */
    static void pin(Sync.Body body) throws Exception {
        pinned.set(() -> {
            try {
                body.run();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        Class.forName("Unmounted$Pin", true, new ClassLoader(Unmounted.class.getClassLoader()) {
            @Override
            protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
                if (!name.equals("Unmounted$Pin"))
                    return super.loadClass(name, resolve);
                try (InputStream in = Unmounted.class.getResourceAsStream("Unmounted$Pin.class")) {
                    byte[] bytes = in.readAllBytes();
                    return defineClass(name, bytes, 0, bytes.length);
                } catch (IOException e) {
                    throw new ClassNotFoundException(name, e);
                }
            }
        });
    }

    public static void main(String[] args) throws Exception {
        int n = Integer.parseInt(args[1]);
        switch (args[0]) {
        case "facts" -> {
            for (int i = 0; i < n; i++)
                for (String kind : KINDS)
                    fact(kind, i);
        }
        case "after" -> {
            for (int i = 0; i < n; i++)
                after(i);
        }
        case "storm" -> storm(n, Long.parseLong(args[2]));
        case "circle" -> {
            crowd(args.length > 3 ? Integer.parseInt(args[3]) : 0);
            circle(n, args[2], true);
        }
        case "straight" -> circle(n, "monitor", false);
        default -> throw new IllegalArgumentException(args[0]);
        }
        System.out.print(truth);
    }
}
