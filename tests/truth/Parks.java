/* Waits in java.util.concurrent: how often, how long, for what, where, who owned it, who ended it.
 *
 * The ways to park are those of tests/jvm/Blocking.java, and some more.  For each KIND "KIND-w" parks once, and "KIND-k"
 * ends that; what must be owned for it, "KIND-k" owns. */
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.*;
import java.util.concurrent.locks.*;

public class Parks {
    static final ThreadMXBean jvm = ManagementFactory.getThreadMXBean();

    static void more() {
        Blocking.kinds.put("writer", new Blocking.Kind() {
            final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
            @Override void hold() { lock.readLock().lock(); }
            @Override void block() {
                lock.writeLock().lock();
                lock.writeLock().unlock();
            }
            @Override void wake(Thread waiter) { lock.readLock().unlock(); }
        });
        Blocking.kinds.put("fairlock", new Blocking.Kind() {
            final ReentrantLock lock = new ReentrantLock(true);
            @Override void hold() { lock.lock(); }
            @Override void block() throws Exception {
                lock.lockInterruptibly();
                lock.unlock();
            }
            @Override void wake(Thread waiter) { lock.unlock(); }
        });
        Blocking.kinds.put("timedlock", new Blocking.Kind() {
            final ReentrantLock lock = new ReentrantLock();
            @Override void hold() { lock.lock(); }
            @Override void block() throws Exception {
                if (lock.tryLock(1, TimeUnit.MINUTES))
                    lock.unlock();
            }
            @Override void wake(Thread waiter) { lock.unlock(); }
        });
        Blocking.kinds.put("queueput", new Blocking.Kind() {
            final BlockingQueue<String> queue = new ArrayBlockingQueue<>(1);
            @Override void hold() { queue.add("full"); }
            @Override void block() throws Exception { queue.put("more"); }
            @Override void wake(Thread waiter) throws Exception { queue.take(); }
        });
        Blocking.kinds.put("linkedqueue", new Blocking.Kind() {
            final BlockingQueue<String> queue = new LinkedBlockingQueue<>();
            @Override void block() throws Exception { queue.take(); }
            @Override void wake(Thread waiter) { queue.add("x"); }
        });
        Blocking.kinds.put("handover", new Blocking.Kind() {
            final SynchronousQueue<String> queue = new SynchronousQueue<>();
            @Override void block() throws Exception { queue.take(); }
            @Override void wake(Thread waiter) throws Exception { queue.put("x"); }
        });
        Blocking.kinds.put("phaser", new Blocking.Kind() {
            final Phaser phaser = new Phaser(2);
            @Override void block() { phaser.arriveAndAwaitAdvance(); }
            @Override void wake(Thread waiter) { phaser.arrive(); }
        });
        Blocking.kinds.put("futuretask", new Blocking.Kind() {
            final FutureTask<String> task = new FutureTask<>(() -> "x");
            @Override void block() throws Exception { task.get(); }
            @Override void wake(Thread waiter) { task.run(); }
        });
        /* Takes three permits; one is there, one comes with wake. */
        Blocking.kinds.put("permits", new Blocking.Kind() {
            final Semaphore semaphore = new Semaphore(2);
            @Override void hold() throws Exception { semaphore.acquire(); }
            @Override void block() throws Exception {
                semaphore.acquire(2);
                semaphore.release(2);
            }
            @Override void wake(Thread waiter) { semaphore.release(); }
        });
        Blocking.kinds.put("fairpermit", new Blocking.Kind() {
            final Semaphore semaphore = new Semaphore(1, true);
            @Override void hold() throws Exception { semaphore.acquire(); }
            @Override void block() throws Exception {
                semaphore.acquire();
                semaphore.release();
            }
            @Override void wake(Thread waiter) { semaphore.release(); }
        });
    }

    static long parks() {
        return jvm.getThreadInfo(Thread.currentThread().getId()).getWaitedCount();
    }

    /** Whether the lock knows its owner, who is whoever wakes. */
    static boolean owned(Object blocker) {
        return blocker instanceof AbstractOwnableSynchronizer && !(blocker.getClass().getName().contains("Semaphore"))
                && !(blocker.getClass().getName().contains("Latch"));
    }

