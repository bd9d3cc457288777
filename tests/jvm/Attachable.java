/* A program to attach to: Attachable [BUSY [LIBRARY]]
 *
 * When it prints "ready": "stuck" blocks on an Object that "holder" holds, "waiter" is in Object.wait on a
 * String, "parked" parks on a ReentrantLock that "locker" owns, "sleeper" sleeps, and BUSY threads
 * ("busy-i") take one monitor in turns and block on it some hundred times a second.  Then it obeys its standard input, a word a line:
 *
 *     work     10 times Semaphore acquire and release, 5 times notifyAll on an Object, one thread "child" that
 *              is started and joined, one unpark of "parked", which parks again; prints "worked"
 *     release  "holder" lets "stuck" go on, which ends; "waiter" is notified and waits again; prints "released"
 *     code     prints "code N": a checksum of the byte code of Thread, Semaphore and this class (LIBRARY,
 *              bytecodes.c)
 *     end      ends; prints "sum S of T": what the busy threads did in all, by one counter and by their own
 */
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

public class Attachable {
    static final Object held = new Object(), busyLock = new Object(), notified = new Object();
    static final String waited = new String("waited");
    static final ReentrantLock lock = new ReentrantLock();
    static final Semaphore permits = new Semaphore(1);
    static volatile boolean stop;
    static long sum;

    static native long code(Class<?> of);

    static void await(Thread t, Thread.State state) throws Exception {
        while (t.getState() != state)
            Thread.sleep(1);
    }

    static void waits() throws Exception {
        holder = Sync.daemon("holder", () -> {
            synchronized (held) {
                try {
                    Thread.sleep(Long.MAX_VALUE);
                } catch (InterruptedException e) {
                    held.hashCode(); // "release"
                }
            }
        });
        await(holder, Thread.State.TIMED_WAITING);
        stuck = Sync.daemon("stuck", () -> {
            synchronized (held) { // site: stuck
                held.hashCode();
            }
        });
        waiter = Sync.daemon("waiter", () -> {
            synchronized (waited) {
                waited.wait(); // site: waiter
                again = true;
                waited.wait(); // site: again
            }
        });
        Thread locker = Sync.daemon("locker", () -> {
            lock.lock();
            Thread.sleep(Long.MAX_VALUE);
        });
        await(locker, Thread.State.TIMED_WAITING);
        parked = Sync.daemon("parked", () -> lock.lock()); // site: parked
        Thread sleeper = Sync.daemon("sleeper", () -> Thread.sleep(Long.MAX_VALUE)); // site: sleeper
        await(stuck, Thread.State.BLOCKED);
        await(waiter, Thread.State.WAITING);
        await(parked, Thread.State.WAITING);
        await(sleeper, Thread.State.TIMED_WAITING);
    }

    static Thread parked, holder, stuck, waiter;
    static volatile boolean again;

    static void work() throws Exception {
        for (int i = 0; i < 10; i++) {
            permits.acquire();
            permits.release();
        }
        for (int i = 0; i < 5; i++)
            synchronized (notified) {
                notified.notifyAll();
            }
        Thread child = Sync.start("child", () -> { });
        child.join();
        LockSupport.unpark(parked);
        Thread.sleep(50);
        await(parked, Thread.State.WAITING);
        System.out.println("worked");
    }

    public static void main(String[] args) throws Exception {
        int n = args.length > 0 ? Integer.parseInt(args[0]) : 0;
        if (args.length > 1)
            System.load(args[1]);
        waits();
        Thread[] busy = new Thread[n];
        long[] own = new long[n];
        for (int i = 0; i < n; i++) {
            int k = i;
            busy[i] = Sync.start("busy-" + i, () -> {
                while (!stop) {
                    synchronized (busyLock) {
                        own[k]++;
                        if (++sum % 1024 == 0)
                            Thread.sleep(1); // else they may never meet
                    }
                    if (own[k] % 64 == 0)
                        Thread.sleep(1);
                }
            });
        }
        System.out.println("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String word; (word = in.readLine()) != null && !word.equals("end");) {
            if (word.equals("work"))
                work();
            else if (word.equals("code"))
                System.out.println("code " + (31 * code(ReentrantLock.class) + code(Attachable.class)));
            else if (word.equals("kept"))
                System.out.println("kept " + (31 * code(Thread.class) + code(Semaphore.class)));
            else if (word.equals("release")) {
                holder.interrupt();
                stuck.join();
                synchronized (waited) {
                    waited.notify();
                }
                while (!again)
                    Thread.sleep(1);
                await(waiter, Thread.State.WAITING);
                System.out.println("released");
            }
        }
        stop = true;
        long all = 0;
        for (int i = 0; i < n; i++) {
            busy[i].join();
            all += own[i];
        }
        System.out.println("sum " + sum + " of " + all);
        System.exit(0);
    }
}
