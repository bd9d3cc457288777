/** Recursion up to the end of the stack, again and again: Overflowing MILLISECONDS. */
public class Overflowing {
    static volatile long depth;

    static void down() {
        depth++;
        down();
    }

    static void downSynchronized(Object o) {
        synchronized (o) {
            depth++;
            downSynchronized(o);
        }
    }

    public static void main(String[] args) throws Exception {
        long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000;
        Runnable work = () -> {
            while (System.nanoTime() < end)
                try {
                    if ((depth & 1) == 0)
                        down();
                    else
                        downSynchronized(new Object());
                } catch (StackOverflowError e) {
                    depth = 0;
                }
        };
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(null, work, "overflowing-" + i, (256 << i) * 1024L);
            threads[i].start();
        }
        for (Thread t : threads)
            t.join();
        System.out.println("done");
    }
}
