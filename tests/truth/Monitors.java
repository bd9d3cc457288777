/* Who was blocked on a monitor, how often, how long, where, who held it, what the holder executed, who handed it off.
 *
 *   Lone      one holder, one waiter; a lock each time
 *   Method    the same with a synchronized method
 *   Spun      the holder does not wait but runs (not when unmounted)
 *   Queue     one holder, five waiters, who get it one after the other
 *   Rounds    one waiter blocks many times on one lock
 *   Chain     the holder of one is blocked on the next one */
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

public class Monitors {
    static class Lone { }
    static class Queue { }
    static class Rounds { }
    static class Spun { }
    static class ChainA { }
    static class ChainB { }

    static class Method {
        synchronized void pass(Visit v) {
            v.in(this);
        }
    }

    /** A waiter's own knowledge. */
    static final class Visit {
        final List<String> order;
        Thread thread;
        long called, entered, asleep;
        volatile String at, inside; /* where it blocks; the first line inside, which the JVM tells */

        Visit(List<String> order) { this.order = order; }

        void pass(Object lock) {
            if (lock instanceof Method) {
                called = System.nanoTime();
                ((Method) lock).pass(this);
                return;
            }
            at = Known.lineBelow(3);
            inside = Known.lineBelow(3);
            called = System.nanoTime();
            synchronized (lock) {
                in(lock);
            }
        }

        /* Owns the lock; long enough that the next one is really blocked. */
        void in(Object lock) {
            entered = System.nanoTime();
            order.add(thread.getName());
            while (System.nanoTime() < entered + 200_000)
                Thread.onSpinWait();
        }
    }

    static volatile boolean spinning, spins;

    static final class Holder {
        final CountDownLatch held = new CountDownLatch(1), release = new CountDownLatch(1);
        final boolean spins;
        Thread thread;
        long released;
        String method;

        Holder(boolean spins) { this.spins = spins; }

        void hold(Object lock) throws Exception {
            synchronized (lock) {
                held.countDown();
                if (spins)
                    spin();
                else
                    release.await();
                released = System.nanoTime();
            }
        }

        void spin() {
            while (spinning)
                Monitors.spins = true;
        }

        void letGo() {
            spinning = false;
            release.countDown();
        }
    }

    static Holder holder(String name, Object lock, boolean spins) throws Exception {
        Holder h = new Holder(spins);
        spinning = spins;
        Monitors.spins = false;
        h.thread = Known.start(name, () -> h.hold(lock));
        h.held.await();
        while (spins && !Monitors.spins)
            Thread.onSpinWait();
        return h;
    }


    static Visit visitor(String name, Object lock, List<String> order, boolean holderRuns) throws Exception {
        Visit v = new Visit(order);
        v.thread = Known.thread(name, () -> v.pass(lock));
        v.thread.start();
        if (holderRuns && Known.is(Known.Mode.MOUNTED)) // carriers are not distinguished
            Sync.state(Thread.State.BLOCKED, v.thread);
        else
            Known.blocked(v.thread);
        v.asleep = System.nanoTime();
        if (v.at == null) // at a synchronized statement Thread.getStackTrace has what follows it
            v.at = Known.at(v.thread);
        return v;
    }

    static void round(String name, Object lock, int waiters, boolean spins) throws Exception {
        List<String> order = new ArrayList<>();
        Holder h = holder(name + "-h", lock, spins);
        if (!spins)
            Known.waiting(h.thread);
        String method = Known.methodOf(h.thread);
        List<Visit> visits = new ArrayList<>();
        for (int i = 0; i < waiters; i++)
            visits.add(visitor(name + "-w" + i, lock, order, spins));
        Thread.sleep(4);
        h.letGo();
        h.thread.join();
        for (Visit v : visits)
            v.thread.join();
        order.add(0, h.thread.getName());
        for (Visit v : visits)
            say(v, lock, h, method, order);
        if (waiters > 1)
            sum(visits, lock, h);
    }

    static void say(Visit v, Object lock, Holder h, String method, List<String> order) {
        String name = v.thread.getName(), about = "thread=" + name + " on=" + lock.getClass().getName();
        Known.is("blocked-count", about, 1);
        Known.between("blocked-ns", about, h.spins ? 0 : h.released - v.asleep, v.entered - v.called);
        Known.is("blocked-at", about, v.inside == null ? v.at : v.at + "|" + v.inside);
        if (v.inside != null)
            Known.is("blocked-line", about, v.at);
        Known.is(order.size() > 2 ? "queued-owner" : "blocked-owner", about, h.thread.getName());
        Known.is("owner-at", about, method);
        Known.is("blocked-by", about, order.get(order.indexOf(name) - 1));
    }

