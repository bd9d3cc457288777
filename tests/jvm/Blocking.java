/* Each way to block, once, for at least 30 ms: Blocking [virtual]
 *
 * For each KIND below the thread "KIND-waiter" (virtual when asked for) blocks once, at the line marked
 * "site: KIND", and the platform thread "KIND-waker" ends that 30 ms after it has seen it blocked; what it
 * must own for that it owns before the waiter starts.  Prints "done KIND NS" for each,
 * the time from before the waiter was started until it had ended. */
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.*;
import java.util.concurrent.locks.*;

public class Blocking {
    static abstract class Kind {
        void hold() throws Exception { }

        abstract void block() throws Exception;

        void wake(Thread waiter) throws Exception { }
    }

    static final class Blocker { }

    static final Map<String, Kind> kinds = new LinkedHashMap<>();

    static void locks() {
        kinds.put("synchronized", new Kind() {
            final Object lock = new Object();
            @Override void block() {
                synchronized (lock) { // site: synchronized
                    lock.hashCode();
                }
            }
        });
        kinds.put("wait", new Kind() {
            final Object lock = new Object();
            @Override void block() throws Exception {
                synchronized (lock) {
                    lock.wait(); // site: wait
                }
            }
            @Override void wake(Thread waiter) {
                synchronized (lock) {
                    lock.notify();
                }
            }
        });
        kinds.put("waitall", new Kind() {
            final Object lock = new Object();
            @Override void block() throws Exception {
                synchronized (lock) {
                    lock.wait(10_000); // site: waitall
                }
            }
            @Override void wake(Thread waiter) {
                synchronized (lock) {
                    lock.notifyAll();
                }
            }
        });
        kinds.put("reentrant", new Kind() {
            final ReentrantLock lock = new ReentrantLock();
            @Override void hold() { lock.lock(); }
            @Override void block() {
                lock.lock(); // site: reentrant
                lock.unlock();
            }
            @Override void wake(Thread waiter) { lock.unlock(); }
        });
        kinds.put("readwrite", new Kind() {
            final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
            @Override void hold() { lock.writeLock().lock(); }
            @Override void block() {
                lock.readLock().lock(); // site: readwrite
                lock.readLock().unlock();
            }
            @Override void wake(Thread waiter) { lock.writeLock().unlock(); }
        });
        kinds.put("stamped", new Kind() {
            final StampedLock lock = new StampedLock();
            long stamp;
            @Override void hold() { stamp = lock.writeLock(); }
            @Override void block() {
                lock.unlockWrite(lock.writeLock()); // site: stamped
            }
            @Override void wake(Thread waiter) { lock.unlockWrite(stamp); }
        });
        kinds.put("condition", new Kind() {
            final ReentrantLock lock = new ReentrantLock();
            final Condition condition = lock.newCondition();
            @Override void block() throws Exception {
                lock.lock();
                condition.await(); // site: condition
                lock.unlock();
            }
            @Override void wake(Thread waiter) {
                lock.lock();
                condition.signal();
                lock.unlock();
            }
        });
    }

    static void synchronizers() {
        kinds.put("semaphore", new Kind() {
            final Semaphore semaphore = new Semaphore(0);
            @Override void block() throws Exception {
                semaphore.acquire(); // site: semaphore
            }
            @Override void wake(Thread waiter) { semaphore.release(); }
        });
        kinds.put("latch", new Kind() {
            final CountDownLatch latch = new CountDownLatch(1);
            @Override void block() throws Exception {
                latch.await(); // site: latch
            }
            @Override void wake(Thread waiter) { latch.countDown(); }
        });
        kinds.put("queue", new Kind() {
            final BlockingQueue<String> queue = new ArrayBlockingQueue<>(1);
            @Override void block() throws Exception {
                queue.take(); // site: queue
            }
            @Override void wake(Thread waiter) { queue.add("x"); }
        });
        kinds.put("future", new Kind() {
            final CompletableFuture<String> future = new CompletableFuture<>();
            @Override void block() throws Exception {
                future.get(); // site: future
            }
            @Override void wake(Thread waiter) { future.complete("x"); }
        });
        kinds.put("barrier", new Kind() {
            final CyclicBarrier barrier = new CyclicBarrier(2);
            @Override void block() throws Exception {
                barrier.await(); // site: barrier
            }
            @Override void wake(Thread waiter) throws Exception { barrier.await(); }
        });
        kinds.put("exchanger", new Kind() {
            final Exchanger<String> exchanger = new Exchanger<>();
            @Override void block() throws Exception {
                exchanger.exchange("a"); // site: exchanger
            }
            @Override void wake(Thread waiter) throws Exception { exchanger.exchange("b"); }
        });
    }

    static void threads() {
        kinds.put("park", new Kind() {
            final Blocker blocker = new Blocker();
            @Override void block() {
                LockSupport.park(blocker); // site: park
            }
            @Override void wake(Thread waiter) { LockSupport.unpark(waiter); }
        });
        kinds.put("sleep", new Kind() {
            @Override void block() throws Exception {
                Thread.sleep(60); // site: sleep
            }
        });
        kinds.put("interrupt", new Kind() {
            @Override void block() {
                try {
                    Thread.sleep(10_000); // site: interrupt
                } catch (InterruptedException e) {
                    return; // as asked
                }
            }
            @Override void wake(Thread waiter) { waiter.interrupt(); }
        });
        kinds.put("join", new Kind() {
            final CountDownLatch end = new CountDownLatch(1);
            Thread target;
            @Override void hold() { target = Sync.start("join-target", end::await); }
            @Override void block() throws Exception {
                target.join(); // site: join
            }
            @Override void wake(Thread waiter) { end.countDown(); }
        });
    }

    static Thread waiter(boolean virtual, String name, Runnable body) throws Exception {
        if (!virtual)
            return new Thread(body, name);
        return Sync.virtual(name, body::run);
    }

    static boolean blocks(Thread t) {
        Thread.State s = t.getState();
        return s == Thread.State.WAITING || s == Thread.State.TIMED_WAITING || s == Thread.State.BLOCKED;
    }

    static void run(String name, Kind kind, boolean virtual) throws Exception {
        Thread waiter = waiter(virtual, name + "-waiter", () -> {
            try {
                kind.block();
            } catch (Exception e) {
                e.printStackTrace();
                System.exit(99);
            }
        });
        long began = System.nanoTime();
        Thread waker = Sync.start(name + "-waker", () -> {
            if (name.equals("synchronized")) {
                java.lang.reflect.Field f = kind.getClass().getDeclaredField("lock");
                f.setAccessible(true);
                synchronized (f.get(kind)) {
                    startAndWatch(kind, waiter);
                }
            } else {
                kind.hold();
                startAndWatch(kind, waiter);
                kind.wake(waiter);
            }
        });
        waker.join();
        waiter.join();
        System.out.println("done " + name + " " + (System.nanoTime() - began));
    }

    static void startAndWatch(Kind kind, Thread waiter) throws Exception {
        waiter.start();
        while (!blocks(waiter))
            Thread.yield();
        Sync.pause(30);
    }

    public static void main(String[] args) throws Exception {
        locks();
        synchronizers();
        threads();
        for (Map.Entry<String, Kind> e : kinds.entrySet())
            run(e.getKey(), e.getValue(), args.length > 0);
    }
}
