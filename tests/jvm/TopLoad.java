/* Threads that do known things for ever; prints "ready", then obeys its standard input.
 *
 *   holder    has LOCK 30 of every 100 ms, and sleeps
 *   victim    wants LOCK each millisecond: blocked nearly as long as holder has it, owner holder
 *   locker    owns a ReentrantLock, and sleeps;   locked   parks for it: always blocked, owner locker
 *   sleeper   sleeps;   joiner   joins it;   parker   parks for nothing;   waiter   is in Object.wait
 *   one whose name has an umlaut, an escape sequence and a direction mark sleeps, too
 *   main      reads its standard input: running, as far as waits go
 *
 * deadlock: "left" and "right" each have a monitor that the other one wants; prints "deadlocked".
 * virtual N (JDK 21): N virtual threads that park for ever; prints "parked".
 * pool: six threads "client-N", each in turn in one of the two tills of a pool for 20 ms, asleep; prints "pooled" when all want one.
 * late: a thread "late" sleeps for ten seconds, and then runs on for ever; prints "asleep".
 * storm N: N times notify, of a thousand objects in no order; prints "stormed".
 * end: ends. */
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

public class TopLoad {
    static final class Till { }

    static final Till LOCK = new Till();
    static final ReentrantLock lock = new ReentrantLock();
    static volatile long served;

    static void hold() throws Exception {
        for (;;) {
            synchronized (LOCK) {
                Thread.sleep(30);
            }
            Thread.sleep(70);
        }
    }

    static void want() throws Exception {
        for (;;) {
            synchronized (LOCK) { // site: victim
                served++;
            }
            Thread.sleep(1);
        }
    }

    static void deadlock() throws Exception {
        Object a = new Object(), b = new Object();
        CountDownLatch both = new CountDownLatch(2);
        Thread left = Sync.daemon("left", () -> {
            synchronized (a) {
                both.countDown();
                both.await();
                synchronized (b) {
                    served = -1;
                }
            }
        });
        Thread right = Sync.daemon("right", () -> {
            synchronized (b) {
                both.countDown();
                both.await();
                synchronized (a) {
                    served = -1;
                }
            }
        });
        Sync.blocked(left, right);
        System.out.println("deadlocked");
    }

    static void virtual(int n) throws Exception {
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        Class<?> type = Class.forName("java.lang.Thread$Builder");
        CountDownLatch started = new CountDownLatch(n);
        for (int i = 0; i < n; i++) {
            Object named = type.getMethod("name", String.class).invoke(builder, "many-" + i);
            type.getMethod("start", Runnable.class).invoke(named, (Runnable) () -> {
                started.countDown();
                for (;;)
                    LockSupport.park();
            });
        }
        started.await();
        System.out.println("parked");
    }

    /** Two things, kept by a semaphore: a pool as anybody writes it. */
    static final class Tills {
        private final Semaphore free = new Semaphore(2);

        void take() throws InterruptedException {
            free.acquire();
        }

        void giveBack() {
            free.release();
        }
    }

    static final Tills tills = new Tills();

    static void pay() throws InterruptedException {
        Thread.sleep(20); // site: pay
    }

    static void pool() {
        CountDownLatch begun = new CountDownLatch(6);
        for (int i = 1; i <= 6; i++)
            Sync.daemon("client-" + i, () -> {
                begun.countDown();
                for (;;) {
                    tills.take();
                    try {
                        pay();
                    } finally {
                        tills.giveBack();
                    }
                }
            });
        try {
            begun.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        System.out.println("pooled");
    }

    static void late() throws Exception {
        Thread late = Sync.daemon("late", () -> {
            Thread.sleep(10_000);
            for (;;)
                served++;
        });
        while (late.getState() != Thread.State.TIMED_WAITING)
            Thread.sleep(1);
        System.out.println("asleep");
    }

    static void storm(int n) {
        Object[] all = new Object[1000];
        for (int i = 0; i < all.length; i++)
            all[i] = new Object();
        Random random = new Random(1);
        for (int i = 0; i < n; i++) {
            Object o = all[random.nextInt(all.length)];
            synchronized (o) {
                o.notify();
            }
        }
        System.out.println("stormed");
    }

    static void begin() throws Exception {
        CountDownLatch taken = new CountDownLatch(1);
        Sync.daemon("holder", TopLoad::hold);
        Sync.daemon("victim", TopLoad::want);
        Sync.daemon("locker", () -> {
            lock.lock();
            taken.countDown();
            Thread.sleep(Long.MAX_VALUE);
        });
        taken.await();
        Thread sleeper = Sync.daemon("sleeper", () -> Thread.sleep(Long.MAX_VALUE));
        Thread[] all = {Sync.daemon("locked", lock::lock), sleeper, Sync.daemon("joiner", sleeper::join),
                        Sync.daemon("parker", () -> {
                            for (;;)
                                LockSupport.park();
                        }),
                        Sync.daemon("waiter", () -> {
                            Object o = new Object();
                            synchronized (o) {
                                o.wait();
                            }
                        }),
                        Sync.daemon("sch\u00f6n\u001b[31m\u202e", () -> Thread.sleep(Long.MAX_VALUE))};
        for (Thread t : all)
            while (t.getState() != Thread.State.WAITING && t.getState() != Thread.State.TIMED_WAITING)
                Thread.sleep(1);
    }

    public static void main(String[] args) throws Exception {
        begin();
        System.out.println("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String word; (word = in.readLine()) != null && !word.equals("end");) {
            if (word.equals("deadlock"))
                deadlock();
            else if (word.equals("late"))
                late();
            else if (word.equals("pool"))
                pool();
            else if (word.startsWith("storm "))
                storm(Integer.parseInt(word.substring(6)));
            else if (word.startsWith("virtual "))
                virtual(Integer.parseInt(word.substring(8)));
        }
        System.exit(0);
    }
}
