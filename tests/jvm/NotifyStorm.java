/* Many threads that wait for each other's notifies on one monitor: NotifyStorm WAITERS ROUNDS
 *
 * Each waiter ROUNDS times enters the monitor, notifies all, works a little, waits, works a little again and leaves;
 * main notifies one of them now and then until they have ended.  "hold" lines of the output, in the order of time, say
 * who held it when (tests/jvm/traced.sh, check_owners): a wait gives it back and takes it again. */
public class NotifyStorm {
    static final class Door { }
    static final Door DOOR = new Door();
    static final int MOST = 400_000;
    static final long[] from = new long[MOST], to = new long[MOST];
    static final Thread[] who = new Thread[MOST];
    static int n; /* under DOOR */
    static volatile long sink;

    static void taken() {
        if (n < MOST) {
            who[n] = Thread.currentThread();
            from[n] = System.nanoTime();
        }
    }

    static void givenBack() {
        if (n < MOST)
            to[n++] = System.nanoTime();
    }

    static void work(int times) {
        long x = times;
        for (int i = 0; i < times; i++)
            x = x * 31 + i;
        sink = x;
    }

    static void waiter(int rounds) throws InterruptedException {
        for (int i = 0; i < rounds; i++) {
            synchronized (DOOR) {
                taken();
                DOOR.notifyAll();
                work(20);
                givenBack();
                DOOR.wait();
                taken();
                work(20);
                givenBack();
            }
            work(200);
        }
    }

    public static void main(String[] args) throws Exception {
        int waiters = Integer.parseInt(args[0]), rounds = Integer.parseInt(args[1]);
        Thread[] all = new Thread[waiters];
        for (int i = 0; i < waiters; i++)
            all[i] = Sync.start("waiter-" + i, () -> waiter(rounds));
        for (Thread t : all)
            while (t.isAlive()) {
                synchronized (DOOR) {
                    taken();
                    DOOR.notify();
                    work(20);
                    givenBack();
                }
                t.join(1);
            }
        StringBuilder out = new StringBuilder();
        String hash = Sync.hash(DOOR);
        for (int i = 0; i < n; i++)
            out.append("hold ").append(hash).append(' ').append(who[i].getName()).append(' ').append(from[i]).append(' ')
                .append(to[i]).append('\n');
        System.out.print(out);
    }
}
