/* Threads and native code: NativeThreads N R LIBRARY | NativeThreads throwing - LIBRARY
 *
 * N threads made in C (native_threads.c) attach, pass a lock, and detach, R times each.  The first to pass
 * holds the lock until the second is blocked on it, so there is one contention at least.
 * throwing: "thrower" blocks on an Integer[] in C while an exception is on its way, a lock of a class that no
 * event has named before; prints whether the exception was still there. */
import java.util.concurrent.atomic.AtomicInteger;

public class NativeThreads {
    static native int run(int threads, int rounds);

    static native void die(String how);

    static native boolean enterThrowing(Object lock, Throwable thrown);

    static final Object LOCK = new Object();
    static final AtomicInteger arrived = new AtomicInteger();
    static volatile boolean held;
    static volatile Thread second;
    static int passed;

    static void pass() throws Exception {
        int n = arrived.getAndIncrement();
        while (n > 0 && !held)
            Thread.yield();
        if (n == 1)
            second = Thread.currentThread();
        synchronized (LOCK) {
            passed++;
            if (n == 0) {
                held = true;
                while (second == null)
                    Thread.yield();
                Sync.state(Thread.State.BLOCKED, second);
                Thread.sleep(10);
            }
        }
    }

    static final class Thrown extends RuntimeException { }

    static void throwing() throws Exception {
        Integer[] lock = new Integer[1];
        Thread t = Sync.thread("thrower",
                () -> System.out.println("still there: " + enterThrowing(lock, new Thrown())));
        synchronized (lock) {
            t.start();
            Sync.blocked(t);
        }
        t.join();
    }

    public static void main(String[] args) throws Exception {
        System.load(args[2]);
        if (args[0].equals("throwing")) {
            throwing();
            return;
        }
        int failed = run(Integer.parseInt(args[0]), Integer.parseInt(args[1]));
        System.out.println("failed " + failed + " passed " + passed);
    }
}
