/* What a thread does to its own Thread object after its end was announced: Endings N M
 *
 * main owns the Thread object of "ender-i" while that thread ends, so that it blocks in its very last step, where the
 * JVM wakes those who join it.  N times.
 * Then M times: 396 threads join the thread "joined-i" while four more fight for its Thread object, so that it is
 * the owner that they block on while it wakes the others. */
import java.util.concurrent.CountDownLatch;

public class Endings {
    static void contend(Thread t) {
        for (boolean alive = true; alive;)
            synchronized (t) {
                alive = t.isAlive();
            }
    }

    public static void main(String[] args) throws Exception {
        int n = Integer.parseInt(args[0]);
        for (int i = 0; i < n; i++) {
            Thread t = new Thread(() -> { }, "ender-" + i);
            synchronized (t) {
                t.start();
                /* until it is gone from the list of threads or blocked in its end: JDK 17 and 25 differ */
                Sync.pause(5);
            }
            t.join();
        }
        Thread[] joiners = new Thread[400];
        for (int i = 0; i < Integer.parseInt(args[1]); i++) {
            CountDownLatch end = new CountDownLatch(1);
            Thread t = Sync.start("joined-" + i, end::await);
            for (int k = 0; k < joiners.length; k++)
                joiners[k] = Sync.start("joiner-" + i + "-" + k, k % 100 == 0 ? () -> contend(t) : t::join);
            Sync.state(Thread.State.WAITING, joiners[1], joiners[joiners.length - 1]);
            end.countDown();
            for (Thread j : joiners)
                j.join();
        }
        System.out.println("done");
    }
}
