import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Stacks that overflow while locks are held, cut at every depth: recursions of several shapes begin at depths
 * that differ by a few words, so that the stack ends at each place of the code in turn. Behind each, no lock
 * may be held, and another thread takes it. Prints "ROUNDS rounds, HELD held".
 */
class Overflow {
    static final Object a = new Object(), b = new Object();
    static int deepest;

    // --- shapes -------------------------------------------------------------------------------------

    static void block(int n) {
        synchronized (a) {
            block(n + 1);
        }
    }

    static int value(int n) {
        synchronized (a) {
            return n + value(n + 1); // the result lies below the lock when it is given back
        }
    }

    static void two(int n) {
        synchronized (a) {
            synchronized (b) {
                two(n + 1);
            }
        }
    }

    static void leaf() {
        synchronized (b) {
            deepest++;
        }
    }

    static void leaves(int n) {
        leaf();
        leaves(n + 1);
    }

    static synchronized void method(int n) {
        method(n + 1);
    }

    synchronized Object instance(int n) {
        return instance(n + 1);
    }

    static void last(int n) {
        synchronized (a) {
            try {
                last(n + 1);
            } finally {
                leaf();
            }
        }
    }

    static Object[] array(int n) {
        synchronized (a) {
            Object[] made = new Object[1];
            made[0] = array(n + 1);
            return made;
        }
    }

    // --- cutting ------------------------------------------------------------------------------------

    interface Shape {
        void run();
    }

    /** Words of the stack taken before the shape begins. */
    static void pad(int n, Shape shape) {
        if (n > 0)
            pad1(n - 1, 0, shape);
        else
            shape.run();
    }

    static void pad1(int n, long more, Shape shape) {
        pad(n, shape);
    }

    static boolean overflows(int pad, Shape shape) {
        try {
            pad(pad, shape);
            return false;
        } catch (StackOverflowError e) {
            return true;
        }
    }

    static int held(Object... locks) {
        int n = 0;
        for (Object lock : locks)
            n += Thread.holdsLock(lock) ? 1 : 0;
        return n;
    }

    static void check(String name, boolean overflowed, int held) {
        if (!overflowed || held != 0)
            throw new AssertionError(name + ": overflowed " + overflowed + ", held " + held);
    }

    static int rounds;

    static void all(int pads) {
        Overflow one = new Overflow();
        Object[] locks = {a, b, Overflow.class, one};
        String[] names = {"block", "value", "two", "leaves", "method", "instance", "last", "array"};
        Shape[] shapes = {() -> block(0), () -> value(0), () -> two(0), () -> leaves(0), () -> method(0),
            () -> one.instance(0), () -> last(0), () -> array(0)};
        for (int i = 0; i < shapes.length; i++)
            for (int pad = 0; pad < pads; pad++, rounds++)
                check(names[i], overflows(pad, shapes[i]), held(locks));
    }

    public static void main(String[] args) throws Exception {
        int pads = Integer.parseInt(args[0]);
        Thread t = new Thread(null, () -> all(pads), "overflows", 192 << 10);
        t.start();
        t.join();
        Thread other = new Thread(() -> {
            synchronized (a) {
                leaf();
            }
        }, "other");
        other.start();
        other.join();
        System.out.println(rounds + " rounds");
    }
}
