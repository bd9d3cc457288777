/* Object.wait: how often, how long, how it ended, who ended it, how long the monitor took to get back.
 *
 *   Told      one waiter, one notify
 *   Kept      the same; the notifier keeps the monitor for a while
 *   Late      wait(30) that nobody ends
 *   Broken    interrupted
 *   Each      three waiters, three threads that notify one after the other
 *   All       three waiters, one notifyAll
 *   Both      two waiters; in one block of its monitor the first is interrupted by one thread, and notify is called by another
 *   Burst     four waiters; a thread each calls notify, without a pause between them */
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

public class Waiting {
    static class Told { }
    static class Kept { }
    static class Late { }
    static class Broken { }
    static class Each { }
    static class All { }
    static class Both { }
    static class Burst { }

    static final class Waiter {
        Thread thread;
        String at;
        long called, returned, asleep;
        boolean broken;
        volatile boolean back;

        void wait(Object lock, long ms) {
            synchronized (lock) {
                called = System.nanoTime();
                try {
                    lock.wait(ms);
                } catch (InterruptedException e) {
                    broken = true;
                }
                returned = System.nanoTime();
                back = true;
            }
        }

        String about(Object lock) {
            return "thread=" + thread.getName() + " on=" + lock.getClass().getName();
        }
    }

    static Waiter waiter(String name, Object lock, long ms) throws Exception {
        Waiter w = new Waiter();
        w.thread = Known.start(name, () -> w.wait(lock, ms));
        w.asleep = Known.waiting(w.thread);
        w.at = Known.at(w.thread);
        return w;
    }

    static long time;

    /** A thread of that name calls it, owning the monitor; the time just before. */
    static long in(String name, Object lock, Runnable act) throws Exception {
        Thread t = Known.start(name, () -> {
            synchronized (lock) {
                time = System.nanoTime();
                act.run();
            }
        });
        t.join();
        return time;
    }

    static void say(Waiter w, Object lock, long ended, String how, String by) {
        Known.is("wait-count", w.about(lock), 1);
        Known.between("wait-ns", w.about(lock), ended - w.asleep, w.returned - w.called);
        Known.is("wait-end", w.about(lock), how);
        if (by != null)
            Known.is("wait-by", w.about(lock), by);
        if (w.at != null)
            Known.is("wait-at", w.about(lock), w.at);
    }

    static void told(int i) throws Exception {
        Object lock = new Told();
        Waiter w = waiter("told-w" + i, lock, i % 2 == 0 ? 0 : 60_000);
        long t = in("told-n" + i, lock, lock::notify);
        w.thread.join();
        say(w, lock, t, "notify", "told-n" + i);
    }

    static void kept(int i) throws Exception {
        Object lock = new Kept();
        Waiter w = waiter("kept-w" + i, lock, 0);
        long[] times = new long[2];
        long t = in("kept-n" + i, lock, () -> {
            lock.notify();
            times[0] = System.nanoTime();
            while ((times[1] = System.nanoTime()) < times[0] + 5_000_000)
                Thread.onSpinWait();
        });
        w.thread.join();
        say(w, lock, times[1], "notify", "kept-n" + i);
        Known.between("regain-ns", w.about(lock), times[1] - times[0], w.returned - t);
    }

    static void late(int i) throws Exception {
        Object lock = new Late();
        Waiter w = new Waiter();
        w.thread = Known.start("late-w" + i, () -> w.wait(lock, 30));
        w.thread.join();
        w.asleep = w.called;
        say(w, lock, w.called + 29_900_000, "timeout", null);
    }

    static void broken(int i) throws Exception {
        Object lock = new Broken();
        Waiter w = waiter("broken-w" + i, lock, i % 2 == 0 ? 0 : 60_000);
        long[] at = new long[1];
        Known.start("broken-n" + i, () -> {
            at[0] = System.nanoTime();
            w.thread.interrupt();
        }).join();
        w.thread.join();
        say(w, lock, at[0], "interrupt", "broken-n" + i);
    }

    static void each(int i) throws Exception {
        Object lock = new Each();
        List<Waiter> waiters = new ArrayList<>();
        for (int k = 0; k < 3; k++)
            waiters.add(waiter("each-w" + i + k, lock, 0));
        for (int k = 0; k < 3; k++) {
            String by = "each-n" + i + k;
            long t = in(by, lock, lock::notify);
            Waiter w = back(waiters);
            waiters.remove(w);
            w.thread.join();
            say(w, lock, t, "notify", by);
        }
    }

    static Waiter back(List<Waiter> waiters) throws InterruptedException {
        for (;;) {
            for (Waiter w : waiters)
                if (w.back)
                    return w;
            Thread.sleep(1);
        }
    }

    static void all(int i) throws Exception {
        Object lock = new All();
        List<Waiter> waiters = new ArrayList<>();
        for (int k = 0; k < 3; k++)
            waiters.add(waiter("all-w" + i + k, lock, 0));
        long t = in("all-n" + i, lock, lock::notifyAll);
        for (Waiter w : waiters) {
            w.thread.join();
            say(w, lock, t, "notify", "all-n" + i);
        }
    }

    /* Which of the two the JVM lets win is for the first waiter to say. */
    static void both(int i, boolean interruptFirst) throws Exception {
        Object lock = new Both();
        Waiter a = waiter("both-a" + i, lock, 0), b = waiter("both-b" + i, lock, 0);
        long t = in("both-n" + i, lock, () -> {
            if (!interruptFirst)
                lock.notify();
            try {
                Known.start("both-i" + i, a.thread::interrupt).join();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
            if (interruptFirst)
                lock.notify();
        });
        a.thread.join();
        if (!a.broken)
            in("both-m" + i, lock, lock::notify);
        b.thread.join();
        say(a, lock, t, a.broken ? "interrupt" : "notify", a.broken ? "both-i" + i : "both-n" + i);
        say(b, lock, t, "notify", a.broken ? "both-n" + i : "both-m" + i);
    }

    /* Who wakes whom is not for this program to know; that each was woken once, by a notify, it knows. */
    static void burst(int i) throws Exception {
        Object lock = new Burst();
        List<Waiter> waiters = new ArrayList<>();
        List<Thread> notifiers = new ArrayList<>();
        for (int k = 0; k < 4; k++)
            waiters.add(waiter("burst-w" + i + k, lock, 0));
        CountDownLatch go = new CountDownLatch(1);
        for (int k = 0; k < 4; k++)
            notifiers.add(Known.start("burst-n" + i + k, () -> {
                go.await();
                synchronized (lock) {
                    lock.notify();
                }
            }));
        Known.waiting(notifiers.toArray(new Thread[0]));
        long t = System.nanoTime();
        go.countDown();
        for (Waiter w : waiters) {
            w.thread.join();
            say(w, lock, t, "notify", null);
        }
        Known.is("wakers", "on=Waiting$Burst thread=burst-w" + i + "*", Known.names(notifiers));
    }

    public static void main(String[] args) throws Exception {
        Known.mode(args);
        int n = args.length > 1 ? 2 : 6;
        for (int i = 0; i < n; i++) {
            told(i);
            kept(i);
            late(i);
            broken(i);
            each(i);
            all(i);
            both(i, i % 2 == 0);
            burst(i);
        }
        Known.noDeadlock();
        Known.print();
    }
}
