/* A program in whose middle somebody asks: for a while each thread is in one state, and who waits for whom is certain.
 *
 *   Mon     an owner that waits, three threads blocked behind it     Again   notified, and its notifier keeps the monitor
 *   First, Second   a chain: blocked on the monitor of one that is blocked     Told, Timed   Object.wait without and with a time limit
 *   Set   three that wait, in another order than they were started     Cycle   three monitors in a circle, until the program ends       a ReentrantLock and a Semaphore, a sleep, a join
 *   and a thread that runs
 *
 * "now" lines are true from "ready" on until a line comes on stdin; then the waits end one after the other, of which the usual
 * lines are true, in a recording that began before as in one that began only in the middle. */
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.ReentrantLock;

public class Live {
    static class Mon { }
    static class Again { }
    static class First { }
    static class Second { }
    static class Told { }
    static class Timed { }
    static class Set { }
    static class Cycle { }
    static final class Fair extends ReentrantLock {
        Fair() {
            super(true);
        }
    }

    static final long HOUR_MS = 3_600_000;
    static volatile boolean over;

    /** Runs something in its monitor, or owning it, and stays until it is let go. */
    static final class Owner {
        final CountDownLatch go = new CountDownLatch(1), owns = new CountDownLatch(1);
        Thread thread;

        Owner start(String name, Object lock, Sync.Body first) throws Exception {
            thread = Known.start(name, () -> Deadlocks.take(lock, () -> {
                first.run();
                owns.countDown();
                go.await();
            }));
            owns.await();
            Known.waiting(thread);
            return this;
        }

        void letGo() throws InterruptedException {
            go.countDown();
            thread.join();
        }
    }

    static void now(Thread t, String state, Object on, Thread owner) {
        String about = "thread=" + t.getName();
        Known.is("now-state", about, state);
        if (on != null)
            Known.is("now-on", about, on.getClass().getName());
        Known.is("now-owner", about, owner == null ? "none" : owner.getName());
        Known.is("now-deadlock", about, "none");
    }

    static void holds(Thread t, Object lock) {
        Known.is("now-holds", "thread=" + t.getName(), lock == null ? "none" : lock.getClass().getName());
    }

    static Thread blocked(String name, Object lock, Thread owner) throws Exception {
        Thread t = Known.start(name, () -> Deadlocks.take(lock, () -> { }));
        Known.blocked(t);
        now(t, "blocked", lock, owner);
        return t;
    }

    static Thread waits(String name, Object lock, long ms) throws Exception {
        Thread t = Known.start(name, () -> {
            synchronized (lock) {
                try {
                    lock.wait(ms);
                } catch (InterruptedException e) {
                    // as meant
                }
            }
        });
        Known.waiting(t);
        return t;
    }

    static String on(Thread t, Object lock) {
        return "thread=" + t.getName() + " on=" + lock.getClass().getName();
    }

