/* Much of everything until standard input ends: Soak [LIVING]
 *
 * Threads (and virtual threads, where there are any) that start, contend on monitors, wait, notify, park, sleep,
 * interrupt, take locks and semaphores, and end, 32 at a time; classes that are loaded by loaders of their own,
 * contended on and dropped; their static initialisers wait, which pins the virtual threads that need them.  LIVING
 * virtual threads are parked from the beginning to the end.  Prints "ready", and at the end "tasks N sum S of T": S counted under the locks,
 * T by the tasks themselves. */
import java.io.InputStream;
import java.lang.reflect.Method;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

public class Soak {
    static final int AT_A_TIME = 32, LOCKS = 4;
    static final Object[] monitors = new Object[LOCKS];
    static final ReentrantLock[] locks = new ReentrantLock[LOCKS];
    static final long[] sums = new long[2 * LOCKS];
    static final Semaphore permits = new Semaphore(2);
    static final AtomicLong tasks = new AtomicLong(), done = new AtomicLong(), unloadable = new AtomicLong();
    static final boolean virtual = Runtime.version().feature() >= 21;
    static volatile boolean stop;

    static final class Loader extends ClassLoader {
        Loader() {
            super(Soak.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.equals("Soak$Dropped"))
                return super.loadClass(name, resolve);
            synchronized (getClassLoadingLock(name)) {
                Class<?> c = findLoadedClass(name);
                if (c != null)
                    return c;
                try (InputStream in = getResourceAsStream("Soak$Dropped.class")) {
                    byte[] b = in.readAllBytes();
                    return defineClass(name, b, 0, b.length);
                } catch (java.io.IOException e) {
                    throw new ClassNotFoundException(name, e);
                }
            }
        }
    }

    public static final class Dropped {
        static {
            LockSupport.parkNanos(100000);
        }

        static synchronized void contend() {
            Thread.yield();
        }
    }

    static void drop() throws Exception {
        Method m = new Loader().loadClass("Soak$Dropped").getDeclaredMethod("contend");
        m.setAccessible(true);
        Thread[] two = new Thread[2];
        for (int i = 0; i < 2; i++)
            two[i] = start(virtual && unloadable.get() % 2 == 0, () -> {
                try {
                    m.invoke(null);
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            });
        for (Thread t : two)
            t.join();
        unloadable.incrementAndGet();
    }

    static void task() {
        ThreadLocalRandom r = ThreadLocalRandom.current();
        try {
            for (int i = r.nextInt(20); i >= 0; i--) {
                int k = r.nextInt(LOCKS);
                switch (r.nextInt(8)) {
                case 0:
                    synchronized (monitors[k]) {
                        sums[k]++;
                        if (r.nextInt(4) == 0)
                            monitors[k].wait(1);
                        else if (r.nextInt(4) == 0)
                            monitors[k].notifyAll();
                    }
                    done.incrementAndGet();
                    break;
                case 1:
                    locks[k].lock();
                    try {
                        sums[LOCKS + k]++;
                        if (r.nextInt(8) == 0)
                            Thread.sleep(0, 100000);
                    } finally {
                        locks[k].unlock();
                    }
                    done.incrementAndGet();
                    break;
                case 2:
                    if (permits.tryAcquire(1, TimeUnit.MILLISECONDS))
                        permits.release();
                    break;
                case 3:
                    LockSupport.parkNanos(50000);
                    break;
                case 4:
                    Thread.sleep(0, 200000);
                    break;
                case 5:
                    Thread.currentThread().interrupt();
                    Thread.interrupted();
                    break;
                case 6:
                    CountDownLatch latch = new CountDownLatch(1);
                    Thread t = new Thread(latch::countDown);
                    t.start();
                    latch.await();
                    t.join();
                    break;
                default:
                    Thread.yield();
                }
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        tasks.incrementAndGet();
    }

    static void rest() {
        while (!stop)
            LockSupport.park();
    }

    static Thread start(boolean virtual, Runnable task) throws Exception {
        if (virtual)
            return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
        Thread t = new Thread(task);
        t.start();
        return t;
    }

    static void work() throws Exception {
        Thread[] now = new Thread[AT_A_TIME];
        for (int n = 0; !stop; n++) {
            int k = n % AT_A_TIME;
            if (now[k] != null)
                now[k].join();
            now[k] = start(virtual && n % 3 == 0, Soak::task);
            if (n % 50 == 0)
                drop();
            if (n % 20 == 0)
                Thread.sleep(1);
        }
        for (Thread t : now)
            if (t != null)
                t.join();
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < LOCKS; i++) {
            monitors[i] = new Object();
            locks[i] = new ReentrantLock();
        }
        Thread[] living = new Thread[args.length > 0 ? Integer.parseInt(args[0]) : 0];
        for (int i = 0; i < living.length; i++)
            living[i] = start(true, Soak::rest);
        Thread worker = Sync.start("worker", Soak::work);
        System.out.println("ready");
        while (System.in.read() >= 0)
            ;
        stop = true;
        worker.join();
        for (Thread t : living)
            LockSupport.unpark(t);
        for (Thread t : living)
            t.join();
        long sum = 0;
        for (long s : sums)
            sum += s;
        System.out.println("tasks " + tasks + " sum " + sum + " of " + done + " dropped " + unloadable);
    }
}
