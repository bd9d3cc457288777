/* Two threads recurse until StackOverflowError, again and again, and pass one lock at every depth, which two
 * others hold most of the time: there is contention everywhere, also where the stack ends.
 * Prints "overflowed N". */
public class StackEnd {
    static final Object LOCK = new Object();
    static volatile boolean stop;
    static long passed;
    static int overflows;

    static int down(int depth) {
        synchronized (LOCK) {
            passed++;
        }
        return down(depth + 1) + 1;
    }

    public static void main(String[] args) throws Exception {
        Thread[] holders = new Thread[2], divers = new Thread[2];
        for (int i = 0; i < 2; i++) {
            holders[i] = Sync.start("holder-" + i, () -> {
                while (!stop)
                    synchronized (LOCK) {
                        for (int k = 0; k < 300; k++)
                            passed += k;
                    }
            });
            divers[i] = Sync.start("diver-" + i, () -> {
                long end = System.nanoTime() + 1_500_000_000L;
                while (System.nanoTime() < end)
                    try {
                        down(0);
                    } catch (StackOverflowError e) {
                        synchronized (StackEnd.class) {
                            overflows++;
                        }
                    }
            });
        }
        for (Thread t : divers)
            t.join();
        stop = true;
        for (Thread t : holders)
            t.join();
        System.out.println("overflowed " + overflows);
    }
}
