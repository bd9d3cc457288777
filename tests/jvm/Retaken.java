/* Monitors that are reacquired after Object.wait.
 *
 * keeps     "notifier" notifies "waiter" and keeps the monitor until 300 ms have passed; then "main" blocks
 *           once on the same monitor, which "other" keeps until main is seen to block, and for 10 ms more
 * deadlock  "waiter" waits on A, for an hour at most, with B in its hands; "notifier" notifies it, and
 *           wants B with A in its hands.  Both are daemons; main ends 300 ms after they are stuck */
import java.util.concurrent.CountDownLatch;

public class Retaken {
    static final Object A = new Object(), B = new Object();

    static Thread start(String name, boolean daemon, Runnable body) {
        Thread t = new Thread(body, name);
        t.setDaemon(daemon);
        t.start();
        return t;
    }

    static void until(Thread t, Thread.State state) {
        while (t.getState() != state)
            Thread.yield();
    }

    static void spin(long ms) {
        for (long end = System.nanoTime() + ms * 1_000_000; System.nanoTime() < end;)
            Thread.onSpinWait();
    }

    static void waitFor(long ms) {
        synchronized (A) {
            try {
                A.wait(ms);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    static void keeps() throws InterruptedException {
        Thread main = Thread.currentThread();
        Thread waiter = start("waiter", false, () -> waitFor(0));
        until(waiter, Thread.State.WAITING);
        start("notifier", false, () -> {
            synchronized (A) {
                A.notify();
                spin(300);
            }
        }).join();
        waiter.join();
        CountDownLatch holds = new CountDownLatch(1);
        Thread other = start("other", false, () -> {
            synchronized (A) {
                holds.countDown();
                while (main.getState() != Thread.State.BLOCKED)
                    Thread.yield();
                spin(10);
            }
        });
        holds.await();
        synchronized (A) {
            other.join();
        }
    }

    static void deadlock() {
        Thread waiter = start("waiter", true, () -> {
            synchronized (B) {
                waitFor(3_600_000);
            }
        });
        until(waiter, Thread.State.TIMED_WAITING);
        Thread notifier = start("notifier", true, () -> {
            synchronized (A) {
                A.notify();
                synchronized (B) {
                    throw new IllegalStateException("it has B");
                }
            }
        });
        until(notifier, Thread.State.BLOCKED);
        until(waiter, Thread.State.BLOCKED);
        spin(300);
    }

    public static void main(String[] args) throws InterruptedException {
        if (args[0].equals("keeps"))
            keeps();
        else
            deadlock();
    }
}