    static void run(String name, Blocking.Kind kind) throws Exception {
        long[] times = new long[3], counts = new long[2];
        CountDownLatch held = new CountDownLatch(1), go = new CountDownLatch(1);
        boolean platform = Known.is(Known.Mode.PLATFORM);
        Thread waiter = Known.thread(name + "-w", () -> {
            counts[0] = platform ? parks() : 0;
            times[0] = System.nanoTime();
            kind.block();
            times[1] = System.nanoTime();
            counts[1] = platform ? parks() : 0;
        });
        Thread waker = Known.start(name + "-k", () -> {
            kind.hold();
            held.countDown();
            go.await();
            times[2] = System.nanoTime();
            kind.wake(waiter);
        });
        held.await();
        Known.waiting(waker);
        waiter.start();
        long asleep = Known.waiting(waiter);
        Object blocker = LockSupport.getBlocker(waiter);
        String at = Known.at(waiter), of = ofWhat(waiter, blocker);
        Thread.sleep(3);
        go.countDown();
        waiter.join();
        waker.join();
        say(name, blocker, of, at);
        String about = about(name, blocker);
        if (platform)
            Known.is("park-count", about, counts[1] - counts[0]);
        else
            Known.between("park-count", about, 1, 3);
        Known.between("park-ns", about, times[2] - asleep, times[1] - times[0]);
    }

    static String about(String name, Object blocker) {
        return "thread=" + name + "-w" + (blocker == null ? "" : " of=" + blocker.getClass().getName());
    }

    /** What a condition is of, where that is the JDK's: to say so is right, too. */
    static String ofWhat(Thread waiter, Object blocker) {
        if (blocker == null || !blocker.getClass().getName().endsWith("$ConditionObject"))
            return null;
        for (StackTraceElement e : waiter.getStackTrace())
            if (e.getModuleName() == null)
                return null;
            else if (e.getClassName().startsWith("java.util.concurrent.") && !e.getClassName().startsWith("java.util.concurrent.locks.")
                    && !e.getMethodName().contains("anage")) // ForkJoinPool.managedBlock
                return e.getClassName();
        return null;
    }

    static void say(String name, Object blocker, String of, String at) {
        String about = about(name, blocker);
        if (blocker != null)
            Known.is("park-on", about, blocker.getClass().getName() + (of == null ? "" : "|" + of));
        Known.is("park-at", about, at);
        Known.is("park-by", about, name + "-k");
        if (owned(blocker) && !name.equals("writer"))
            Known.is("park-owner", about, name + "-k");
    }

    /* Two permits are wanted and none is there; each of two threads gives one: the second ends it. */
    static void twoReleases() throws Exception {
        Semaphore s = new Semaphore(0);
        Thread waiter = Known.start("two-w", () -> s.acquire(2));
        Known.waiting(waiter);
        Known.start("two-r1", s::release).join();
        while (s.availablePermits() != 1)
            Thread.sleep(1);
        Known.waiting(waiter);
        Known.start("two-r2", s::release).join();
        waiter.join();
        Known.is("park-last-by", "thread=two-w of=java.util.concurrent.Semaphore$NonfairSync", "two-r2");
    }

    /* Parks that nobody ends but the clock, or an interrupt. */
    static void otherEnds() throws Exception {
        long[] t = new long[2];
        Thread late = Known.start("parklate-w", () -> {
            t[0] = System.nanoTime();
            LockSupport.parkNanos(Parks.class, 20_000_000);
            t[1] = System.nanoTime();
        });
        late.join();
        Known.between("park-ns", "thread=parklate-w", 19_900_000, t[1] - t[0]);
        Known.is("park-end", "thread=parklate-w", "timeout");
        Thread broken = Known.start("parkbrk-w", () -> LockSupport.park(Parks.class));
        Known.waiting(broken);
        Known.start("parkbrk-k", broken::interrupt).join();
        broken.join();
        Known.is("park-end", "thread=parkbrk-w", "interrupt");
        Known.is("park-by", "thread=parkbrk-w", "parkbrk-k");
    }

    public static void main(String[] args) throws Exception {
        Known.mode(args);
        parks();
        Blocking.locks();
        Blocking.synchronizers();
        Blocking.threads();
        more();
        for (String kind : new String[] {"synchronized", "wait", "waitall", "sleep", "interrupt", "join"})
            Blocking.kinds.remove(kind);
        for (String kind : Blocking.kinds.keySet())
            run(kind, Blocking.kinds.get(kind));
        twoReleases();
        otherEnds();
        Known.noDeadlock();
        Known.print();
    }
}
