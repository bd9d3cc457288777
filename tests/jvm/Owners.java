/* Who owns what, with the collector running: Owners ROUNDS CHURN-MS [nogc]
 *
 * Each round: a holder has a lock (a fresh object, an array, a fresh instance's synchronized method, an
 * object used in every round, or a Class), four threads block on it, and only when all four sleep does the holder
 * release it.  "strict" lines of the output say so.
 * Then, for CHURN-MS, six threads fight for three locks with short holds, 200 threads a second start,
 * hold one of the locks, and end, and "hold" lines say who held what when. */
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

public class Owners {
    static final int BLOCKERS = 4;
    static final Object REUSED = new Object();
    static volatile boolean stop;
    static volatile Object garbage;

    static class Door {
        synchronized void pass() { }
    }

    static void collect() throws InterruptedException {
        while (!stop) {
            for (int i = 0; i < 200; i++)
                garbage = new byte[10_000];
            System.gc();
            Thread.sleep(5);
        }
    }

    /* --- strict --------------------------------------------------------------------------------- */

    static final StringBuilder truth = new StringBuilder();
    static final List<Object> locks = new ArrayList<>();

    static Object lockOf(int round) {
        return switch (round % 5) {
            case 0 -> new Object();
            case 1 -> new int[3];
            case 2 -> new Door();
            case 3 -> REUSED;
            default -> Door.class;
        };
    }

    static void enter(Object lock) {
        if (lock instanceof Door)
            ((Door) lock).pass();
        else
            synchronized (lock) {
                garbage = lock;
            }
    }

    static void round(int round) throws Exception {
        Object lock = lockOf(round);
        String holder = "r" + round + "-holder";
        Thread[] blockers = new Thread[BLOCKERS];
        CountDownLatch held = new CountDownLatch(1);
        for (int i = 0; i < BLOCKERS; i++)
            blockers[i] = Sync.thread("r" + round + "-b" + i, () -> {
                held.await();
                enter(lock);
            });
        for (Thread t : blockers)
            t.start();
        Thread h = Sync.start(holder, () -> {
            synchronized (lock) {
                held.countDown();
                Sync.blocked(blockers);
            }
        });
        h.join();
        for (Thread t : blockers)
            t.join();
        for (Thread t : blockers)
            truth.append("strict ").append(Sync.hash(lock)).append(' ').append(t.getName()).append(' ')
                    .append(holder).append('\n');
        locks.add(lock); /* one object, one hash */
    }

    /* --- churn ---------------------------------------------------------------------------------- */

    static final class Arena {
        /* guarded by itself */
        final ArrayList<String> who = new ArrayList<>();
        final ArrayList<long[]> when = new ArrayList<>();

        void hold(long ns) {
            String name = Thread.currentThread().getName();
            synchronized (this) {
                long from = System.nanoTime(), until = from + ns, to = from;
                while (to < until)
                    to = System.nanoTime();
                who.add(name);
                long[] w = {from, 0};
                when.add(w);
                w[1] = System.nanoTime();
            }
        }
    }

    static void churn(long ms) throws Exception {
        Arena[] arenas = {new Arena(), new Arena(), new Arena()};
        long end = System.nanoTime() + ms * 1_000_000;
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            int n = i;
            threads.add(Sync.start("fighter-" + i, () -> {
                for (int k = n; System.nanoTime() < end; k++) {
                    arenas[k % 3].hold(20_000 + 10_000 * n);
                    if (k % 16 == 0)
                        Thread.sleep(1);
                }
            }));
        }
        for (int i = 0; System.nanoTime() < end; i++) {
            Arena a = arenas[i % 3];
            threads.add(Sync.start("brief-" + i, () -> a.hold(10_000)));
            Thread.sleep(5);
        }
        for (Thread t : threads)
            t.join();
        for (Arena a : arenas)
            for (int i = 0; i < a.who.size(); i++)
                truth.append("hold ").append(Sync.hash(a)).append(' ').append(a.who.get(i)).append(' ')
                        .append(a.when.get(i)[0]).append(' ').append(a.when.get(i)[1]).append('\n');
    }

    public static void main(String[] args) throws Exception {
        Thread gc = args.length > 2 ? null : Sync.daemon("collector", Owners::collect);
        int rounds = Integer.parseInt(args[0]);
        for (int i = 0; i < rounds; i++)
            round(i);
        churn(Long.parseLong(args[1]));
        stop = true;
        if (gc != null)
            gc.join();
        System.out.print(truth);
    }
}
