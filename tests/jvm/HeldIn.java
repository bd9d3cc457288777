import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * HeldIn CASE [TIMES]: four threads want one thing at a time, each twenty times, and have it for 2 ms. In which field is
 * the thing?
 */
public class HeldIn {
    interface Body {
        void run() throws Exception;
    }

    static final Object GUARD = new Object();
    static final int THREADS = 4;
    private final Object door = new Object();
    private final ReentrantLock lock = new ReentrantLock();
    private final Semaphore permits = new Semaphore(1);
    private final BlockingQueue<Integer> tokens = new ArrayBlockingQueue<>(1);
    private final Room room = new Room();
    private final Pool pool = new Pool();
    private final Object[] stripes = {new Object(), new Object()};

    static void use() throws InterruptedException {
        Thread.sleep(2);
    }

    /** Its own monitor. */
    static class Room extends ArrayList<String> {
        synchronized void enter() throws InterruptedException {
            use();
        }
    }

    /** As a library has it: the condition says nothing of which pool it is. */
    static class Pool {
        private final ReentrantLock inner = new ReentrantLock();
        private final Condition free = inner.newCondition();
        private boolean taken;

        void take() throws InterruptedException {
            inner.lock();
            try {
                while (taken)
                    free.await();
                taken = true;
            } finally {
                inner.unlock();
            }
        }

        void give() {
            inner.lock();
            taken = false;
            free.signal();
            inner.unlock();
        }
    }

    void locked() throws InterruptedException {
        lock.lock();
        try {
            use();
        } finally {
            lock.unlock();
        }
    }

    void permitted() throws InterruptedException {
        permits.acquire();
        use();
        permits.release();
    }

    /** The queue is in a variable, and beyond a branch. */
    void queued() throws InterruptedException {
        BlockingQueue<Integer> mine = tokens;
        if (THREADS > 1)
            Thread.yield();
        int token = mine.take();
        use();
        mine.put(token);
    }

    void handed(Object which) throws InterruptedException {
        synchronized (which) {
            use();
        }
    }

    Object stripe() {
        return stripes[0];
    }

    void asked() throws InterruptedException {
        synchronized (stripe()) {
            use();
        }
    }

    void pooled() throws InterruptedException {
        pool.take();
        use();
        pool.give();
    }

    Body body(String what) throws InterruptedException {
        switch (what) {
        case "static":
            return () -> {
                synchronized (GUARD) {
                    use();
                }
            };
        case "class":
            return () -> {
                synchronized (HeldIn.class) {
                    use();
                }
            };
        case "instance":
            return () -> {
                synchronized (door) {
                    use();
                }
            };
        case "this":
            return room::enter;
        case "called":
            return () -> room.enter();
        case "lock":
            return this::locked;
        case "semaphore":
            return this::permitted;
        case "queue":
            tokens.put(1);
            return this::queued;
        case "parameter":
            return () -> handed(door);
        case "element":
            return () -> handed(stripes[1]);
        case "getter":
            return this::asked;
        case "pool":
            return this::pooled;
        case "inner":
            return new Body() {
                @Override
                public void run() throws Exception {
                    synchronized (door) {
                        use();
                    }
                }
            };
        default:
            throw new IllegalArgumentException(what);
        }
    }

    public static void main(String[] args) throws Exception {
        Body body = new HeldIn().body(args[0]);
        int times = args.length > 1 ? Integer.parseInt(args[1]) : 20;
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            Thread t = new Thread(() -> {
                try {
                    for (int k = 0; k < times; k++)
                        body.run();
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            }, "user-" + i);
            threads.add(t);
            t.start();
        }
        for (Thread t : threads)
            t.join();
    }
}
