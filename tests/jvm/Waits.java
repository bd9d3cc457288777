/* Object.wait in its ways.  Each thread waits once, on an object of its own class Waits$NAME:
 *
 *   TimedOut     wait(50), nobody notifies
 *   Notified     wait(), notified by main when it sleeps
 *   InTime       wait(60000), notified by main when it sleeps
 *   Interrupted  wait(60000), interrupted by main when it sleeps; InterruptedException
 *   Early        interrupted before it calls wait(): InterruptedException at once
 *   Everybody    three threads wait(); one notifyAll
 *   Forever      wait(Long.MAX_VALUE), notified
 *   Nested       owns the monitor twice, wait(60000, 1), notified
 *
 * "Reacquire" waits, is notified, and gets the monitor only 30 ms later, when main releases it. */
import java.util.function.Consumer;

public class Waits {
    static final class TimedOut { }
    static final class Notified { }
    static final class InTime { }
    static final class Interrupted { }
    static final class Early { }
    static final class Everybody { }
    static final class Forever { }
    static final class Nested { }
    static final class Reacquire { }

    static int interrupted;

    static synchronized void caught() {
        interrupted++;
    }

    static Thread waiter(String name, Object o, long ms) {
        return Sync.start(name, () -> {
            synchronized (o) {
                try {
                    o.wait(ms); // site: wait
                } catch (InterruptedException e) {
                    caught();
                }
            }
        });
    }

    static void wake(Object o, Consumer<Object> how, Thread... waiters) throws Exception {
        Sync.waiting(waiters);
        synchronized (o) {
            how.accept(o);
        }
        for (Thread t : waiters)
            t.join();
    }

    public static void main(String[] args) throws Exception {
        waiter("timed-out", new TimedOut(), 50).join();
        Object o = new Notified();
        wake(o, Object::notify, waiter("notified", o, 0));
        o = new InTime();
        wake(o, Object::notify, waiter("in-time", o, 60_000));
        Thread t = waiter("interrupted", new Interrupted(), 60_000);
        Sync.waiting(t);
        t.interrupt();
        t.join();
        Object early = new Early();
        t = Sync.start("early", () -> {
            Thread.currentThread().interrupt();
            synchronized (early) {
                try {
                    early.wait();
                } catch (InterruptedException e) {
                    caught();
                }
            }
        });
        t.join();
        o = new Everybody();
        wake(o, Object::notifyAll, waiter("every-0", o, 0), waiter("every-1", o, 0), waiter("every-2", o, 0));
        o = new Forever();
        wake(o, Object::notify, waiter("forever", o, Long.MAX_VALUE));
        Object nested = new Nested();
        wake(nested, Object::notify, Sync.start("nested", () -> {
            synchronized (nested) {
                synchronized (nested) {
                    nested.wait(60_000, 1);
                }
            }
        }));
        Object re = new Reacquire();
        t = waiter("reacquire", re, 0);
        Sync.waiting(t);
        synchronized (re) {
            re.notify();
            Sync.pause(30);
        }
        t.join();
        System.out.println("interrupted " + interrupted);
    }
}
