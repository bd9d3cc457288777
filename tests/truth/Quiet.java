/* Locks and threads that no tool should report, beside others that contend: whatever a tool says of these is wrong.
 *
 *   Alone    one thread's, in the midst of its waits for Busy and inside of its holds of that
 *   InTurn   each thread's, one after the other has ended
 *   Called   notify and notifyAll, and nobody waits
 *   Free     a ReentrantLock and Semaphore that are free whenever they are wanted
 *   quiet    a thread that takes all of these, and never Busy
 *   Busy     four threads that want it all the time, and wait on it */
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.ReentrantLock;

public class Quiet {
    static class Alone { }
    static class InTurn { }
    static class Called { }
    static class Busy { }
    static final class Free extends ReentrantLock { }
    static final class Permits extends Semaphore {
        Permits() {
            super(1);
        }
    }

    static long work;

    static void use(Object alone, Object called, ReentrantLock free, Semaphore permits) throws InterruptedException {
        synchronized (alone) {
            synchronized (called) {
                called.notify();
                called.notifyAll();
            }
            free.lock();
            try {
                permits.acquire();
                work++;
                permits.release();
            } finally {
                free.unlock();
            }
        }
    }

    /** One of those that contend; whatever else it takes is its own. */
    static void contend(Object busy, int times) throws InterruptedException {
        Object alone = new Alone(), called = new Called();
        Free free = new Free();
        Permits permits = new Permits();
        for (int i = 0; i < times; i++) {
            use(alone, called, free, permits);
            synchronized (busy) {
                use(alone, called, free, permits);
                long until = System.nanoTime() + 100_000;
                while (System.nanoTime() < until)
                    Thread.onSpinWait();
                if (i % 8 == 0)
                    busy.wait(1);
                else
                    busy.notify();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Known.mode(args);
        int times = args.length > 1 ? 100 : 400;
        Object busy = new Busy(), inTurn = new InTurn();
        List<Thread> contending = new ArrayList<>();
        for (int i = 0; i < 4; i++)
            contending.add(Known.start("busy-" + i, () -> contend(busy, times)));
        Thread quiet = Known.start("quiet", () -> {
            Object alone = new Alone(), called = new Called();
            Free free = new Free();
            Permits permits = new Permits();
            for (int i = 0; i < times * 10; i++)
                use(alone, called, free, permits);
        });
        for (int i = 0; i < 20; i++)
            Known.start("turn-" + i, () -> {
                synchronized (inTurn) {
                    work++;
                }
            }).join();
        quiet.join();
        for (Thread t : contending)
            t.join();
        for (String about : new String[] {"on=Quiet$Alone", "on=Quiet$InTurn", "on=Quiet$Called", "on=Quiet$Free", "on=Quiet$Permits", "thread=quiet", "thread=turn-*"})
            Known.is("said-of", about, 0);
        Known.noDeadlock();
        Known.print();
    }
}
