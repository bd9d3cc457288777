/* Circles N:KIND...: deadlocks beside each other, one of N threads for each argument.  KIND: monitor, lock (ReentrantLock)
 * or mixed, the one after the other; with "virtual-" before it the threads are virtual.  The threads of the k-th are "k-0",
 * "k-1", ...; prints "ready" when all are deadlocked, and stays: then nothing moves. */
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;

public class Circles {
    static void pass(Object lock) {
        synchronized (lock) {
            System.out.println("never");
        }
    }

    static void circle(int k, int n, String kind) throws Exception {
        boolean virtual = kind.startsWith("virtual-");
        Object[] locks = new Object[n];
        for (int i = 0; i < n; i++)
            locks[i] = kind.endsWith("lock") || kind.endsWith("mixed") && i % 2 == 1 ? new ReentrantLock() : new Object();
        CountDownLatch all = new CountDownLatch(n);
        Thread[] threads = new Thread[n];
        for (int i = 0; i < n; i++) {
            Object mine = locks[i], next = locks[(i + 1) % n];
            Sync.Body wants = () -> {
                all.countDown();
                all.await();
                if (next instanceof ReentrantLock)
                    ((ReentrantLock) next).lock();
                else
                    pass(next);
            };
            Sync.Body owns = () -> {
                if (mine instanceof ReentrantLock) {
                    ((ReentrantLock) mine).lock();
                    wants.run();
                } else {
                    synchronized (mine) {
                        wants.run();
                    }
                }
            };
            String name = k + "-" + i;
            threads[i] = virtual ? Sync.virtual(name, owns) : Sync.thread(name, owns);
            threads[i].start();
        }
        for (int i = 0; i < n; i++) {
            Object next = locks[(i + 1) % n];
            if (!(next instanceof ReentrantLock))
                Sync.state(Thread.State.BLOCKED, threads[i]);
            else
                while (!((ReentrantLock) next).hasQueuedThread(threads[i]) || threads[i].getState() != Thread.State.WAITING)
                    Thread.yield();
        }
    }

    public static void main(String[] args) throws Exception {
        for (int k = 0; k < args.length; k++)
            circle(k, Integer.parseInt(args[k].replaceAll(":.*", "")), args[k].replaceAll(".*:", ""));
        System.out.println("ready");
        new CountDownLatch(1).await();
    }
}
