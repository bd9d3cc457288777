/* Waits of which one is interrupted and one notified within one synchronized block: WhoWoke ROUNDS
 *
 * In each round four threads wait on one monitor, one after the other.  main, which has it, interrupts one of them and
 * notifies, in this order or the other; when whoever that concerns has returned it notifies all.  A thread that was
 * interrupted may still be the one that is notified: then it returns without an exception.
 * "woke THREAD HOW" says how each thread's wait ended: interrupt, notify, notify-all. */
import java.util.concurrent.atomic.AtomicInteger;

public class WhoWoke {
    static final int WAITERS = 4;

    static final class Door { }
    static final Door DOOR = new Door();
    static final AtomicInteger waiting = new AtomicInteger(), returned = new AtomicInteger();
    static volatile boolean all;
    static final String[] hows = new String[WAITERS];

    static void waiter(int me) {
        synchronized (DOOR) {
            waiting.incrementAndGet();
            String how;
            try {
                DOOR.wait();
                how = all ? "notify-all" : "notify";
            } catch (InterruptedException e) {
                how = "interrupt";
            }
            hows[me] = how;
            returned.incrementAndGet();
        }
    }

    static void enough(Thread[] threads, int victim) {
        while (returned.get() < 2 && !(returned.get() == 1 && "notify".equals(hows[victim])))
            Thread.yield();
        synchronized (DOOR) { // whoever says so has left
            all = true;
        }
    }

    static void round(int r, StringBuilder out) throws InterruptedException {
        Thread[] threads = new Thread[WAITERS];
        int victim = r % WAITERS;
        waiting.set(0);
        returned.set(0);
        all = false;
        for (int i = 0; i < WAITERS; i++) {
            int me = i;
            hows[i] = null;
            threads[i] = Sync.start("waiter-" + r + "-" + i, () -> waiter(me));
            Sync.state(Thread.State.WAITING, threads[i]);
        }
        synchronized (DOOR) {
            if (r % 3 == 2)
                DOOR.notify();
            threads[victim].interrupt();
            for (int i = r % 5 * 100; i > 0; i--)
                Thread.onSpinWait();
            if (r % 3 != 2)
                DOOR.notify();
        }
        enough(threads, victim);
        synchronized (DOOR) {
            DOOR.notifyAll();
        }
        for (int i = 0; i < WAITERS; i++) {
            threads[i].join();
            out.append("woke ").append(threads[i].getName()).append(' ').append(hows[i]).append('\n');
        }
    }

    public static void main(String[] args) throws Exception {
        StringBuilder out = new StringBuilder();
        for (int r = 0; r < Integer.parseInt(args[0]); r++)
            round(r, out);
        System.out.print(out);
    }
}
