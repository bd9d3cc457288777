import java.util.function.IntSupplier;

/** What is thrown at: shapes of code that takes locks. */
class Thrown {
    static final Object a = new Object(), b = new Object();
    int field;

    Thrown(int x) {
        synchronized (a) {
            field = x;
        }
    }

    static int block() {
        synchronized (a) {
            return 1;
        }
    }

    static int below(int x) {
        return x + one(2, x) + block();
    }

    static int one(int y, int x) {
        synchronized (a) {
            return x > 0 ? y + one(y, x - 1) : 0;
        }
    }

    static int two() {
        int n = 0;
        synchronized (a) {
            synchronized (b) {
                n++;
            }
            synchronized (b) {
                n++;
            }
        }
        return n;
    }

    static synchronized int method() {
        return two();
    }

    synchronized int instance() {
        return field;
    }

    static int caught() {
        synchronized (a) {
            try {
                synchronized (b) {
                    throw new IllegalStateException();
                }
            } catch (IllegalStateException e) {
                return 7;
            } finally {
                block();
            }
        }
    }

    static int loop() {
        int n = 0;
        for (int i = 0; i < 3; i++)
            synchronized (a) {
                if (i == 1)
                    continue;
                n += new int[2].length;
            }
        return n;
    }
}

/**
 * An exception from outside at each instruction in turn, of the program's code as it was rewritten: behind each no
 * lock may be held that would not be without the rewriting (javac's own code holds none), and a value that came back is the
 * right one. The agent of throw_agent.c throws; its path is the first
 * argument, the second how far behind the first exception there is a second one. Prints "SHAPE: INSTRUCTIONS" for each.
 */
class ThrownRounds {
    static native boolean arm(int first, int second);

    static int held(Object... locks) {
        int n = 0;
        for (Object lock : locks)
            n += Thread.holdsLock(lock) ? 1 : 0;
        return n;
    }

    /** Whether there were as many instructions. */
    static boolean round(String name, int expected, IntSupplier shape, Object[] locks, int first, int second) {
        boolean came = false;
        int got = 0;
        String at = "";
        try {
            arm(first, second);
            got = shape.getAsInt();
        } catch (InternalError e) {
            came = true;
            at = e.getMessage();
        }
        boolean all = arm(0, 0);
        if (held(locks) != 0 || !came && got != expected)
            throw new AssertionError(name + ", instruction " + first + " and " + second + " behind it (" + at + "): "
                + held(locks) + " held, " + got);
        return all;
    }

    static final int MOST = 400;
    static int seconds;

    /**
     * How many instructions a shape has: each of them was thrown at, alone and with a second one behind it. What the
     * probes keep is longer behind each end that they have missed, and so are they: no more than MOST.
     */
    static int rounds(String name, int expected, IntSupplier shape, Object[] locks) {
        for (int first = 1;; first++) {
            if (first > MOST || !round(name, expected, shape, locks, first, 0))
                return first - 1;
            for (int second = 1; second <= seconds; second++)
                if (!round(name, expected, shape, locks, first, second))
                    break;
        }
    }

    public static void main(String[] args) {
        System.load(args[0]);
        seconds = Integer.parseInt(args[1]);
        Thrown t = new Thrown(5);
        Object[] locks = {Thrown.a, Thrown.b, Thrown.class, t};
        String[] names = {"block", "below", "two", "method", "instance", "caught", "loop", "constructor"};
        int[] expected = {1, 2 + 4 + 1, 2, 2, 5, 7, 4, 3};
        IntSupplier[] shapes = {Thrown::block, () -> Thrown.below(2), Thrown::two, Thrown::method, t::instance, Thrown::caught,
            Thrown::loop, () -> new Thrown(3).field};
        for (int i = 0; i < shapes.length; i++)
            shapes[i].getAsInt(); // what the first time looks up is done
        for (int i = 0; i < shapes.length; i++)
            System.out.println(names[i] + ": " + rounds(names[i], expected[i], shapes[i], locks));
    }
}
