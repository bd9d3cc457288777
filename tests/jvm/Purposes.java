/* What waits are for, in 60 kinds of waiting that each know it: idle (no work), answer (somebody does what this thread
 * asked for) or resource (others have what this thread wants).
 *
 *   Purposes KIND [CASE...]   KIND: platform or virtual (JDK 21 and newer); all cases, or some
 *
 * Cases run one after the other, each in threads of its own.  For each thread whose waits are for one thing prints
 * "truth CASE THREAD idle|answer|resource".  A thread may wait for something else for a while, not for long. */
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.AbstractQueuedSynchronizer;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;

public final class Purposes {
    private static final int ROUNDS = 16;
    private static final String IDLE = "idle", ANSWER = "answer", RESOURCE = "resource";

    interface Body {
        void run() throws Exception;
    }

    private static boolean virtual;
    private static String current;
    private static final Map<String, Body> cases = new LinkedHashMap<>();
    private static List<Thread> users = new ArrayList<>();
    private static List<Thread> servants = new ArrayList<>();
    private static volatile boolean over;

    /** Takes a while, without a processor. */
    static void work() {
        try {
            Thread.sleep(2);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static Thread make(String name, Runnable r) {
        try {
            if (!virtual)
                return new Thread(r, name);
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            Class<?> type = Class.forName("java.lang.Thread$Builder");
            builder = type.getMethod("name", String.class).invoke(builder, name);
            return (Thread)type.getMethod("unstarted", Runnable.class).invoke(builder, r);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Thread start(List<Thread> among, String role, String truth, Body body) {
        String name = current + '-' + role;
        if (truth != null)
            System.out.println("truth " + current + ' ' + name + ' ' + truth);
        Thread t = make(name, () -> {
            try {
                body.run();
            } catch (InterruptedException e) {
                return;
            } catch (Exception e) {
                if (!over)
                    e.printStackTrace();
            }
        });
        among.add(t);
        t.start();
        return t;
    }

    /** A thread that ends by itself, and whose end the case waits for. */
    private static Thread user(String role, String truth, Body body) {
        return start(users, role, truth, body);
    }

    /** A thread that does something again and again until the case is over. */
    private static Thread servant(String role, String truth, Body round) {
        return start(servants, role, truth, () -> {
            while (!over)
                round.run();
        });
    }

    /** The threads of a pool. */
    private static ThreadFactory pool(String truth) {
        AtomicInteger n = new AtomicInteger();
        String of = current;
        return r -> {
            String name = of + "-worker-" + n.incrementAndGet();
            if (truth != null)
                System.out.println("truth " + of + ' ' + name + ' ' + truth);
            return make(name, r);
        };
    }

    private static void rounds(Body b) throws Exception {
        for (int i = 0; i < ROUNDS; i++)
            b.run();
    }

    /** Clients that ask again and again. */
    private static void clients(int n, String truth, Body b) {
        for (int i = 0; i < n; i++)
            user("client-" + i, truth, () -> rounds(b));
    }

    private static void finish(ExecutorService... pools) throws Exception {
        for (Thread t : users)
            t.join();
        for (ExecutorService p : pools)
            p.shutdownNow();
    }

    /* --- things that programs make themselves --- */

    /** Waits like an own future of a messaging library: Object.wait. */
    static final class Reply {
        private Object value;

        synchronized Object get() throws InterruptedException {
            while (value == null)
                wait();
            return value;
        }

        synchronized void set(Object v) {
            value = v;
            notifyAll();
        }
    }

    /** A future that parks those who wait, as guava's do. */
    static final class Settable {
        private final ConcurrentLinkedQueue<Thread> waiters = new ConcurrentLinkedQueue<>();
        private volatile Object value;

        Object get() {
            waiters.add(Thread.currentThread());
            while (value == null)
                LockSupport.park(this);
            return value;
        }

        void set(Object v) {
            value = v;
            for (Thread t; (t = waiters.poll()) != null;)
                LockSupport.unpark(t);
        }
    }

    /** A queue of a program's own. */
    static final class Mailbox<T> {
        private final ArrayDeque<T> items = new ArrayDeque<>();
        private final int room;

        Mailbox(int room) {
            this.room = room;
        }

        synchronized void send(T item) throws InterruptedException {
            while (items.size() >= room)
                wait();
            items.add(item);
            notifyAll();
        }

        synchronized T receive() throws InterruptedException {
            while (items.isEmpty())
                wait();
            notifyAll();
            return items.remove();
        }
    }

    /** The same with a lock and two conditions. */
    static final class Ring<T> {
        private final ReentrantLock lock = new ReentrantLock();
        private final Condition notEmpty = lock.newCondition(), notFull = lock.newCondition();
        private final ArrayDeque<T> items = new ArrayDeque<>();
        private final int room;

        Ring(int room) {
            this.room = room;
        }

        void send(T item) throws InterruptedException {
            lock.lock();
            try {
                while (items.size() >= room)
                    notFull.await();
                items.add(item);
                notEmpty.signal();
            } finally {
                lock.unlock();
            }
        }

        T receive() throws InterruptedException {
            lock.lock();
            try {
                while (items.isEmpty())
                    notEmpty.await();
                notFull.signal();
                return items.remove();
            } finally {
                lock.unlock();
            }
        }
    }

    interface Things {
        Object take() throws Exception;

        void give(Object thing) throws Exception;
    }

    /** As c3p0 does. */
    static final class Monitored implements Things {
        private final ArrayDeque<Object> free = new ArrayDeque<>(List.of(1, 2));

        @Override
        public synchronized Object take() throws InterruptedException {
            while (free.isEmpty())
                wait();
            return free.remove();
        }

        @Override
        public synchronized void give(Object thing) {
            free.add(thing);
            notify();
        }
    }

    static final class Conditioned implements Things {
        private final ReentrantLock lock = new ReentrantLock();
        private final Condition given = lock.newCondition();
        private final ArrayDeque<Object> free = new ArrayDeque<>(List.of(1, 2));

        @Override
        public Object take() throws InterruptedException {
            lock.lock();
            try {
                while (free.isEmpty())
                    given.await();
                return free.remove();
            } finally {
                lock.unlock();
            }
        }

        @Override
        public void give(Object thing) {
            lock.lock();
            try {
                free.add(thing);
                given.signal();
            } finally {
                lock.unlock();
            }
        }
    }

    /** As HttpClient 5 does: who waits has a future of its own, and who gives back completes one. */
    static final class Leases implements Things {
        private final ArrayDeque<Object> free = new ArrayDeque<>(List.of(1, 2));
        private final ArrayDeque<CompletableFuture<Object>> pending = new ArrayDeque<>();

        private synchronized CompletableFuture<Object> lease() {
            if (!free.isEmpty())
                return CompletableFuture.completedFuture(free.remove());
            CompletableFuture<Object> f = new CompletableFuture<>();
            pending.add(f);
            return f;
        }

        @Override
        public Object take() throws Exception {
            return lease().get();
        }

        @Override
        public void give(Object thing) {
            CompletableFuture<Object> f;
            synchronized (this) {
                f = pending.poll();
                if (f == null)
                    free.add(thing);
            }
            if (f != null)
                f.complete(thing);
        }
    }

    /** As Tomcat's pool does: who waits has a latch of its own, and who gives back opens one. */
    static final class Latches implements Things {
        private static final class Place extends CountDownLatch {
            private Object thing;

            Place() {
                super(1);
            }
        }

        private final ArrayDeque<Object> free = new ArrayDeque<>(List.of(1, 2));
        private final ArrayDeque<Place> pending = new ArrayDeque<>();

        private synchronized Place place() {
            Place p = new Place();
            if (free.isEmpty()) {
                pending.add(p);
                return p;
            }
            p.thing = free.remove();
            p.countDown();
            return p;
        }

        private Object await(Place p) throws InterruptedException {
            p.await();
            return p.thing;
        }

        @Override
        public Object take() throws Exception {
            return await(place());
        }

        @Override
        public void give(Object thing) {
            open(thing);
        }

        private synchronized void open(Object thing) {
            Place p = pending.poll();
            if (p == null) {
                free.add(thing);
                return;
            }
            p.thing = thing;
            p.countDown();
        }
    }

    /** As c3p0 does: a helper looks at what comes back before others have it. */
    static final class Checked implements Things {
        private final Monitored things = new Monitored();
        private final ExecutorService helper = Executors.newSingleThreadExecutor(pool(IDLE));

        @Override
        public Object take() throws InterruptedException {
            return things.take();
        }

        @Override
        public void give(Object thing) {
            helper.execute(() -> things.give(thing));
        }
    }

    private static void borrow(Things things) throws Exception {
        Object thing = things.take();
        work();
        things.give(thing);
    }

    /** As gRPC's blocking stub does: the waiting thread runs what comes in until then. */
    static final class Meanwhile implements java.util.concurrent.Executor {
        private final ConcurrentLinkedQueue<Runnable> tasks = new ConcurrentLinkedQueue<>();
        private volatile Thread waiter;
        private boolean done;

        @Override
        public void execute(Runnable r) {
            tasks.add(r);
            LockSupport.unpark(waiter);
        }

        void drain() {
            waiter = Thread.currentThread();
            while (!done) {
                Runnable r = tasks.poll();
                if (r == null)
                    LockSupport.park(this);
                else
                    r.run();
            }
        }
    }

    /** As HikariCP does: hands over to who waits. */
    static final class Handed implements Things {
        private final ConcurrentLinkedQueue<Object> free = new ConcurrentLinkedQueue<>(List.of(1, 2));
        private final SynchronousQueue<Object> handoff = new SynchronousQueue<>(true);
        private final AtomicInteger waiters = new AtomicInteger();

        @Override
        public Object take() throws Exception {
            waiters.incrementAndGet();
            try {
                for (;;) {
                    Object thing = free.poll();
                    if (thing == null)
                        thing = handoff.poll(10, TimeUnit.MILLISECONDS);
                    if (thing != null)
                        return thing;
                }
            } finally {
                waiters.decrementAndGet();
            }
        }

        @Override
        public void give(Object thing) {
            if (waiters.get() == 0 || !handoff.offer(thing))
                free.add(thing);
        }
    }

    private static void lending(Things things) throws Exception {
        clients(5, RESOURCE, () -> {
            Object thing = things.take();
            work();
            things.give(thing);
        });
        finish();
    }

    /** A mutex of a program's own. */
    private static final class Mutex extends AbstractQueuedSynchronizer {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean tryAcquire(int ignored) {
            return compareAndSetState(0, 1);
        }

        @Override
        protected boolean tryRelease(int ignored) {
            setState(0);
            return true;
        }
    }

    private static void queuing(int n, Body lock, Body unlock) throws Exception {
        clients(n, RESOURCE, () -> {
            lock.run();
            work();
            unlock.run();
        });
        finish();
    }

    private static void fromQueue(BlockingQueue<Object> q, Body give) throws Exception {
        servant("consumer-1", IDLE, q::take);
        servant("consumer-2", IDLE, q::take);
        user("producer", null, () -> rounds(() -> {
            work();
            give.run();
        }));
        finish();
    }

    /** A pool of a program's own, and a client that waits for the result. */
    private static void served(Body takeAndRun, Body ask) throws Exception {
        for (int i = 0; i < 2; i++)
            servant("server-" + i, IDLE, takeAndRun);
        clients(2, ANSWER, ask);
        finish();
    }

    private static void pooled(ExecutorService pool, Body ask) throws Exception {
        clients(2, ANSWER, ask);
        finish(pool);
    }

    private static void shared(int n, String truth, Body b) throws Exception {
        clients(n, truth, b);
        finish();
    }

    private static void add(String name, Body b) {
        cases.put(name, b);
    }

    /* --- the JDK's pools and futures --- */

    static {
        add("fixed-pool", () -> {
            ExecutorService p = Executors.newFixedThreadPool(4, pool(IDLE));
            pooled(p, () -> p.submit(Purposes::work).get());
        });
        add("cached-pool", () -> { // takes from a SynchronousQueue, with a limit
            ExecutorService p = Executors.newCachedThreadPool(pool(IDLE));
            clients(2, ANSWER, () -> {
                p.submit(Purposes::work).get();
                work();
            });
            finish(p);
        });
        add("single-pool", () -> {
            ExecutorService p = Executors.newSingleThreadExecutor(pool(IDLE));
            user("client", ANSWER, () -> rounds(() -> {
                p.submit(Purposes::work).get();
                work();
            }));
            finish(p);
        });
        add("scheduled-pool", () -> {
            ScheduledExecutorService p = Executors.newScheduledThreadPool(1, pool(IDLE));
            CountDownLatch done = new CountDownLatch(ROUNDS);
            user("client", ANSWER, () -> {
                p.scheduleAtFixedRate(done::countDown, 1, 3, TimeUnit.MILLISECONDS);
                done.await();
            });
            finish(p);
        });
        add("fork-join-pool", () -> {
            ForkJoinPool p = new ForkJoinPool(2);
            pooled(p, () -> p.submit(Purposes::work).get());
        });
        add("fork-join-invoke", () -> {
            ForkJoinPool p = new ForkJoinPool(2);
            pooled(p, () -> p.invoke(ForkJoinTask.adapt(Purposes::work)));
        });
        add("completable-get", () -> {
            ExecutorService p = Executors.newFixedThreadPool(2, pool(null));
            pooled(p, () -> CompletableFuture.runAsync(Purposes::work, p).get());
        });
        add("completable-join", () -> {
            ExecutorService p = Executors.newFixedThreadPool(2, pool(null));
            pooled(p, () -> CompletableFuture.supplyAsync(() -> {
                work();
                return 1;
            }, p).thenApplyAsync(x -> x + 1, p).join());
        });
        add("future-task", () -> {
            ExecutorService p = Executors.newFixedThreadPool(2, pool(null));
            pooled(p, () -> {
                FutureTask<Integer> t = new FutureTask<>(Purposes::work, 1) { // a subclass
                };
                p.execute(t);
                t.get();
            });
        });
        add("invoke-all", () -> {
            ExecutorService p = Executors.newFixedThreadPool(2, pool(null));
            pooled(p, () -> p.invokeAll(Arrays.asList(Executors.callable(Purposes::work), Executors.callable(Purposes::work))));
        });
        add("completion-service", () -> {
            ExecutorService p = Executors.newFixedThreadPool(4, pool(null));
            pooled(p, () -> {
                ExecutorCompletionService<Integer> s = new ExecutorCompletionService<>(p);
                s.submit(Purposes::work, 1);
                s.submit(Purposes::work, 2);
                s.take();
                s.take();
            });
        });
        add("parallel-stream", () -> { // another common pool's thread may do all of it
            ForkJoinPool p = new ForkJoinPool(3);
            user("client", ANSWER, () -> rounds(() -> p.submit(() -> List.of(1, 2, 3, 4).parallelStream().forEach(x -> work())).get()));
            finish(p);
        });
        add("thread-per-task", () -> {
            ExecutorService p = virtual ? (ExecutorService)Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null) : null;
            clients(2, ANSWER, () -> {
                if (p != null)
                    p.submit(Purposes::work).get();
                else
                    Sync.start("task", Purposes::work).join();
            });
            finish();
        });
        add("join", () -> shared(2, ANSWER, () -> {
            Thread t = make("joined", Purposes::work);
            t.start();
            t.join();
        }));
        add("latch-answer", () -> {
            ExecutorService p = Executors.newFixedThreadPool(3, pool(null));
            pooled(p, () -> {
                CountDownLatch l = new CountDownLatch(3);
                for (int i = 0; i < 3; i++)
                    p.execute(() -> {
                        work();
                        l.countDown();
                    });
                l.await();
            });
        });
        add("latch-gate", () -> {
            CountDownLatch gate = new CountDownLatch(1);
            for (int i = 0; i < 4; i++)
                user("runner-" + i, ANSWER, () -> {
                    gate.await();
                    work();
                });
            rounds(Purposes::work);
            gate.countDown();
            finish();
        });
        add("barrier", () -> {
            CyclicBarrier b = new CyclicBarrier(3);
            meeting(b::await);
        });
        add("phaser", () -> {
            Phaser p = new Phaser(3);
            meeting(p::arriveAndAwaitAdvance);
        });
        add("exchanger", () -> {
            Exchanger<Object> e = new Exchanger<>();
            Thread fast = user("fast", ANSWER, () -> rounds(() -> e.exchange(2)));
            user("slow", null, () -> rounds(() -> {
                Sync.state(Thread.State.WAITING, fast); // it spins for a while first
                work();
                e.exchange(1);
            }));
            finish();
        });
    }

    /** Three who wait for each other, one of them slow. */
    private static void meeting(Body meet) throws Exception {
        user("slow", null, () -> rounds(() -> {
            work();
            meet.run();
        }));
        user("fast-1", ANSWER, () -> rounds(meet));
        user("fast-2", ANSWER, () -> rounds(meet));
        finish();
    }

    /* --- queues --- */

    static {
        add("synchronous-queue", () -> {
            SynchronousQueue<Object> q = new SynchronousQueue<>();
            fromQueue(q, () -> q.put(1));
        });
        add("transfer-queue", () -> {
            LinkedTransferQueue<Object> q = new LinkedTransferQueue<>();
            fromQueue(q, () -> q.transfer(1));
        });
        add("blocking-queue", () -> {
            LinkedBlockingQueue<Object> q = new LinkedBlockingQueue<>();
            fromQueue(q, () -> q.put(1));
        });
        add("synchronous-put", () -> {
            SynchronousQueue<Object> q = new SynchronousQueue<>();
            full(() -> q.put(1), q::take);
        });
        add("transfer-put", () -> {
            LinkedTransferQueue<Object> q = new LinkedTransferQueue<>();
            full(() -> q.transfer(1), q::take);
        });
        add("full-queue", () -> {
            ArrayBlockingQueue<Object> q = new ArrayBlockingQueue<>(2);
            full(() -> q.put(1), q::take);
        });
        add("full-mailbox", () -> {
            Mailbox<Object> q = new Mailbox<>(2);
            full(() -> q.send(1), q::receive);
        });
        add("full-ring", () -> {
            Ring<Object> q = new Ring<>(2);
            full(() -> q.send(1), q::receive);
        });
        add("publisher", () -> {
            ExecutorService p = Executors.newFixedThreadPool(1, pool(null));
            SubmissionPublisher<Integer> publisher = new SubmissionPublisher<>(p, 2);
            publisher.consume(x -> work());
            user("producer", RESOURCE, () -> rounds(() -> publisher.submit(1)));
            finish(p);
        });
        add("delay-queue", () -> {
            ScheduledThreadPoolExecutor maker = new ScheduledThreadPoolExecutor(1);
            DelayQueue<Delayed> q = new DelayQueue<>();
            servant("consumer", IDLE, q::take);
            user("producer", null, () -> rounds(() -> {
                q.add((Delayed)maker.schedule(Purposes::work, 1, TimeUnit.MILLISECONDS));
                work();
            }));
            finish(maker);
        });
        add("reply-queue", () -> {
            LinkedBlockingQueue<BlockingQueue<Object>> requests = new LinkedBlockingQueue<>();
            servant("server", IDLE, () -> {
                BlockingQueue<Object> r = requests.take();
                work();
                r.put(1);
            });
            user("client", ANSWER, () -> {
                LinkedBlockingQueue<Object> replies = new LinkedBlockingQueue<>();
                rounds(() -> {
                    requests.put(replies);
                    replies.take();
                    work();
                });
            });
            finish();
        });
        add("one-shot-queue", () -> {
            LinkedBlockingQueue<BlockingQueue<Object>> requests = new LinkedBlockingQueue<>();
            served(() -> {
                BlockingQueue<Object> r = requests.take();
                work();
                r.put(1);
            }, () -> {
                ArrayBlockingQueue<Object> reply = new ArrayBlockingQueue<>(1);
                requests.put(reply);
                reply.poll(10, TimeUnit.SECONDS);
            });
        });
        add("synchronous-reply", () -> {
            LinkedBlockingQueue<BlockingQueue<Object>> requests = new LinkedBlockingQueue<>();
            served(() -> {
                BlockingQueue<Object> r = requests.take();
                work();
                r.put(1);
            }, () -> {
                SynchronousQueue<Object> reply = new SynchronousQueue<>();
                requests.put(reply);
                reply.take();
            });
        });
        add("pipeline", () -> { // the middle gives to the end, and waits for the beginning
            LinkedBlockingQueue<Object> in = new LinkedBlockingQueue<>(), out = new LinkedBlockingQueue<>();
            servant("middle", IDLE, () -> out.put(in.take()));
            servant("end", IDLE, out::take);
            user("beginning", null, () -> rounds(() -> {
                work();
                in.put(1);
            }));
            finish();
        });
        add("gateway", () -> { // asks a third one in each of its tasks, several times: it waits for it most of its time
            LinkedBlockingQueue<Reply> requests = new LinkedBlockingQueue<>(), behind = new LinkedBlockingQueue<>();
            servant("backend", IDLE, () -> {
                Reply r = behind.take();
                work();
                r.set(1);
            });
            servant("gateway", ANSWER, () -> {
                Reply r = requests.take();
                for (int i = 0; i < 3; i++) {
                    Reply mine = new Reply();
                    behind.put(mine);
                    mine.get();
                }
                r.set(1);
            });
            user("client", ANSWER, () -> rounds(() -> {
                Reply r = new Reply();
                requests.put(r);
                r.get();
            }));
            finish();
        });
    }

    private static void full(Body put, Body take) throws Exception {
        servant("consumer", null, () -> {
            take.run();
            work();
        });
        user("producer-1", RESOURCE, () -> rounds(put));
        user("producer-2", RESOURCE, () -> rounds(put));
        finish();
    }

    /* --- made by programs --- */

    static {
        add("own-future-wait", () -> {
            LinkedBlockingQueue<Reply> requests = new LinkedBlockingQueue<>();
            served(() -> {
                Reply r = requests.take();
                work();
                r.set(1);
            }, () -> {
                Reply r = new Reply();
                requests.put(r);
                r.get();
            });
        });
        add("own-future-park", () -> {
            LinkedBlockingQueue<Settable> requests = new LinkedBlockingQueue<>();
            served(() -> {
                Settable r = requests.take();
                work();
                r.set(1);
            }, () -> {
                Settable r = new Settable();
                requests.put(r);
                r.get();
            });
        });
        add("own-pool-wait", () -> {
            Mailbox<Reply> requests = new Mailbox<>(100);
            served(() -> {
                Reply r = requests.receive();
                work();
                r.set(1);
            }, () -> {
                Reply r = new Reply();
                requests.send(r);
                r.get();
                work();
            });
        });
        add("own-pool-condition", () -> {
            Ring<Settable> requests = new Ring<>(100);
            served(() -> {
                Settable r = requests.receive();
                work();
                r.set(1);
            }, () -> {
                Settable r = new Settable();
                requests.send(r);
                r.get();
                work();
            });
        });
        add("own-pool-park", () -> { // one worker, parked until its inbox has something
            ConcurrentLinkedQueue<Settable> inbox = new ConcurrentLinkedQueue<>();
            Thread worker = servant("worker", IDLE, () -> {
                Settable r = inbox.poll();
                if (r == null) {
                    LockSupport.park();
                    return;
                }
                work();
                r.set(1);
            });
            user("client", ANSWER, () -> rounds(() -> {
                Settable r = new Settable();
                inbox.add(r);
                LockSupport.unpark(worker);
                r.get();
                work();
            }));
            finish();
        });
        add("own-latch", () -> {
            ExecutorService p = Executors.newFixedThreadPool(2, pool(null));
            pooled(p, () -> {
                Reply done = new Reply();
                p.execute(() -> {
                    work();
                    done.set(1);
                });
                done.get();
            });
        });
        add("own-semaphore-signal", () -> { // a semaphore that counts work, as Jetty's reserved threads have
            Semaphore work = new Semaphore(0);
            servant("worker-1", IDLE, work::acquire);
            servant("worker-2", IDLE, work::acquire);
            user("producer", null, () -> rounds(() -> {
                work();
                work.release();
            }));
            finish();
        });
        add("own-condition-queue", () -> {
            Ring<Object> q = new Ring<>(100);
            servant("consumer-1", IDLE, q::receive);
            servant("consumer-2", IDLE, q::receive);
            user("producer", null, () -> rounds(() -> {
                work();
                q.send(1);
            }));
            finish();
        });
        add("own-monitor-queue", () -> {
            Mailbox<Object> q = new Mailbox<>(100);
            servant("consumer-1", IDLE, q::receive);
            servant("consumer-2", IDLE, q::receive);
            user("producer", null, () -> rounds(() -> {
                work();
                q.send(1);
            }));
            finish();
        });
        add("poll-park", () -> servicing("poller", () -> LockSupport.parkNanos(1_000_000)));
        add("timer", () -> {
            System.out.println("truth timer timer-thread idle");
            Timer t = new Timer("timer-thread");
            CountDownLatch ticks = new CountDownLatch(ROUNDS);
            t.schedule(new TimerTask() {
                @Override
                public void run() {
                    ticks.countDown();
                }
            }, 1, 3);
            ticks.await();
            t.cancel();
        });
        add("reference-queue", () -> {
            ReferenceQueue<Object> q = new ReferenceQueue<>();
            servant("cleaner", IDLE, q::remove);
            user("owner", null, () -> rounds(() -> {
                work();
                new WeakReference<>(new Object(), q).enqueue();
            }));
            finish();
        });
        add("process", () -> user("client", ANSWER, () -> {
            new ProcessBuilder("sleep", "0.05").start().waitFor();
            new ProcessBuilder("sleep", "0.05").start().waitFor();
        }).join());
    }

    private static void servicing(String role, Body round) throws Exception {
        servant(role, IDLE, round);
        user("other", null, () -> rounds(Purposes::work));
        finish();
    }

    /* --- what others have --- */

    private static void append(BlockingQueue<Object> free, BlockingQueue<Object> filled) throws Exception {
        filled.put(free.take());
    }

    static {
        add("semaphore-limit", () -> {
            Semaphore s = new Semaphore(2);
            queuing(5, s::acquire, s::release);
        });
        add("buffers", () -> {
            ArrayBlockingQueue<Object> free = new ArrayBlockingQueue<>(2, false, List.of(1, 2));
            lending(new Things() {
                @Override
                public Object take() throws Exception {
                    return free.take();
                }

                @Override
                public void give(Object thing) throws Exception {
                    free.put(thing);
                }
            });
        });
        add("buffers-of-a-writer", () -> { // who gives them back is another thread
            ArrayBlockingQueue<Object> free = new ArrayBlockingQueue<>(2, false, List.of(1, 2));
            LinkedBlockingQueue<Object> filled = new LinkedBlockingQueue<>();
            servant("writer", null, () -> {
                Object b = filled.take();
                work();
                work();
                free.put(b);
            });
            clients(4, RESOURCE, () -> {
                append(free, filled);
                work();
            });
            finish();
        });
        add("deque-pool", () -> {
            LinkedBlockingDeque<Object> free = new LinkedBlockingDeque<>(List.of(1, 2));
            lending(new Things() {
                @Override
                public Object take() throws Exception {
                    return free.pollFirst(10, TimeUnit.SECONDS);
                }

                @Override
                public void give(Object thing) {
                    free.addFirst(thing);
                }
            });
        });
        add("monitor-pool", () -> lending(new Monitored()));
        add("condition-pool", () -> lending(new Conditioned()));
        add("lease-pool", () -> lending(new Leases()));
        add("latch-pool", () -> lending(new Latches()));
        add("helped-pool", () -> {
            Checked things = new Checked();
            clients(5, RESOURCE, () -> {
                borrow(things);
                work();
            });
            finish(things.helper);
        });
        add("call-executor", () -> { // who answers is asked through something that is not recorded
            ConcurrentLinkedQueue<Meanwhile> calls = new ConcurrentLinkedQueue<>();
            servant("loop", null, () -> {
                Meanwhile call = calls.poll();
                work();
                if (call == null)
                    return;
                call.execute(() -> { });
                work();
                call.execute(() -> { });
                work();
                call.execute(() -> call.done = true);
            });
            clients(3, ANSWER, () -> {
                for (int i = 0; i < 3; i++) {
                    Meanwhile call = new Meanwhile();
                    calls.add(call);
                    call.drain();
                }
            });
            finish();
        });
        add("handoff-pool", () -> lending(new Handed()));
        add("monitor", () -> {
            Object m = new Object();
            shared(4, RESOURCE, () -> {
                synchronized (m) {
                    work();
                }
            });
        });
        add("reentrant-lock", () -> {
            ReentrantLock l = new ReentrantLock();
            queuing(4, l::lock, l::unlock);
        });
        add("try-lock", () -> {
            ReentrantLock l = new ReentrantLock(true);
            queuing(4, () -> l.tryLock(10, TimeUnit.SECONDS), l::unlock);
        });
        add("write-lock", () -> {
            ReentrantReadWriteLock l = new ReentrantReadWriteLock(true);
            queuing(4, () -> l.writeLock().lock(), () -> l.writeLock().unlock());
        });
        add("read-lock", () -> {
            ReentrantReadWriteLock l = new ReentrantReadWriteLock(true);
            servant("writer", null, () -> {
                l.writeLock().lock();
                work();
                l.writeLock().unlock();
            });
            clients(3, RESOURCE, () -> {
                l.readLock().lock();
                l.readLock().unlock();
            });
            finish();
        });
        add("stamped-lock", () -> {
            StampedLock l = new StampedLock();
            shared(4, RESOURCE, () -> {
                long s = l.writeLock();
                work();
                l.unlockWrite(s);
            });
        });
        add("own-mutex", () -> {
            Mutex m = new Mutex();
            queuing(4, () -> m.acquire(1), () -> m.release(1));
        });
    }

    public static void main(String[] args) throws Exception {
        virtual = args[0].equals("virtual");
        List<String> only = Arrays.asList(args).subList(1, args.length);
        for (Map.Entry<String, Body> c : cases.entrySet()) {
            if (!only.isEmpty() && !only.contains(c.getKey()))
                continue;
            current = c.getKey();
            over = false;
            c.getValue().run();
            over = true;
            for (Thread t : servants)
                t.interrupt();
            for (Thread t : servants)
                t.join();
            users = new ArrayList<>();
            servants = new ArrayList<>();
        }
        System.out.println("done");
    }
}
