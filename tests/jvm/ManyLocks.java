/* Pairs of threads, "blocker-K" and "holder-K": each blocker blocks once on each of its objects of class ManyLocks$Lock while its
 * holder owns it, for a millisecond more on every tenth.  Several pairs, as a pair waits for its turn of a processor at each
 * step, and does little.  Prints how many objects were passed: ManyLocks N PAIRS */
import java.util.concurrent.atomic.AtomicInteger;

public class ManyLocks {
    static final class Lock { }

    private final Lock[] locks;
    private final AtomicInteger held = new AtomicInteger(-1), passed = new AtomicInteger(-1);
    private final Thread blocker, holder;

    private ManyLocks(int k, int n) {
        locks = new Lock[n];
        blocker = Sync.start("blocker-" + k, this::block);
        holder = Sync.start("holder-" + k, this::hold);
    }

    private static void until(AtomicInteger value, int least) {
        for (long spins = 0; value.get() < least; spins++)
            if (spins > 2000)
                Thread.yield(); // the other one may have no processor
            else
                Thread.onSpinWait();
    }

    private void block() {
        for (int i = 0; i < locks.length; i++) {
            until(held, i);
            synchronized (locks[i]) {
                passed.set(i);
            }
        }
    }

    private void hold() throws InterruptedException {
        for (int i = 0; i < locks.length; i++) {
            locks[i] = new Lock();
            synchronized (locks[i]) {
                held.set(i);
                Sync.state(Thread.State.BLOCKED, blocker);
                if (i % 10 == 0)
                    Thread.sleep(1); // long enough for the owner to be read
            }
            until(passed, i);
        }
    }

    public static void main(String[] args) throws Exception {
        int n = Integer.parseInt(args[0]), passed = 0;
        ManyLocks[] pairs = new ManyLocks[Integer.parseInt(args[1])];
        for (int k = 0; k < pairs.length; k++)
            pairs[k] = new ManyLocks(k, n / pairs.length);
        for (ManyLocks pair : pairs) {
            pair.holder.join();
            pair.blocker.join();
            passed += pair.passed.get() + 1;
        }
        System.out.println("passed " + passed);
    }
}
