/* Threads that others hold up for a permit, a slot or an answer, and threads that are idle.
 *
 *   HeldUp KIND   one of the words below; for those that hold up, prints
 *                 "held KIND THREADS LEAST-NS MOST-NS": so many threads KIND-0, ... were all parked at once for as
 *                 long as LEAST-NS together, and were in the call for MOST-NS together
 *
 * permits   Semaphore.acquire            latch      CountDownLatch.await        lock      ReentrantLock.lock
 * slots     ArrayBlockingQueue as a pool: who takes gives back                  full      put into a full queue
 * barrier   CyclicBarrier.await          future     Future.get                  completed CompletableFuture.join
 * exchange  Exchanger.exchange           own        a synchronizer of the program's own
 * idle      a pool's threads between tasks, consumers of a queue: never held up
 * forever   main waits for a latch that nobody counts down, until it is killed */
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Exchanger;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.AbstractQueuedSynchronizer;
import java.util.concurrent.locks.ReentrantLock;

public final class HeldUp {
    private static final long LEAST_NS = 20_000_000;

    /** Until this program has seen so much time pass. */
    private static void spend(long ns) {
        for (long end = System.nanoTime() + ns; System.nanoTime() < end;)
            Thread.onSpinWait();
    }

    /** Threads that are all parked in `wait` until `release`, which runs once they have been for a while. */
    private static void held(String kind, int n, Sync.Body wait, Sync.Body release) throws Exception {
        AtomicLong most = new AtomicLong();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < n; i++)
            threads.add(Sync.start(kind + "-" + i, () -> {
                long from = System.nanoTime();
                wait.run();
                most.addAndGet(System.nanoTime() - from);
            }));
        Sync.waiting(threads.toArray(new Thread[0]));
        spend(LEAST_NS);
        release.run();
        for (Thread t : threads)
            t.join();
        System.out.println("held " + kind + " " + n + " " + n * LEAST_NS + " " + most);
    }

    private static final class Gate extends AbstractQueuedSynchronizer {
        private static final long serialVersionUID = 1;

        @Override
        protected int tryAcquireShared(int ignored) {
            return getState() == 0 ? -1 : 1;
        }

        @Override
        protected boolean tryReleaseShared(int ignored) {
            setState(1);
            return true;
        }
    }

    private static void slots(int n) throws Exception {
        BlockingQueue<Object> pool = new ArrayBlockingQueue<>(1);
        Object slot = new Object();
        held("slots", n, () -> pool.put(pool.take()), () -> pool.put(slot));
    }

    private static void full(int n) throws Exception {
        BlockingQueue<Object> queue = new ArrayBlockingQueue<>(1);
        queue.put("first");
        held("full", n, () -> queue.put("more"), () -> {
            for (int i = 0; i < n; i++)
                queue.take();
        });
    }

    private static void locked(int n) throws Exception {
        ReentrantLock lock = new ReentrantLock();
        lock.lock();
        held("lock", n, () -> {
            lock.lock();
            lock.unlock();
        }, lock::unlock);
    }

    private static void permits(int n) throws Exception {
        Semaphore permits = new Semaphore(0);
        held("permits", n, permits::acquire, () -> permits.release(n));
    }

    /** Pool threads get one task after the other, consumers one item after the other. */
    private static void idle() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(3, r -> new Thread(r, "pool"));
        BlockingQueue<CountDownLatch> items = new LinkedBlockingQueue<>();
        for (int i = 0; i < 3; i++)
            Sync.daemon("consumer-" + i, () -> {
                while (true)
                    items.take().countDown();
            });
        for (int i = 0; i < 12; i++) {
            CountDownLatch done = new CountDownLatch(3);
            pool.execute(done::countDown);
            ForkJoinPool.commonPool().execute(done::countDown);
            items.put(done);
            done.await();
            spend(LEAST_NS / 10);
        }
        pool.shutdown();
    }

    private static void forever() throws Exception {
        Thread main = Thread.currentThread();
        Sync.daemon("reporter", () -> {
            Sync.waiting(main);
            System.out.println("waits");
        });
        new CountDownLatch(1).await();
    }

    public static void main(String[] args) throws Exception {
        Thread.currentThread().setName("main");
        CountDownLatch latch = new CountDownLatch(1);
        CyclicBarrier barrier = new CyclicBarrier(4);
        FutureTask<Object> future = new FutureTask<>(() -> null);
        CompletableFuture<Object> completed = new CompletableFuture<>();
        Exchanger<Object> exchanger = new Exchanger<>();
        Gate gate = new Gate();
        switch (args[0]) {
        case "permits" -> permits(6);
        case "slots" -> slots(6);
        case "full" -> full(4);
        case "lock" -> locked(4);
        case "latch" -> held("latch", 4, latch::await, latch::countDown);
        case "barrier" -> held("barrier", 3, barrier::await, barrier::await);
        case "future" -> held("future", 4, future::get, future::run);
        case "completed" -> held("completed", 4, completed::join, () -> completed.complete(null));
        case "exchange" -> held("exchange", 1, () -> exchanger.exchange(1), () -> exchanger.exchange(2));
        case "own" -> held("own", 4, () -> gate.acquireSharedInterruptibly(1), () -> gate.releaseShared(1));
        case "idle" -> idle();
        case "forever" -> forever();
        default -> throw new IllegalArgumentException(args[0]);
        }
    }
}