    /** They wait in the order 1, 2, 0. */
    static List<Waiting.Waiter> waitSet(Object lock) throws Exception {
        List<Waiting.Waiter> all = new ArrayList<>();
        List<CountDownLatch> go = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            Waiting.Waiter w = new Waiting.Waiter();
            CountDownLatch mine = new CountDownLatch(1);
            w.thread = Known.start("set-w" + i, () -> {
                mine.await();
                w.wait(lock, 0);
            });
            all.add(w);
            go.add(mine);
        }
        for (int i : new int[] {1, 2, 0}) {
            Known.waiting(all.get(i).thread);
            go.get(i).countDown();
            while (Known.at(all.get(i).thread).startsWith("Live"))
                Thread.sleep(1);
            Known.waiting(all.get(i).thread);
            now(all.get(i).thread, "wait|in-wait", lock, null);
        }
        return all;
    }

    static void notifyEach(Object lock, List<Waiting.Waiter> all) throws Exception {
        for (int i = 0; !all.isEmpty(); i++) {
            Waiting.in("set-n" + i, lock, lock::notify);
            Waiting.Waiter w = Waiting.back(all);
            all.remove(w);
            w.thread.join();
            Known.is("wait-count", w.about(lock), 1);
            Known.is("wait-end", w.about(lock), "notify");
            Known.is("wait-by", w.about(lock), "set-n" + i);
        }
    }

    static Thread locks(String name, ReentrantLock lock, Thread owner) throws Exception {
        Thread t = Known.start(name, () -> Deadlocks.take(lock, () -> { }));
        Known.waiting(t);
        now(t, "park", null, owner);
        return t;
    }

    static List<Thread> cycle(int n) throws Exception {
        Object[] locks = new Object[n];
        CountDownLatch all = new CountDownLatch(n);
        List<Thread> members = new ArrayList<>();
        for (int i = 0; i < n; i++)
            locks[i] = new Cycle();
        for (int i = 0; i < n; i++) {
            int me = i;
            Thread t = Known.thread("cyc-" + i, () -> Deadlocks.take(locks[me], () -> {
                all.countDown();
                all.await();
                Deadlocks.take(locks[(me + 1) % n], () -> { });
            }));
            if (!t.isDaemon())
                t.setDaemon(true);
            members.add(t);
            t.start();
        }
        for (int i = 0; i < n; i++) {
            Known.blocked(members.get(i));
            String about = "thread=" + members.get(i).getName();
            Known.is("now-state", about, "blocked");
            Known.is("now-owner", about, members.get((i + 1) % n).getName());
            Known.is("now-deadlock", about, Known.names(members));
        }
        return members;
    }

    public static void main(String[] args) throws Exception {
        Known.mode(args);
        Object mon = new Mon(), again = new Again(), first = new First(), second = new Second(), told = new Told(), set = new Set(), timed = new Timed();
        Fair fair = new Fair();
        Semaphore permits = new Semaphore(0);

        Owner monOwner = new Owner().start("mon-o", mon, () -> { });
        List<Thread> queue = new ArrayList<>();
        for (int i = 0; i < 3; i++)
            queue.add(blocked("mon-w" + i, mon, monOwner.thread));
        Thread regains = waits("again-w", again, 0);
        Owner notifier = new Owner().start("again-o", again, again::notify);
        now(regains, "regain|blocked|in-wait", again, notifier.thread);
        Owner chain = new Owner().start("chain-0", first, () -> { });
        Thread middle = Known.start("chain-1", () -> Deadlocks.take(second, () -> Deadlocks.take(first, () -> { })));
        Known.blocked(middle);
        now(middle, "blocked", first, chain.thread);
        Thread end = blocked("chain-2", second, middle);
        Thread waiter = waits("told-w", told, 0);
        now(waiter, "wait|in-wait", told, null);
        List<Waiting.Waiter> waitSet = waitSet(set);
        Thread limited = waits("timed-w", timed, HOUR_MS);
        now(limited, "wait|in-wait", timed, null);
        Owner lockOwner = new Owner().start("fair-o", fair, () -> { });
        Thread parked = locks("fair-w0", fair, lockOwner.thread), behind = locks("fair-w1", fair, lockOwner.thread);
        Thread permit = Known.start("permit-w", permits::acquire);
        Known.waiting(permit);
        now(permit, "park", null, null);
        Thread sleeper = Known.start("sleep-w", () -> {
            try {
                Thread.sleep(HOUR_MS);
            } catch (InterruptedException e) {
                // as meant
            }
        });
        Known.waiting(sleeper);
        now(sleeper, "sleep", null, null);
        Thread joiner = Known.start("join-w", lockOwner.thread::join);
        Known.waiting(joiner);
        now(joiner, "join|in-wait|" + (Known.is(Known.Mode.PLATFORM) ? "wait" : "park"), null, null); // the wait inside it
        holds(monOwner.thread, mon);
        holds(notifier.thread, again);
        holds(middle, second);
        for (Thread t : new Thread[] {queue.get(0), regains, end, waiter, limited, sleeper})
            holds(t, null);
        List<Thread> members = cycle(3);
        Thread busy = Known.start("busy", () -> {
            while (!over)
                Thread.onSpinWait();
        });
        now(busy, "none", null, null);
        Thread.sleep(500); // older than what is called likely
        Known.say("ready");
        while (System.in.read() != '\n')
            Thread.onSpinWait();
        over = true;

        monOwner.letGo();
        for (Thread t : queue)
            t.join();
        for (Thread t : queue)
            Known.is("blocked-count", on(t, mon), 1);
        Known.is("blocked-by", on(queue.get(0), mon), "mon-o|mon-w1|mon-w2");
        notifier.letGo();
        regains.join();
        Known.is("wait-by", on(regains, again), "again-o");
        chain.letGo();
        middle.join();
        end.join();
        Known.is("blocked-by", on(middle, first), "chain-0");
        Known.is("blocked-by", on(end, second), "chain-1");
        Waiting.in("told-n", told, told::notify);
        waiter.join();
        Known.is("wait-count", on(waiter, told), 1);
        Known.is("wait-end", on(waiter, told), "notify");
        Known.is("wait-by", on(waiter, told), "told-n");
        notifyEach(set, waitSet);
        Known.start("timed-i", limited::interrupt).join();
        limited.join();
        Known.is("wait-count", on(limited, timed), 1);
        Known.is("wait-end", on(limited, timed), "interrupt");
        Known.is("wait-by", on(limited, timed), "timed-i");
        lockOwner.letGo();
        parked.join();
        behind.join();
        joiner.join();
        Known.is("park-by", "thread=fair-w0", "fair-o");
        Known.is("park-by", "thread=fair-w1", "fair-w0");
        Known.is("join-of", "thread=join-w", "fair-o");
        Known.is("join-end", "thread=join-w", "end");
        Known.start("permit-n", permits::release).join();
        permit.join();
        Known.is("park-by", "thread=permit-w", "permit-n");
        Known.start("sleep-i", sleeper::interrupt).join();
        sleeper.join();
        busy.join();
        Known.is("sleep-count", "thread=sleep-w", 1);
        Known.is("sleep-by", "thread=sleep-w", "sleep-i");
        for (Thread t : members)
            Known.is("deadlock", "thread=" + t.getName() + " of=mon", Known.names(members));
        Known.is("deadlock-count", "of=locks-and-joins", 1);
        Known.print();
        System.exit(0);
    }
}