    /* By class alone, so that a tool that does not know threads can answer. */
    static void sum(List<Visit> visits, Object lock, Holder h) {
        String about = "on=" + lock.getClass().getName();
        long from = 0, to = 0;
        List<Thread> threads = new ArrayList<>();
        for (Visit v : visits) {
            from += h.released - v.asleep;
            to += v.entered - v.called;
            threads.add(v.thread);
        }
        Known.is("blocked-count", about, visits.size());
        Known.between("blocked-ns", about, from, to);
        Known.is("blocked-who", about, Known.names(threads));
    }

    static void rounds(int n) throws Exception {
        Object lock = new Rounds();
        List<Visit> visits = new ArrayList<>();
        List<Holder> holders = new ArrayList<>();
        List<String> order = new ArrayList<>();
        long from = 0, to = 0;
        CountDownLatch[] go = new CountDownLatch[n];
        Visit[] v = new Visit[n];
        AtomicInteger done = new AtomicInteger();
        for (int i = 0; i < n; i++)
            go[i] = new CountDownLatch(1);
        Thread waiter = Known.thread("rounds-w", () -> {
            for (int i = 0; i < n; i++) {
                go[i].await();
                v[i].pass(lock);
                done.incrementAndGet();
            }
        });
        waiter.start();
        for (int i = 0; i < n; i++) {
            v[i] = new Visit(order);
            v[i].thread = waiter;
            Holder h = holder("rounds-h" + i, lock, false);
            Known.waiting(h.thread);
            go[i].countDown();
            v[i].asleep = Known.blocked(waiter);
            h.letGo();
            h.thread.join();
            while (done.get() == i)
                Thread.sleep(1);
            holders.add(h);
            visits.add(v[i]);
        }
        waiter.join();
        for (int i = 0; i < n; i++) {
            from += holders.get(i).released - v[i].asleep;
            to += v[i].entered - v[i].called;
        }
        Known.is("blocked-count", "on=Monitors$Rounds", n);
        Known.between("blocked-ns", "on=Monitors$Rounds", from, to);
        Known.is("blocked-who", "on=Monitors$Rounds", "rounds-w");
    }

    static void chain() throws Exception {
        Object a = new ChainA(), b = new ChainB();
        Holder last = holder("chain-last", b, false);
        Known.waiting(last.thread);
        List<String> orderA = new ArrayList<>(), orderB = new ArrayList<>();
        Visit middle = new Visit(orderB);
        middle.thread = Known.start("chain-middle", () -> {
            synchronized (a) {
                middle.pass(b);
            }
        });
        middle.asleep = Known.blocked(middle.thread);
        Visit first = visitor("chain-first", a, orderA, false);
        Thread.sleep(4);
        last.letGo();
        last.thread.join();
        middle.thread.join();
        first.thread.join();
        Known.is("blocked-owner", "thread=chain-first on=Monitors$ChainA", "chain-middle");
        Known.is("blocked-owner", "thread=chain-middle on=Monitors$ChainB", "chain-last");
        Known.is("blocked-by", "thread=chain-first on=Monitors$ChainA", "chain-middle");
        Known.is("blocked-by", "thread=chain-middle on=Monitors$ChainB", "chain-last");
        Known.is("blocked-count", "on=Monitors$ChainA", 1);
        Known.is("blocked-count", "on=Monitors$ChainB", 1);
        Known.between("blocked-ns", "on=Monitors$ChainA", last.released - first.asleep, first.entered - first.called);
        Known.between("blocked-ns", "on=Monitors$ChainB", last.released - middle.asleep, middle.entered - middle.called);
    }

    public static void main(String[] args) throws Exception {
        Known.mode(args);
        boolean brief = args.length > 1;
        for (int i = 0; i < (brief ? 2 : 8); i++) {
            round("lone" + i, new Lone(), 1, false);
            round("method" + i, new Method(), 1, false);
            if (!Known.is(Known.Mode.UNMOUNTED))
                round("spun" + i, new Spun(), 1, true);
        }
        round("queue", new Queue(), 5, false);
        rounds(brief ? 5 : 40);
        chain();
        Known.noDeadlock();
        Known.print();
    }
}
