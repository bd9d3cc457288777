/* Cycles of 2, 3 and 10 threads over monitors, ReentrantLocks, both in turn, and of joins; and what is none: a
 * thread behind a cycle, and a long queue for a monitor and a lock whose owner waits for somebody outside. */
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;

public class Deadlocks {
    static class Cycle { }
    static class Long { }

    static void take(Object lock, Sync.Body inside) throws Exception {
        if (lock instanceof ReentrantLock l) {
            l.lock();
            try {
                inside.run();
            } finally {
                l.unlock();
            }
        } else
            synchronized (lock) {
                inside.run();
            }
    }

    static Object lock(String kind, int i) {
        return switch (kind) {
            case "mon" -> new Cycle();
            case "juc" -> new ReentrantLock();
            default -> i % 2 == 0 ? new Cycle() : new ReentrantLock();
        };
    }

    static void never() {
        System.out.println("never");
    }

    static void say(String kind, List<Thread> members) {
        for (Thread t : members)
            Known.is("deadlock", "thread=" + t.getName() + " of=" + kind, Known.names(members));
    }

    static void cycle(String kind, int n) throws Exception {
        Object[] locks = new Object[n];
        for (int i = 0; i < n; i++)
            locks[i] = lock(kind, i);
        CountDownLatch all = new CountDownLatch(n);
        List<Thread> members = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            int me = i;
            members.add(Known.start(kind + n + "-" + i, () -> take(locks[me], () -> {
                all.countDown();
                all.await();
                take(locks[(me + 1) % n], Deadlocks::never);
            })));
        }
        all.await();
        Thread behind = Known.start(kind + n + "-behind", () -> take(locks[0], Deadlocks::never));
        Known.is("deadlock", "thread=" + behind.getName() + " of=" + kind, "none");
        say(kind, members);
    }

    static void joins(int n) throws Exception {
        Thread[] t = new Thread[n];
        CountDownLatch go = new CountDownLatch(1);
        for (int i = 0; i < n; i++) {
            int me = i;
            t[i] = Known.thread("joins" + n + "-" + i, () -> {
                go.await();
                t[(me + 1) % n].join();
            });
        }
        for (Thread x : t)
            x.start();
        Known.asleep(t);
        go.countDown();
        say("joins", List.of(t));
    }

    static void queue(String kind) throws Exception {
        Object lock = kind.equals("mon") ? new Long() : new ReentrantLock();
        CountDownLatch held = new CountDownLatch(1), never = new CountDownLatch(1);
        List<Thread> queue = new ArrayList<>();
        queue.add(Known.start(kind + "q-owner", () -> take(lock, () -> {
            held.countDown();
            never.await();
        })));
        held.await();
        for (int i = 0; i < 10; i++)
            queue.add(Known.start(kind + "q-" + i, () -> take(lock, Deadlocks::never)));
        for (Thread t : queue) {
            Known.asleep(t);
            Known.is("deadlock", "thread=" + t.getName() + " of=" + kind, "none");
        }
    }

    public static void main(String[] args) throws Exception {
        Known.mode(args);
        for (String kind : new String[] {"mon", "juc", "mix"})
            for (int n : new int[] {2, 3, 10})
                cycle(kind, n);
        joins(2);
        joins(3);
        queue("mon");
        queue("juc");
        Thread.sleep(500); // older than what is called likely
        Known.is("deadlock-count", "of=locks-and-joins", 11);
        Known.print();
        System.exit(0);
    }
}
