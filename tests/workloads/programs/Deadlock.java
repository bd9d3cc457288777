import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Two threads deadlocked on monitors, two on ReentrantLocks; prints "deadlocked" when all four are,
 * and waits to be killed.
 */
public class Deadlock {
    static class A { }
    static class B { }

    static Thread onMonitors(String name, Object first, Object second, CountDownLatch both) {
        return new Thread(() -> {
            synchronized (first) {
                both.countDown();
                await(both);
                synchronized (second) {
                    throw new AssertionError();
                }
            }
        }, name);
    }

    static Thread onLocks(String name, ReentrantLock first, ReentrantLock second,
                          CountDownLatch both) {
        return new Thread(() -> {
            first.lock();
            both.countDown();
            await(both);
            second.lock();
            throw new AssertionError();
        }, name);
    }

    static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    public static void main(String[] args) throws Exception {
        A a = new A();
        B b = new B();
        ReentrantLock c = new ReentrantLock(), d = new ReentrantLock(true);
        CountDownLatch monitors = new CountDownLatch(2), locks = new CountDownLatch(2);
        Thread[] threads = {onMonitors("monitor-ab", a, b, monitors),
            onMonitors("monitor-ba", b, a, monitors),
            onLocks("lock-cd", c, d, locks), onLocks("lock-dc", d, c, locks)};
        for (Thread t : threads)
            t.start();
        await(monitors);
        await(locks);
        for (int i = 0; i < 4; i++)
            while (threads[i].getState() != (i < 2 ? Thread.State.BLOCKED : Thread.State.WAITING))
                Thread.sleep(10);
        Thread.sleep(100); // to have parked, not only to be about to
        System.out.println("deadlocked");
        threads[0].join();
    }
}
