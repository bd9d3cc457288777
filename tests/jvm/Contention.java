/* One contention of each way to write it: the thread "holder-WAY" owns the lock, the threads WAY-0, WAY-1 and
 * WAY-2 block on it at the line marked "site: WAY", and the holder keeps it for 20 ms after all of them
 * sleep.  Each way is also passed once without contention.  WAY is block, instance, static, recursive, clazz, array, deep or exact.
 *
 *   clazz     the lock is Contention.class, which the frames belong to
 *   recursive the holder owns it three times, the blockers enter it twice and contend once
 *   deep      the blockers' stacks have more than 250 frames
 *   exact     the blockers' stacks have exactly 64 frames */
import java.util.concurrent.CountDownLatch;

public class Contention {
    static final Object BLOCK = new Object();
    static final int[][] ARRAY = new int[2][];
    static final class Recursive { }
    static final Recursive RECURSIVE = new Recursive();
    static final class Deep { }
    static final Deep DEEP = new Deep();
    static final class Exact { }
    static final Exact EXACT = new Exact();
    static int passed;

    static class Instance {
        synchronized void pass() {
            passed++; // site: instance
        }

        synchronized void hold(Sync.Body body) throws Exception {
            body.run();
        }
    }

    static class Static {
        static synchronized void pass() {
            passed++; // site: static
        }

        static synchronized void hold(Sync.Body body) throws Exception {
            body.run();
        }
    }

    static final Instance INSTANCE = new Instance();

    static void block() {
        synchronized (BLOCK) { // site: block
            passed++;
        }
    }

    static void clazz() {
        synchronized (Contention.class) { // site: clazz
            passed++;
        }
    }

    static void array() {
        synchronized (ARRAY) { // site: array
            passed++;
        }
    }

    static void recursive() {
        synchronized (RECURSIVE) { // site: recursive
            synchronized (RECURSIVE) {
                passed++;
            }
        }
    }

    static void deep(int frames) {
        if (frames > 1) {
            deep(frames - 1);
        } else
            synchronized (DEEP) { // site: deep
                passed++;
            }
    }

    static void exact(int frames) {
        if (frames > 1) {
            exact(frames - 1);
        } else
            synchronized (EXACT) { // site: exact
                passed++;
            }
    }

    /* Of the caller's stack, the hidden ones of lambdas, too. */
    static int frames() {
        return StackWalker.getInstance(StackWalker.Option.SHOW_HIDDEN_FRAMES)
                .walk(frames -> (int) frames.count()) - 1;
    }

    interface Holding {
        void hold(Sync.Body body) throws Exception;
    }

    static void way(String name, Holding holding, Sync.Body pass) throws Exception {
        pass.run(); /* with -Xcomp it is compiled now */
        CountDownLatch held = new CountDownLatch(1);
        Thread[] blockers = new Thread[3];
        for (int i = 0; i < blockers.length; i++)
            blockers[i] = Sync.start(name + "-" + i, () -> {
                held.await();
                pass.run();
            });
        Thread holder = Sync.start("holder-" + name, () -> holding.hold(() -> {
            held.countDown();
            Sync.blocked(blockers);
            Sync.pause(20);
        }));
        holder.join();
        for (Thread t : blockers)
            t.join();
    }

    static Holding of(Object lock) {
        return body -> {
            synchronized (lock) {
                body.run();
            }
        };
    }

    public static void main(String[] args) throws Exception {
        way("block", of(BLOCK), Contention::block);
        way("instance", INSTANCE::hold, INSTANCE::pass);
        way("static", Static::hold, Static::pass);
        way("clazz", of(Contention.class), Contention::clazz);
        way("array", of(ARRAY), Contention::array);
        way("recursive", body -> {
            synchronized (RECURSIVE) {
                synchronized (RECURSIVE) {
                    of(RECURSIVE).hold(body);
                }
            }
        }, Contention::recursive);
        way("deep", of(DEEP), () -> deep(250));
        way("exact", of(EXACT), () -> exact(Math.max(1, 64 - frames())));
        System.out.println("passed " + passed);
    }
}
