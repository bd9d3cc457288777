/* As many events as possible, and exactly known: WaitStorm THREADS WAITS | WaitStorm THREADS WAITS wait
 *
 * Each thread "storm-i" calls wait() WAITS times with its interrupt pending, on one of 1,024 objects of its
 * own, of class WaitStorm$Old: that is announced and ends at once, two events each time.  Then "newest"
 * contends once with main on a WaitStorm$Newest.  Prints "waits N"; "wait": then sleeps until a signal comes. */
import java.util.concurrent.CountDownLatch;

public class WaitStorm {
    static final class Old { }
    static final class Newest { }
    static int passed;

    static void storm(int waits, int random) {
        Old[] objects = new Old[1024];
        for (int i = 0; i < objects.length; i++)
            objects[i] = new Old();
        for (int i = 0; i < waits; i++) {
            /* no two distances are alike, as in real programs */
            random = random * 1103515245 + 12345;
            for (int k = random >>> 28; k > 0; k--)
                Thread.onSpinWait();
            Old o = objects[random >>> 16 & 1023];
            Thread.currentThread().interrupt();
            synchronized (o) {
                try {
                    o.wait();
                    throw new IllegalStateException("not interrupted");
                } catch (InterruptedException e) {
                    continue;
                }
            }
        }
    }

    public static void main(String[] args) throws Exception {
        int n = Integer.parseInt(args[0]), waits = Integer.parseInt(args[1]);
        Thread[] threads = new Thread[n];
        for (int i = 0; i < n; i++) {
            int seed = i;
            threads[i] = Sync.start("storm-" + i, () -> storm(waits, seed));
        }
        for (Thread t : threads)
            t.join();
        Newest newest = new Newest();
        CountDownLatch held = new CountDownLatch(1);
        Thread t = Sync.start("newest", () -> {
            held.await();
            synchronized (newest) {
                passed++;
            }
        });
        synchronized (newest) {
            held.countDown();
            Sync.blocked(t);
        }
        t.join();
        System.out.println("waits " + (long) n * waits);
        System.out.flush();
        if (args.length > 2)
            Thread.sleep(60_000);
    }
}
