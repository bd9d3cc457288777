/* Object.wait, where its end by time or by an interrupt and a notify come at the same moment: the JVM takes the thread out
 * of the wait set for one of them only.
 *
 *   TimeUp    the first of three waiters has a time limit; notify is called about when that is over
 *   Paused    the same; the limit is over while a garbage collection stops all threads, which go on at the same moment
 *   Stopped   the first of three waiters is interrupted and, up to some 0.1 ms later in the same block, notify is called
 *
 * One notify, of a thread of its own.  Behind it, is one of the two others awake, or still in the wait set?  Then it was the
 * first one, or not, whose the notify was; that thread itself cannot know.  Then the others are notified, by a thread each. */
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

public class Races {
    static class TimeUp { }
    static class Paused { }
    static class Stopped { }

    static final long LIMIT_NS = 20_000_000;
    static final int STEP_NS = 4_000;

    /** How long behind the limit, or the interrupt, the notify comes: it goes to where both happen. */
    static int timeUpBehind = 60_000, stoppedBehind = 40_000;
    static int waiting; /* written by the monitor's owner */

    static void wait(Waiting.Waiter w, Object lock, long ms) {
        synchronized (lock) {
            waiting++;
            w.called = System.nanoTime();
            try {
                lock.wait(ms);
            } catch (InterruptedException e) {
                w.broken = true;
            }
            Thread.interrupted(); /* who is notified stays interrupted */
            w.back = true;
        }
    }

    /** One that is in the wait set when this returns. */
    static Waiting.Waiter waiter(String name, Object lock, long ms) throws Exception {
        Waiting.Waiter w = new Waiting.Waiter();
        int before;
        synchronized (lock) {
            before = waiting;
        }
        w.thread = Known.start(name, () -> wait(w, lock, ms));
        for (int now = before; now == before; Thread.onSpinWait())
            synchronized (lock) {
                now = waiting;
            }
        return w;
    }

    static void until(long ns) {
        while (System.nanoTime() < ns - 4_000_000)
            LockSupport.parkNanos(ns - 4_000_000 - System.nanoTime());
        while (System.nanoTime() < ns)
            Thread.onSpinWait();
    }

    static Thread notifier(String name, Object lock, long at) throws Exception {
        return Known.start(name, () -> {
            until(at);
            synchronized (lock) {
                lock.notify();
            }
        });
    }

    /* The JVM says so itself: whom a notify takes out of the wait set waits no more, whatever it waits for next. */
    static boolean isAwake(Waiting.Waiter w) {
        for (;;) {
            Thread.State now = w.thread.getState();
            if (w.back)
                return true;
            if (now == Thread.State.WAITING)
                return false;
            Thread.onSpinWait();
        }
    }

    /** The first waiter's wait is over, the others go on or not: who was notified; and what the others were notified by then. */
    static boolean say(String name, Object lock, Waiting.Waiter first, List<Waiting.Waiter> others) throws Exception {
        boolean took = true;
        first.thread.join();
        for (int k = 1; !others.isEmpty(); k++) {
            String by = name + "-n" + k;
            if (k > 1)
                notifier(by, lock, 0).join();
            for (Waiting.Waiter w : List.copyOf(others))
                if (isAwake(w)) {
                    took &= k > 1;
                    others.remove(w);
                    w.thread.join();
                    Known.is("race-end", w.about(lock), "notify");
                    Known.is("race-by", w.about(lock), by);
                }
        }
        Known.is("race-end", first.about(lock), took ? "notify" : lock instanceof Stopped ? "interrupt" : "timeout");
        if (took || lock instanceof Stopped)
            Known.is("race-by", first.about(lock), name + "-n1");
        if (first.broken == took)
            if (lock instanceof Stopped)
                throw new IllegalStateException(name + " was notified, and threw");
        return took;
    }

    static List<Waiting.Waiter> others(String name, Object lock) throws Exception {
        return new ArrayList<>(List.of(waiter(name + "-b", lock, 0), waiter(name + "-c", lock, 0)));
    }

    static void timeUp(String name) throws Exception {
        Object lock = new TimeUp();
        Waiting.Waiter first = waiter(name + "-a", lock, LIMIT_NS / 1_000_000);
        List<Waiting.Waiter> others = others(name, lock);
        notifier(name + "-n1", lock, first.called + LIMIT_NS + timeUpBehind).join();
        timeUpBehind += say(name, lock, first, others) ? STEP_NS : -STEP_NS;
    }

    static void paused(String name) throws Exception {
        Object lock = new Paused();
        Waiting.Waiter first = waiter(name + "-a", lock, LIMIT_NS / 1_000_000);
        List<Waiting.Waiter> others = others(name, lock);
        Thread notifier = notifier(name + "-n1", lock, first.called + LIMIT_NS);
        until(first.called + LIMIT_NS - 1_000_000);
        System.gc();
        notifier.join();
        say(name, lock, first, others);
    }

    static void stopped(String name) throws Exception {
        Object lock = new Stopped();
        Waiting.Waiter first = waiter(name + "-a", lock, 0);
        List<Waiting.Waiter> others = others(name, lock);
        Known.waiting(first.thread);
        Known.start(name + "-n1", () -> {
            synchronized (lock) {
                long at = System.nanoTime();
                first.thread.interrupt();
                until(at + stoppedBehind);
                lock.notify();
            }
        }).join();
        stoppedBehind = Math.max(0, stoppedBehind + (say(name, lock, first, others) ? STEP_NS : -STEP_NS));
    }

    public static void main(String[] args) throws Exception {
        Known.mode(args);
        int n = args.length > 1 ? 25 : 100;
        for (int i = 0; i < n; i++) {
            timeUp("time" + i);
            paused("paus" + i);
            stopped("stop" + i);
        }
        Known.noDeadlock();
        Known.print();
    }
}
