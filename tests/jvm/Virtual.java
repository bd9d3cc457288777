/* Virtual threads (JDK 21 and later, found by reflection, because the tests are compiled for 17):
 *
 *   Virtual facts       see facts(); "strict" lines name the owners
 *   Virtual gone        "gone" has ended, "stays" is parked; prints "ready", and on a line "wake" unparks both; prints "woken"
 *   Virtual crowd N     N threads "v-i" pass one lock; "hold" lines; prints "sum N"
 *   Virtual relay N     N threads hand a number each to N others through a SynchronousQueue, at most 2,000 at a
 *                       time; prints "rss KIB" after a tenth, "rss KIB" at the end, and "sum SUM"
 *   Virtual storm N     N threads, at most 2,000 at a time, pass one of 16 locks; prints the same */
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

public class Virtual {
    static ThreadFactory factory(String prefix) throws ReflectiveOperationException {
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        Class<?> type = Class.forName("java.lang.Thread$Builder");
        if (prefix != null)
            builder = type.getMethod("name", String.class, long.class).invoke(builder, prefix, 0L);
        return (ThreadFactory) type.getMethod("factory").invoke(builder);
    }

    static Thread thread(String name, Sync.Body body) throws ReflectiveOperationException {
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        Class<?> type = Class.forName("java.lang.Thread$Builder");
        type.getMethod("name", String.class).invoke(builder, name);
        Runnable r = () -> {
            try {
                body.run();
            } catch (Exception e) {
                e.printStackTrace();
                System.exit(99);
            }
        };
        return ((ThreadFactory) type.getMethod("factory").invoke(builder)).newThread(r);
    }

    static final StringBuilder truth = new StringBuilder();

    static void strict(Object lock, String holder, Thread... blocked) {
        for (Thread t : blocked)
            truth.append("strict ").append(Sync.hash(lock)).append(' ').append(t.getName()).append(' ')
                    .append(holder).append('\n');
    }

    /* --- facts ---------------------------------------------------------------------------------- */

    static final class ByPlatform { }
    static final class ByMounted { }
    static final class ByUnmounted { }
    static final class Waited { }

    static volatile long sink;

    static void pass(Object lock) {
        synchronized (lock) {
            sink++;
        }
    }

    /* "plat-holder" owns a ByPlatform, v-0 to v-4 block on it.
     * "v-spins" owns a ByMounted and spins, so it stays mounted; the platform threads p-0 and p-1 block on it.
     * "v-sleeps" owns a ByUnmounted and sleeps; p-2 and the virtual v-5 block on it.
     * "v-waits" waits on a Waited without a time-out and is notified, "v-times" waits for 40 ms and is not. */
    static void facts() throws Exception {
        ByPlatform byPlatform = new ByPlatform();
        Thread[] v = new Thread[6], p = new Thread[3];
        CountDownLatch held = new CountDownLatch(1);
        for (int i = 0; i < 5; i++) {
            v[i] = thread("v-" + i, () -> {
                held.await();
                pass(byPlatform);
            });
            v[i].start();
        }
        Thread holder = Sync.start("plat-holder", () -> {
            synchronized (byPlatform) {
                held.countDown();
                Sync.state(Thread.State.BLOCKED, v[0], v[1], v[2], v[3], v[4]);
                Sync.pause(50);
            }
        });
        holder.join();
        for (int i = 0; i < 5; i++)
            v[i].join();
        strict(byPlatform, "plat-holder", v[0], v[1], v[2], v[3], v[4]);

        ByMounted byMounted = new ByMounted();
        CountDownLatch spins = new CountDownLatch(1);
        boolean[] go = new boolean[1];
        Thread spinner = thread("v-spins", () -> {
            synchronized (byMounted) {
                spins.countDown();
                for (boolean end = false; !end;) {
                    for (int i = 0; i < 1000; i++)
                        sink++;
                    synchronized (go) {
                        end = go[0];
                    }
                }
            }
        });
        spinner.start();
        spins.await();
        p[0] = Sync.start("p-0", () -> pass(byMounted));
        p[1] = Sync.start("p-1", () -> pass(byMounted));
        Sync.blocked(p[0], p[1]);
        synchronized (go) {
            go[0] = true;
        }
        spinner.join();
        p[0].join();
        p[1].join();
        strict(byMounted, "v-spins", p[0], p[1]);

        ByUnmounted byUnmounted = new ByUnmounted();
        CountDownLatch sleeps = new CountDownLatch(1), wake = new CountDownLatch(1);
        Thread sleeper = thread("v-sleeps", () -> {
            synchronized (byUnmounted) {
                sleeps.countDown();
                wake.await();
            }
        });
        sleeper.start();
        sleeps.await();
        Sync.state(Thread.State.WAITING, sleeper);
        p[2] = Sync.start("p-2", () -> pass(byUnmounted));
        v[5] = thread("v-5", () -> pass(byUnmounted));
        v[5].start();
        Sync.blocked(p[2]);
        Sync.state(Thread.State.BLOCKED, v[5]);
        Sync.pause(50);
        wake.countDown();
        sleeper.join();
        p[2].join();
        v[5].join();
        strict(byUnmounted, "v-sleeps", p[2], v[5]);

        Waited waited = new Waited();
        Thread waiter = thread("v-waits", () -> {
            synchronized (waited) {
                waited.wait();
            }
        });
        waiter.start();
        Sync.state(Thread.State.WAITING, waiter);
        synchronized (waited) {
            waited.notifyAll();
        }
        waiter.join();
        Thread timer = thread("v-times", () -> {
            synchronized (waited) {
                waited.wait(40);
            }
        });
        timer.start();
        timer.join();
        System.out.print(truth);
    }

