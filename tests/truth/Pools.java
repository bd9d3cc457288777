/* Executors: a worker without work is not blocked; a task behind another one waits for a worker; who submitted it.
 *
 *   idle-0, idle-1   workers of a pool that has nothing to do
 *   busy-0           the worker of a pool of one; two tasks: the second waits until the first is over
 *   asker            submitted both, waits in Future.get of the second
 *   slot-w           waits for a permit of a semaphore that limits what runs at a time; "slot-h" has all of them
 *   locked-w         waits for a ReentrantLock that "locked-h" has: blocked */
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;

public class Pools {
    static ExecutorService pool(String prefix, int n, List<Thread> workers) {
        AtomicInteger next = new AtomicInteger();
        return Executors.newFixedThreadPool(n, r -> {
            try {
                Thread t = Known.thread(prefix + next.getAndIncrement(), r::run);
                workers.add(t);
                return t;
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
    }

    static void idle() throws Exception {
        List<Thread> workers = new ArrayList<>();
        ExecutorService pool = pool("idle-", 2, workers);
        long begin = System.nanoTime();
        pool.submit(() -> 1).get();
        pool.submit(() -> 2).get();
        long from = Known.waiting(workers.toArray(new Thread[0]));
        Thread.sleep(100);
        long idle = System.nanoTime() - from;
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
        for (Thread t : workers)
            Known.between("held-ns", "thread=" + t.getName(), 0, System.nanoTime() - begin - idle);
    }

    static void busy() throws Exception {
        List<Thread> workers = new ArrayList<>();
        ExecutorService pool = pool("busy-", 1, workers);
        CountDownLatch end = new CountDownLatch(1);
        long[] t = new long[5];
        Thread asker = Known.start("asker", () -> {
            pool.submit(() -> {
                end.await();
                return 1;
            });
            t[0] = System.nanoTime();
            Future<Integer> second = pool.submit(() -> {
                t[2] = System.nanoTime();
                return 2;
            });
            t[1] = System.nanoTime();
            second.get();
            t[4] = System.nanoTime();
        });
        long asleep = Known.waiting(asker);
        Known.waiting(workers.get(0));
        t[3] = System.nanoTime();
        end.countDown();
        asker.join();
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
        Known.between("task-ns", "thread=busy-0", t[3] - t[1], t[2] - t[0]);
        Known.is("task-by", "thread=busy-0", "asker");
        Known.between("held-ns", "thread=asker of=work", t[3] - asleep, t[4] - t[1]);
        Known.is("park-by", "thread=asker", "busy-0");
        Known.between("park-ns", "thread=asker", t[3] - asleep, t[4] - t[1]);
    }

    static void slots() throws Exception {
        Semaphore slots = new Semaphore(3);
        CountDownLatch end = new CountDownLatch(1);
        long[] t = new long[3];
        Thread h = Known.start("slot-h", () -> {
            slots.acquire(3);
            end.await();
            t[0] = System.nanoTime();
            slots.release(3);
        });
        Known.waiting(h);
        Thread w = Known.start("slot-w", () -> {
            t[1] = System.nanoTime();
            slots.acquire(2);
            t[2] = System.nanoTime();
        });
        long asleep = Known.waiting(w);
        end.countDown();
        w.join();
        h.join();
        String about = "thread=slot-w of=java.util.concurrent.Semaphore$NonfairSync";
        Known.between("held-ns", "thread=slot-w of=work", t[0] - asleep, t[2] - t[1]);
        Known.is("park-by", about, "slot-h");
        Known.between("park-ns", about, t[0] - asleep, t[2] - t[1]);
    }

    static void locked() throws Exception {
        ReentrantLock lock = new ReentrantLock();
        long[] t = new long[3];
        CountDownLatch end = new CountDownLatch(1);
        Thread h = Known.start("locked-h", () -> {
            lock.lock();
            end.await();
            t[0] = System.nanoTime();
            lock.unlock();
        });
        Known.waiting(h);
        Thread w = Known.start("locked-w", () -> {
            t[1] = System.nanoTime();
            lock.lock();
            t[2] = System.nanoTime();
            lock.unlock();
        });
        long asleep = Known.waiting(w);
        end.countDown();
        w.join();
        h.join();
        Known.between("held-ns", "thread=locked-w", t[0] - asleep, t[2] - t[1]);
        Known.is("park-by", "thread=locked-w of=java.util.concurrent.locks.ReentrantLock$NonfairSync", "locked-h");
    }

    public static void main(String[] args) throws Exception {
        Known.mode(args);
        idle();
        busy();
        slots();
        locked();
        Known.noDeadlock();
        Known.print();
    }
}
