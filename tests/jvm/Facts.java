/* What a fact about HotSpot that is wrong could spoil, at a few known places: Facts
 *
 * In each round, for a platform and (JDK 21) a virtual holder: "p0-holder" owns a monitor and computes in hold(), and
 * "p0-want" blocks on it in want() until the holder has seen that; "p0-park" parks in park() and is unparked by main.  So
 * the thread "N-want" has one owner: "N-holder".  Then "burner" computes in burn(), compiled, for some 0.4 s of processor time. */
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

public class Facts {
    static final int ROUNDS = 5, BURNS = 20_000;
    static volatile long sink;
    static volatile boolean released;

    static final class Lock { }

    static void want(Object lock) {
        synchronized (lock) {
            sink++;
        }
    }

    static void hold(Object lock, CountDownLatch held, Thread rival) throws Exception {
        synchronized (lock) {
            held.countDown();
            Sync.state(Thread.State.BLOCKED, rival);
            compute(20);
        }
    }

    static void park() {
        while (!released)
            LockSupport.park();
    }

    static void compute(long ms) {
        for (long end = System.nanoTime() + ms * 1_000_000; System.nanoTime() < end;)
            burn();
    }

    static void burnAll() {
        for (int i = 0; i < BURNS; i++)
            burn();
    }

    static void burn() {
        long x = sink;
        for (int i = 0; i < 20_000; i++)
            x = x * 31 + i;
        sink = x;
    }

    static void round(String name, boolean virtual) throws Exception {
        Object lock = new Lock();
        CountDownLatch held = new CountDownLatch(1);
        Thread rival = Sync.thread(name + "-want", () -> want(lock));
        Sync.Body body = () -> hold(lock, held, rival);
        Thread holder = virtual ? Sync.virtual(name + "-holder", body) : Sync.thread(name + "-holder", body);
        holder.start();
        held.await();
        rival.start();
        rival.join();
        holder.join();
        released = false;
        Thread parked = virtual ? Sync.virtual(name + "-park", Facts::park) : Sync.thread(name + "-park", Facts::park);
        parked.start();
        Sync.state(Thread.State.WAITING, parked);
        released = true;
        LockSupport.unpark(parked);
        parked.join();
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < ROUNDS; i++) {
            round("p" + i, false);
            if (Runtime.version().feature() >= 21)
                round("v" + i, true);
        }
        Thread burner = Sync.start("burner", Facts::burnAll);
        burner.join();
        System.gc();
        System.out.println("done");
    }
}
