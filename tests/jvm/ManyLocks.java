/* The thread "blocker" blocks once on each of N objects of class ManyLocks$Lock while "holder" owns it, for a
 * millisecond more on every tenth: ManyLocks N */
import java.util.concurrent.atomic.AtomicInteger;

public class ManyLocks {
    static final class Lock { }

    private static void until(AtomicInteger value, int least) {
        for (long spins = 0; value.get() < least; spins++)
            if (spins > 2000)
                Thread.yield(); // the other one may have no processor
            else
                Thread.onSpinWait();
    }

    public static void main(String[] args) throws Exception {
        int n = Integer.parseInt(args[0]);
        Lock[] locks = new Lock[n];
        AtomicInteger held = new AtomicInteger(-1), passed = new AtomicInteger(-1);
        Thread blocker = Sync.start("blocker", () -> {
            for (int i = 0; i < n; i++) {
                until(held, i);
                synchronized (locks[i]) {
                    passed.set(i);
                }
            }
        });
        Thread holder = Sync.start("holder", () -> {
            for (int i = 0; i < n; i++) {
                locks[i] = new Lock();
                synchronized (locks[i]) {
                    held.set(i);
                    Sync.state(Thread.State.BLOCKED, blocker);
                    if (i % 10 == 0)
                        Thread.sleep(1); // so long that the owner can be read
                }
                until(passed, i);
            }
        });
        holder.join();
        blocker.join();
        System.out.println("passed " + (passed.get() + 1));
    }
}
