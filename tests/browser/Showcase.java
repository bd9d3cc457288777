/* Every kind of wait and of interaction, each where it can be found by its names.
 *
 *   group "workers": worker-1 to worker-4 each take Hot's monitor 25 times and hold it for 2 ms, worker-1 first until the others are blocked
 *   taker-1, taker-2 wait in Object.wait on a Box, feeder notifies 10 times, then notifyAll once
 *   parker parks on a Blocker, unparked by waker 8 times, 5 ms each
 *   sleeper sleeps 10 times 5 ms, and waits in Object.wait until its time is up; joiner joins it
 *   victim sleeps, interrupted by meddler
 *   pool-1-thread-1, -2 run 12 tasks that main submits
 *   permit-1, permit-2 share one permit of a Semaphore; both wait before there is one, so that one hands it to the other
 *   a thread named like HTML takes a lock of a class in a package "html"
 *   dead-1, dead-2 (daemons) deadlock on two LockA/LockB and are so at the end
 * Then two collections; main ends last. */
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

public class Showcase {
    static final class Hot { }
    static final class Box { int full; boolean done; }
    static final class Blocker { }
    static final class LockA { }
    static final class LockB { }
    static final Hot HOT = new Hot();
    static final Box BOX = new Box();
    static final Blocker BLOCKER = new Blocker();
    static final LockA A = new LockA();
    static final LockB B = new LockB();
    static final String HTML = "<img src=x onerror=\"window.hacked=1\">&amp;'\"";

    interface Body { void run() throws Exception; }

    static Thread start(ThreadGroup group, String name, boolean daemon, Body body) {
        Thread t = new Thread(group, () -> {
            try {
                body.run();
            } catch (InterruptedException e) {
                // victim
            } catch (Exception e) {
                throw new RuntimeException(e);
            }
        }, name);
        t.setDaemon(daemon);
        t.start();
        return t;
    }

    static Thread start(String name, Body body) {
        return start(null, name, false, body);
    }

    static void hot() throws Exception {
        synchronized (HOT) {
            Thread.sleep(2);
        }
    }

    static volatile boolean held, queued;

    /** The others begin behind this: whoever is slow would be blocked never. */
    static void hotUntilQueued() throws Exception {
        synchronized (HOT) {
            held = true;
            while (!queued)
                Thread.sleep(1);
        }
    }

    static void take() throws Exception {
        synchronized (BOX) {
            while (BOX.full == 0 && !BOX.done)
                BOX.wait();
            BOX.full = 0;
        }
    }

    static void workers() throws Exception {
        ThreadGroup group = new ThreadGroup("workers");
        Thread[] all = new Thread[4];
        for (int i = 0; i < all.length; i++) {
            boolean first = i == 0;
            all[i] = start(group, "worker-" + (i + 1), false, () -> {
                if (first)
                    hotUntilQueued();
                for (int k = 0; k < 25; k++)
                    hot();
            });
            while (!held)
                Thread.sleep(1);
        }
        for (int i = 1; i < all.length; i++)
            while (all[i].getState() != Thread.State.BLOCKED)
                Thread.sleep(1);
        queued = true;
        for (Thread t : all)
            t.join();
    }

    static void boxes() throws Exception {
        Thread[] takers = {start("taker-1", () -> { while (!BOX.done) take(); }), start("taker-2", () -> { while (!BOX.done) take(); })};
        start("feeder", () -> {
            for (int k = 0; k < 10; k++) {
                Thread.sleep(4);
                synchronized (BOX) {
                    BOX.full = 1;
                    BOX.notify();
                }
            }
            for (Thread t : takers) // the feeder alone ends their waits
                while (t.getState() != Thread.State.WAITING)
                    Thread.sleep(4);
            synchronized (BOX) {
                BOX.done = true;
                BOX.notifyAll();
            }
        }).join();
        for (Thread t : takers)
            t.join();
    }

    static void parks() throws Exception {
        AtomicInteger parks = new AtomicInteger(); // begun: two unparks of one park would count as one
        Thread parker = start("parker", () -> {
            for (int k = 0; k < 8; k++) {
                parks.incrementAndGet();
                LockSupport.park(BLOCKER);
            }
        });
        start("waker", () -> {
            for (int k = 0; k < 8; k++) {
                while (parks.get() != k + 1 || parker.getState() != Thread.State.WAITING)
                    Thread.sleep(1);
                Thread.sleep(5);
                LockSupport.unpark(parker);
            }
        }).join();
        parker.join();
    }

    static void others() throws Exception {
        Thread sleeper = start("sleeper", () -> {
            for (int k = 0; k < 10; k++)
                Thread.sleep(5);
            Object patience = new Object();
            synchronized (patience) {
                patience.wait(20);
            }
        });
        start("joiner", sleeper::join).join();
        Thread victim = start("victim", () -> Thread.sleep(60000));
        start("meddler", () -> {
            Thread.sleep(20);
            victim.interrupt();
        }).join();
        victim.join();
        Semaphore one = new Semaphore(0);
        Thread[] two = new Thread[2];
        for (int i = 0; i < 2; i++)
            two[i] = start("permit-" + (i + 1), () -> {
                for (int k = 0; k < 6; k++) {
                    one.acquire();
                    Thread.sleep(2);
                    one.release();
                    Thread.yield();
                }
            });
        for (Thread t : two)
            while (one.getQueueLength() < 2 || t.getState() != Thread.State.WAITING)
                Thread.yield();
        one.release();
        for (Thread t : two)
            t.join();
    }

    static void tasks() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        for (int k = 0; k < 12; k++) {
            pool.submit(() -> {
                Thread.sleep(3);
                return 1;
            });
            Thread.sleep(1);
        }
        pool.shutdown();
        pool.awaitTermination(10, TimeUnit.SECONDS);
    }

    static void html() throws Exception {
        Object lock = new Object();
        Thread t = start(HTML, () -> {
            synchronized (lock) {
                Thread.sleep(15);
            }
        });
        Thread.sleep(5);
        synchronized (lock) {
            t.join(1);
        }
        t.join();
    }

    static void deadlock() throws Exception {
        CountDownLatch both = new CountDownLatch(2);
        Thread x = start(null, "dead-1", true, () -> {
            synchronized (A) {
                both.countDown();
                both.await();
                synchronized (B) { }
            }
        });
        Thread y = start(null, "dead-2", true, () -> {
            synchronized (B) {
                both.countDown();
                both.await();
                synchronized (A) { }
            }
        });
        while (x.getState() != Thread.State.BLOCKED || y.getState() != Thread.State.BLOCKED)
            Thread.sleep(1);
    }

    public static void main(String[] args) throws Exception {
        workers();
        boxes();
        parks();
        others();
        tasks();
        html();
        deadlock();
        System.gc();
        System.gc();
        Thread.sleep(150);
    }
}
