import java.lang.reflect.Method;
import java.util.*;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Ten virtual threads sleep for 200 ms each, all at once.
 *
 *   native   below a native method: with -Djdk.reflect.useNativeAccessorOnly=true reflection is one
 *   init     one of them below a static initialiser, Pinned.Slow
 *   monitor  in a synchronized block, each in one of its own, called in a synchronized method of another class
 *   free     below code of Java alone
 *
 *   enter    nine want the monitor that the tenth has: one after the other has it, for a moment
 *   starved  two carriers (parallelism and maxPoolSize are 2) are pinned by a synchronized block, or natively; behind them
 *            wait eight threads that may go on
 *   hang     a lock is given to a thread that has no carrier, since two that wait for the lock are pinned, by a synchronized
 *            block or natively; prints "ready", stays
 *   busy     two carriers are used by two threads that compute; behind them wait eight threads that may go on
 */
public final class Pinned {
    static final class Slow {
        static final int VALUE = wait_();

        private static int wait_() {
            nap();
            return 1;
        }
    }

    static final class Table {
        private final Object lock = new Object();

        synchronized void outer(Runnable inside) {
            lookup(inside);
        }

        private void lookup(Runnable inside) {
            synchronized (lock) {
                inside.run();
            }
        }
    }

    static final Method START;
    static final Object ONE = new Object();
    static volatile int wanting;
    static volatile boolean stop;
    static final CountDownLatch COMPUTING = new CountDownLatch(2);
    static final Set<Thread> RELEASED = ConcurrentHashMap.newKeySet();

    static {
        try {
            START = Thread.class.getMethod("startVirtualThread", Runnable.class); // compiled for 17, too
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void nap() {
        try {
            Thread.sleep(200);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Until release(): a park may end without a reason. */
    public static void rest() {
        while (!RELEASED.contains(Thread.currentThread()))
            LockSupport.park();
    }

    static void release(Thread t) {
        RELEASED.add(t);
        LockSupport.unpark(t);
    }

    static void natively(String method) {
        try {
            Pinned.class.getMethod(method).invoke(null);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    static void run(String how) {
        switch (how) {
        case "init":
            System.out.println(Slow.VALUE);
            break;
        case "native":
            natively("nap");
            break;
        case "monitor":
            new Table().outer(Pinned::nap);
            break;
        default:
            nap();
        }
    }

    static Thread start(Runnable r) throws ReflectiveOperationException {
        return (Thread) START.invoke(null, r);
    }

    static void await(List<Thread> all, Thread.State state) {
        for (Thread t : all)
            while (t.getState() != state)
                Thread.yield();
    }

    static void enter() throws Exception {
        List<Thread> all = new ArrayList<>();
        synchronized (ONE) {
            for (int i = 0; i < 9; i++)
                all.add(start(() -> {
                    synchronized (ONE) {
                        wanting++;
                    }
                }));
            await(all, Thread.State.BLOCKED);
        }
        for (Thread t : all)
            t.join();
    }

    /** Until each is inside of the park of rest(): whoever loads a class may be seen waiting, too, and would not park once unparked. */
    static void awaitRest(List<Thread> all) {
        for (Thread t : all)
            while (t.getState() != Thread.State.WAITING || !rests(t.getStackTrace()))
                Thread.yield();
    }

    static boolean rests(StackTraceElement[] stack) {
        boolean rests = false;
        for (StackTraceElement e : stack)
            rests |= e.getMethodName().equals("rest");
        return rests && stack[0].getMethodName().equals("park");
    }

    static void starved(boolean monitor) throws Exception {
        List<Thread> ready = new ArrayList<>(), pinned = new ArrayList<>();
        for (int i = 0; i < 8; i++)
            ready.add(start(Pinned::rest));
        awaitRest(ready);
        for (int i = 0; i < 2; i++)
            pinned.add(start(monitor ? () -> new Table().outer(Pinned::rest) : () -> natively("rest")));
        awaitRest(pinned);
        for (Thread t : ready)
            release(t);
        Thread.sleep(200);
        for (Thread t : pinned)
            release(t);
        for (Thread t : ready)
            t.join();
        for (Thread t : pinned)
            t.join();
    }

    static final ReentrantLock LOG = new ReentrantLock(true);

    public static void write() {
        LOG.lock();
        LOG.unlock();
    }

    static Thread named(String name, Sync.Body body) throws Exception {
        Thread t = Sync.virtual(name, body);
        t.start();
        return t;
    }

    static void awaitQueued(Thread t) {
        while (!LOG.hasQueuedThread(t) || t.getState() != Thread.State.WAITING)
            Thread.yield();
    }

    /** Who gets the lock next has no carrier: both are kept by threads that wait for the lock. */
    static void hang(boolean monitor) throws Exception {
        LOG.lock();
        awaitQueued(named("first", Pinned::write));
        for (int i = 0; i < 2; i++)
            awaitQueued(named("handler-" + i, monitor ? () -> new Table().outer(Pinned::write) : () -> natively("write")));
        LOG.unlock();
        System.out.println("ready");
        while (true)
            Thread.sleep(60_000);
    }

    static void compute() {
        COMPUTING.countDown();
        while (!stop)
            Thread.onSpinWait();
    }

    static void busy() throws Exception {
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < 8; i++)
            all.add(start(Pinned::rest));
        awaitRest(all);
        List<Thread> ready = new ArrayList<>(all);
        for (int i = 0; i < 2; i++)
            all.add(start(Pinned::compute));
        COMPUTING.await();
        for (Thread t : ready)
            release(t);
        Thread.sleep(200);
        stop = true;
        for (Thread t : all)
            t.join();
    }

    public static void main(String[] args) throws Exception {
        if (args[0].equals("enter")) {
            enter();
            return;
        }
        if (args[0].equals("busy")) {
            busy();
            return;
        }
        if (args[0].startsWith("hang")) {
            hang(args[0].equals("hang-monitor"));
            return;
        }
        if (args[0].startsWith("starved")) {
            starved(args[0].equals("starved-monitor"));
            return;
        }
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < (args[0].equals("init") ? 1 : 10); i++)
            all.add(start(() -> run(args[0])));
        for (Thread t : all)
            t.join();
    }
}