    /* --- crowd ---------------------------------------------------------------------------------- */

    static void crowd(int n) throws Exception {
        Object lock = new Object();
        List<String> holds = new ArrayList<>();
        ThreadFactory f = factory("v-");
        Thread[] threads = new Thread[n];
        Runnable pass = () -> {
            String name = Thread.currentThread().getName();
            synchronized (lock) {
                long from = System.nanoTime();
                while (System.nanoTime() < from + 5_000)
                    Thread.onSpinWait();
                holds.add(name + " " + from + " " + System.nanoTime());
            }
        };
        synchronized (lock) { /* so that there is a crowd */
            for (int i = 0; i < n; i++) {
                threads[i] = f.newThread(pass);
                threads[i].start();
            }
            Sync.state(Thread.State.BLOCKED, threads[0]);
            holds.add("main 0 " + System.nanoTime());
        }
        for (Thread t : threads)
            t.join();
        String hash = Sync.hash(lock);
        for (String h : holds)
            truth.append("hold ").append(hash).append(' ').append(h).append('\n');
        System.out.print(truth);
        System.out.println("sum " + (holds.size() - 1));
    }

    /* --- many ----------------------------------------------------------------------------------- */

    static void many(int n, Sync.Body[] bodies) throws Exception {
        ThreadFactory f = factory(null);
        Semaphore room = new Semaphore(2000);
        AtomicLong ended = new AtomicLong();
        for (int i = 0; i < n; i++) {
            if (i == n / 10)
                System.out.println("rss " + ManyThreads.status("VmRSS"));
            for (Sync.Body b : bodies) {
                room.acquire();
                f.newThread(() -> {
                    try {
                        b.run();
                    } catch (Exception e) {
                        throw new IllegalStateException(e);
                    } finally {
                        ended.incrementAndGet();
                        room.release();
                    }
                }).start();
            }
        }
        while (ended.get() < (long) n * bodies.length)
            Thread.sleep(1);
        System.out.println("rss " + ManyThreads.status("VmRSS"));
    }

    static void gone() throws Exception {
        Thread gone = thread("gone", () -> { }), stays = thread("stays", LockSupport::park);
        gone.start();
        gone.join();
        stays.start();
        Sync.state(Thread.State.WAITING, stays);
        System.out.println("ready");
        System.in.read(new byte["wake\n".length()]);
        LockSupport.unpark(gone);
        LockSupport.unpark(stays);
        System.out.println("woken");
        System.in.read();
        stays.join();
    }

    public static void main(String[] args) throws Exception {
        int n = args.length > 1 ? Integer.parseInt(args[1]) : 0;
        AtomicLong sum = new AtomicLong(), next = new AtomicLong();
        switch (args[0]) {
        case "facts" -> facts();
        case "gone" -> gone();
        case "crowd" -> crowd(n);
        case "relay" -> {
            SynchronousQueue<Long> queue = new SynchronousQueue<>();
            many(n, new Sync.Body[] {() -> queue.put(next.incrementAndGet()), () -> sum.addAndGet(queue.take())});
            System.out.println("sum " + sum);
        }
        case "storm" -> {
            Object[] locks = new Object[16];
            long[] counts = new long[16];
            for (int i = 0; i < 16; i++)
                locks[i] = new Object();
            many(n, new Sync.Body[] {() -> {
                int k = (int) (next.incrementAndGet() % 16);
                synchronized (locks[k]) {
                    counts[k]++;
                }
            }});
            for (long c : counts)
                sum.addAndGet(c);
            System.out.println("sum " + sum);
        }
        default -> throw new IllegalArgumentException(args[0]);
        }
    }
}
