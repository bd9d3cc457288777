/* InterruptedExceptions that are thrown, and some that are not.
 *
 * For each thread, on a line "thread NAME N": how many a thread of that name has thrown, or the JVM or the JDK in it.
 * Each of those that throw is named for how: "immediate" · "kept", in a local variable first · "cause", by
 * initCause · "returned", made by a method · "sub", of a class of its own · "wait", "sleep", "join", "park" (a lock), "queue": interrupted in it ·
 * "before", interrupted before it waits.
 * Those that do not: "made", only made · "wrapped", the cause of another · "field", kept in a field · "factory", made by
 * a method · "reflective". */
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.ReentrantLock;

public class Interrupted {
    static final class Own extends InterruptedException {
        private static final long serialVersionUID = 1;

        Own(String what) {
            super(what);
        }
    }

    interface Thrower {
        void run() throws Exception;
    }

    static final Object MONITOR = new Object();
    static final ReentrantLock LOCK = new ReentrantLock();
    static volatile Object sink;

    static void thread(String name, int n, Thrower body) throws Exception {
        thread(name, n, false, body);
    }

    /** interrupted: while it waits. */
    static void thread(String name, int n, boolean interrupted, Thrower body) throws Exception {
        Thread t = new Thread(() -> {
            try {
                body.run();
            } catch (Exception e) {
                sink = e;
            }
        }, name);
        t.start();
        if (interrupted) {
            Sync.waiting(t);
            t.interrupt();
        }
        t.join();
        System.out.println("thread " + name + " " + n);
    }

    static void kept() throws InterruptedException {
        InterruptedException e = new InterruptedException("kept");
        sink = e;
        throw e;
    }

    static void cause(Throwable t) throws Throwable {
        throw (InterruptedException) new InterruptedException().initCause(t);
    }

    static InterruptedException made() {
        return new InterruptedException("by a method");
    }

    static void thrown() throws Exception {
        thread("immediate", 2, () -> {
            try {
                throw new InterruptedException("one");
            } catch (InterruptedException e) {
                throw new InterruptedException();
            }
        });
        thread("kept", 1, Interrupted::kept);
        thread("cause", 1, () -> {
            try {
                cause(new RuntimeException());
            } catch (Throwable t) {
                sink = t;
            }
        });
        thread("returned", 1, () -> {
            throw made();
        });
        thread("sub", 1, () -> {
            throw new Own("sub");
        });
    }

    static void waits() throws Exception {
        thread("wait", 1, true, () -> {
            synchronized (MONITOR) {
                MONITOR.wait();
            }
        });
        thread("sleep", 1, true, () -> Thread.sleep(60_000));
        thread("join", 1, true, () -> Thread.currentThread().join());
        LOCK.lock();
        thread("park", 1, true, LOCK::lockInterruptibly);
        thread("queue", 1, true, () -> new LinkedBlockingQueue<>().take());
        thread("before", 1, () -> {
            Thread.currentThread().interrupt();
            synchronized (MONITOR) {
                MONITOR.wait();
            }
        });
    }

    static void notThrown() throws Exception {
        thread("made", 0, () -> {
            for (int i = 0; i < 10; i++)
                sink = new InterruptedException("made");
        });
        thread("wrapped", 0, () -> {
            throw new RuntimeException(new InterruptedException("wrapped"));
        });
        InterruptedException[] field = {null};
        thread("field", 0, () -> field[0] = new InterruptedException("field"));
        thread("factory", 0, () -> sink = made());
        thread("reflective", 0, () -> sink = InterruptedException.class.getConstructor().newInstance());
    }

    public static void main(String[] args) throws Exception {
        thrown();
        waits();
        notThrown();
    }
}
