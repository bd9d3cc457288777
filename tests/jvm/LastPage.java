import java.io.InputStream;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Recursion to the StackOverflowError with one kind of event at every depth near the end, from beginnings that differ
 * by a few words, so that each callback comes with every amount of stack that a thread can have left:
 * LastPage ROUNDS [KIND...]. Prints "KIND overflowed N" for each kind.
 */
public class LastPage {
    static final int NEAR = 120; // frames
    static final Object CONTENDED = new Object();
    static final Semaphore TAKEN = new Semaphore(0);
    static final ReentrantLock HELD = new ReentrantLock();
    static final Thread LIVING = daemon("living", LockSupport::park);
    static volatile Object kept;
    static volatile boolean done;
    static byte[] classFile;
    static Constructor<Object> constructor;

    interface Step {
        void run() throws Exception;
    }

    /** What a program does, named by the events that come of it. */
    enum Kind {
        monitors(() -> {
            synchronized (CONTENDED) {
                kept = CONTENDED;
            }
        }),
        waits(() -> {
            Object o = new Object();
            synchronized (o) {
                o.wait(0, 1);
            }
        }),
        notifies(() -> {
            Object o = new Object();
            synchronized (o) {
                o.notify();
                o.notifyAll();
            }
        }),
        parks(() -> {
            LockSupport.unpark(LIVING);
            LockSupport.parkNanos(1);
        }),
        sleeps(() -> Thread.sleep(0, 1)),
        joins(() -> LIVING.join(0, 1)),
        interrupts(() -> {
            Thread.currentThread().interrupt();
            Thread.interrupted();
        }),
        thrown(() -> {
            Object o = new Object();
            Thread.currentThread().interrupt();
            try {
                synchronized (o) {
                    o.wait();
                }
            } catch (InterruptedException e) {
                kept = e;
            }
        }),
        semaphores(() -> {
            Semaphore s = new Semaphore(1);
            s.acquire();
            s.release();
            TAKEN.tryAcquire(1, TimeUnit.NANOSECONDS);
        }),
        locks(() -> {
            ReentrantLock l = new ReentrantLock();
            l.lock();
            l.unlock();
            HELD.tryLock(1, TimeUnit.NANOSECONDS);
        }),
        threads(() -> {
            Thread t = new Thread(() -> {}, "short");
            t.start();
        }),
        methods(() -> user(1)),
        objects(() -> {
            kept = new Object();
            kept = new int[4];
            kept = new String[2][2];
            kept = new int[2].clone();
            kept = Array.newInstance(String.class, 1);
            kept = constructor.newInstance();
        }),
        classes(() -> kept = new Loader().define()),
        errors(() -> {});

        final Step step;

        Kind(Step step) {
            this.step = step;
        }
    }

    static int user(int n) {
        return n + 1;
    }

    static class Loader extends ClassLoader {
        Class<?> define() {
            return defineClass("LastPage$Loader", classFile, 0, classFile.length);
        }
    }

    static Thread daemon(String name, Runnable body) {
        Thread t = new Thread(null, body, name, 256 << 10);
        t.setDaemon(true);
        t.start();
        return t;
    }

    // --- recursion ------------------------------------------------------------------------------------

    static class Dive {
        final Kind kind;
        int depth, reached, overflows;

        Dive(Kind kind) {
            this.kind = kind;
        }

        void down() throws Exception {
            if (++depth > reached - NEAR)
                kind.step.run();
            down();
        }

        /** A few words of the stack before the recursion. */
        void pad(int n, long a, long b) throws Exception {
            if (n > 0)
                pad(n - 1, b, a + n);
            else
                down();
        }

        void once(int pad) throws Exception {
            depth = 0;
            try {
                pad(pad, 1, 2);
            } catch (StackOverflowError | LinkageError | InvocationTargetException e) { // or what came of one
                kept = e;
                overflows++;
                reached = depth;
            } finally {
                Thread.interrupted();
            }
        }

        void all(int rounds) {
            try {
                for (int i = 0; i < 20; i++)
                    kind.step.run();
                reached = 1 << 30;
                once(0);
                for (int i = 0; i < rounds; i++)
                    once(i % 16);
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }
    }

    static void holdNowAndThen() {
        long n = 0;
        while (!done)
            synchronized (CONTENDED) {
                for (int k = 0; k < 300; k++)
                    n += k;
                kept = n;
            }
    }

    static void dive(Kind kind, int rounds) throws Exception {
        Dive dive = new Dive(kind);
        Thread holder = null;
        done = false;
        if (kind == Kind.monitors)
            holder = daemon("holder", LastPage::holdNowAndThen);
        Thread t = new Thread(null, () -> dive.all(rounds), "diver-" + kind, 256 << 10);
        t.start();
        t.join();
        done = true;
        if (holder != null)
            holder.join();
        System.out.println(kind + (dive.overflows > rounds / 2 ? " overflowed" : " did not: " + dive.overflows));
    }

    @SuppressWarnings("unchecked")
    public static void main(String[] args) throws Exception {
        int rounds = Integer.parseInt(args[0]);
        try (InputStream in = LastPage.class.getResourceAsStream("LastPage$Loader.class")) {
            classFile = in.readAllBytes();
        }
        constructor = (Constructor<Object>) (Constructor<?>) Object.class.getConstructor();
        HELD.lock();
        if (args.length == 1)
            for (Kind kind : Kind.values())
                dive(kind, rounds);
        for (int i = 1; i < args.length; i++)
            dive(Kind.valueOf(args[i]), rounds);
    }
}
