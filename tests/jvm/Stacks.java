import java.lang.instrument.Instrumentation;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Proxy;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.Phaser;
import java.util.concurrent.RecursiveTask;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;
import java.util.stream.IntStream;

/**
 * Events of every kind, each at the end of stacks of many shapes: Stacks N [part ...].
 *
 * Each part runs in a thread of its own until it has made at least N events; "java-agent" as a part retransforms
 * this class again and again until then (as -javaagent, too). Prints "done".
 */
public class Stacks {
    static final Object lock = new Object();
    static final ReentrantLock ownable = new ReentrantLock();
    static final ReentrantReadWriteLock readWrite = new ReentrantReadWriteLock();
    static final StampedLock stamped = new StampedLock();
    static final Condition condition = ownable.newCondition();
    static final Semaphore semaphore = new Semaphore(2);
    static volatile long sink;
    static Instrumentation instrumentation;

    public static void premain(String argument, Instrumentation i) { instrumentation = i; }

    /* --- the events ------------------------------------------------------------------------------ */

    static final ThreadLocal<int[]> made = ThreadLocal.withInitial(() -> new int[1]);

    /** One or some events, of another kind each time. */
    static int event() {
        int n = made.get()[0]++;
        try {
            switch (n % 16) {
                case 0:
                    LockSupport.unpark(Thread.currentThread());
                    LockSupport.park();
                    break;
                case 1:
                    semaphore.acquire();
                    semaphore.release();
                    break;
                case 2:
                    contended(n);
                    break;
                case 3:
                    synchronized (lock) {
                        sink += n;
                        lock.notifyAll();
                    }
                    break;
                case 4:
                    locked(n);
                    break;
                case 5:
                    if (n % 64 == 5)
                        synchronized (lock) {
                            lock.wait(0, 1);
                        }
                    break;
                case 6:
                    LockSupport.parkNanos(lock, 1);
                    break;
                case 7:
                    if (n % 128 == 7)
                        Thread.sleep(0, 1);
                    Thread.currentThread().interrupt();
                    if (!Thread.interrupted())
                        throw new AssertionError();
                    break;
                case 8:
                    shared(n);
                    break;
                default:
                    synchronized (made.get()) {
                        made.get().notify();
                    }
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        return n;
    }

    static synchronized void contended(int n) {
        sink += n;
        if (n % 8 == 2)
            Thread.onSpinWait();
    }

    static void locked(int n) throws InterruptedException {
        ownable.lock();
        try {
            if (n % 64 == 4)
                condition.awaitNanos(1000);
            else
                condition.signal();
        } finally {
            ownable.unlock();
        }
    }

    static void shared(int n) {
        long stamp = stamped.writeLock();
        stamped.unlockWrite(stamp);
        if (n % 32 == 8) {
            readWrite.writeLock().lock();
            readWrite.writeLock().unlock();
        } else {
            readWrite.readLock().lock();
            readWrite.readLock().unlock();
        }
    }

    /* --- the shapes ------------------------------------------------------------------------------ */

    interface Shape {
        int area(int depth);
    }

    static final class Square implements Shape {
        public int area(int depth) { return depth <= 0 ? event() : shapes[depth % 3].area(depth - 1) + 1; }
    }

    static final class Circle implements Shape {
        public int area(int depth) { return depth <= 0 ? event() : helper(depth); }
        int helper(int depth) { return shapes[depth % 3].area(depth - 1) + depth; }
    }

    static class Round extends Thread implements Shape {
        public synchronized int area(int depth) { return depth <= 0 ? event() : shapes[depth % 3].area(depth - 1); }
    }

    static final Shape[] shapes = {new Square(), new Circle(), new Round()};

    static void recursion() { sink += shapes[0].area(ThreadLocalRandom.current().nextInt(60)); }

    static int deep(int n) { return n == 0 ? event() : deep(n - 1) + 1; }

    static void deepRecursion() { sink += deep(ThreadLocalRandom.current().nextInt(1200)); }

    static void lambdas() {
        Map<String, List<Integer>> m = new HashMap<>();
        for (int i = 0; i < 20; i++)
            m.computeIfAbsent("key" + i % 7, k -> new ArrayList<>(event())).add(i);
        List<String> keys = new ArrayList<>(m.keySet());
        keys.sort((a, b) -> {
            event();
            return b.compareTo(a);
        });
    }

    static void streams() {
        sink += IntStream.range(0, 20).boxed().map(i -> i * 3 + (event() & 1)).filter(i -> i % 2 == 0)
            .sorted((a, b) -> Integer.compare(b, a + (event() & 1) - 1 >= 0 ? a : a)).mapToInt(i -> i).sum();
        sink += IntStream.range(0, 64).parallel().map(i -> event()).sum();
    }

    static final MethodHandle handle, virtual, guarded, collected;

    static int target(int n, Object o) { return n <= 0 ? event() : call(n - 1); }
    static boolean isOdd(int n) { return n % 2 == 1; }
    static int sum(Object... all) { return all.length + event(); }

    static {
        try {
            MethodHandles.Lookup l = MethodHandles.lookup();
            handle = MethodHandles.insertArguments(
                l.findStatic(Stacks.class, "target", MethodType.methodType(int.class, int.class, Object.class)), 1, "x");
            virtual = l.findVirtual(Shape.class, "area", MethodType.methodType(int.class, int.class));
            guarded = MethodHandles.guardWithTest(
                l.findStatic(Stacks.class, "isOdd", MethodType.methodType(boolean.class, int.class)), handle,
                MethodHandles.filterReturnValue(handle, MethodHandles.identity(int.class)));
            collected = l.findStatic(Stacks.class, "sum", MethodType.methodType(int.class, Object[].class))
                .asCollector(Object[].class, 3).asType(MethodType.methodType(int.class, int.class, long.class, Object.class));
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    static int call(int n) {
        try {
            return (int) handle.invokeExact(n) + (int) virtual.invoke(shapes[n % 3], n % 4)
                + (int) guarded.invokeExact(n - 1) + (int) collected.invokeExact(n, 1L, (Object) "y");
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
    }

    static void handles() { sink += call(4); }

    static void reflection() throws Exception {
        sink += (int) Stacks.class.getDeclaredMethod("target", int.class, Object.class).invoke(null, 1, "y");
        Stacks.class.getDeclaredConstructor(int.class).newInstance(3);
    }

    Stacks(int n) { sink += event() + n; }

    static void proxies() {
        Shape shape = (Shape) Proxy.newProxyInstance(Stacks.class.getClassLoader(), new Class<?>[] {Shape.class},
            (self, method, arguments) -> event() + (int) method.invoke(shapes[1], arguments));
        for (int i = 0; i < 4; i++)
            sink += shape.area(i);
    }

    static class Thrown extends RuntimeException {
        Thrown() { super("thrown " + event()); }
        public synchronized Throwable fillInStackTrace() {
            event();
            return this;
        }
    }

    static void thrower(int n) {
        try {
            if (n == 0)
                throw new Thrown();
            thrower(n - 1);
        } finally {
            event();
        }
    }

    static void exceptions() {
        try {
            thrower(ThreadLocalRandom.current().nextInt(9));
        } catch (Thrown e) {
            event();
        }
        try {
            sink += nothing[event() & 7].hashCode();
        } catch (NullPointerException e) {
            event();
        }
    }

    static final Object[] nothing = new Object[8];

    /** Long enough in one call that its loop is compiled while it runs. */
    static void loop() {
        long x = 1;
        for (int i = 0; i < 40_000; i++) {
            x = x * 31 + (i ^ (x >>> 7)) % 11;
            if (i % 500 == 0)
                x += event();
        }
        sink += x;
    }

    static String named() { return "value " + new Object() { public String toString() { return "of " + event(); } } + sink; }

    static void upcalls() {
        sink += named().length() + String.format("%s", shapes[0].area(2)).length();
        Integer[] a = IntStream.range(0, 10).boxed().toArray(Integer[]::new);
        Arrays.sort(a, (p, q) -> q - p + (event() & 0));
    }

    static final String where = Stacks.class.getProtectionDomain().getCodeSource().getLocation().toString();

    /** Classes that come and go, with an event in each one's initializer, which the JVM calls. */
    static void unloading() throws Exception {
        for (int i = 0; i < 5; i++)
            try (URLClassLoader l = new URLClassLoader(new URL[] {new URL(where)}, null)) {
                Class<?> c = l.loadClass("Stacks$Disposable");
                ((Runnable) c.getDeclaredConstructor().newInstance()).run();
                made.get()[0] += 100;
            }
        if (ThreadLocalRandom.current().nextInt(40) == 0)
            System.gc();
    }

    public static class Disposable implements Runnable {
        static final Object own = new Object();

        static {
            synchronized (own) {
                own.notify();
            }
        }

        public void run() {
            for (int i = 0; i < 100; i++)
                step(i % 7);
        }

        void step(int depth) {
            if (depth > 0)
                step(depth - 1);
            else
                synchronized (this) {
                    notifyAll();
                }
        }
    }

    static final class Fibonacci extends RecursiveTask<Integer> {
        final int n;
        Fibonacci(int n) { this.n = n; }
        protected Integer compute() {
            if (n < 2)
                return event();
            Fibonacci left = new Fibonacci(n - 1);
            left.fork();
            return new Fibonacci(n - 2).compute() + left.join();
        }
    }

    static void tasks() throws Exception {
        sink += ForkJoinPool.commonPool().invoke(new Fibonacci(7));
        sink += CompletableFuture.supplyAsync(Stacks::event).thenCombineAsync(
            CompletableFuture.supplyAsync(() -> shapes[0].area(5)), Integer::sum).get();
        made.get()[0] += 20;
    }

    /** Programs of locks in the manner of the jsr166 tests: two threads that hand each other things. */
    static void hands() throws Exception {
        BlockingQueue<Integer> bounded = new ArrayBlockingQueue<>(1);
        SynchronousQueue<Integer> direct = new SynchronousQueue<>(true);
        LinkedTransferQueue<Integer> transfer = new LinkedTransferQueue<>();
        CyclicBarrier barrier = new CyclicBarrier(2, Stacks::event);
        Phaser phaser = new Phaser(2);
        Thread other = new Thread(() -> {
            try {
                for (int i = 0; i < 20; i++) {
                    bounded.put(event());
                    direct.put(i);
                    transfer.transfer(i);
                    barrier.await();
                    phaser.arriveAndAwaitAdvance();
                }
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }, "hand");
        other.start();
        for (int i = 0; i < 20; i++) {
            sink += bounded.take() + direct.take() + transfer.take();
            barrier.await();
            phaser.arriveAndAwaitAdvance();
            event();
        }
        bounded.poll(1, TimeUnit.MICROSECONDS);
        other.join();
        made.get()[0] += 80;
    }

    /** Virtual threads that are parked, pinned and mounted again at some depth (JDK 21). */
    static void virtual() throws Exception {
        Class<?> builder = Class.forName("java.lang.Thread$Builder");
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            Object b = Thread.class.getMethod("ofVirtual").invoke(null);
            threads.add((Thread) builder.getMethod("start", Runnable.class).invoke(b, (Runnable) () -> {
                for (int k = 0; k < 10; k++) {
                    recursion();
                    streams();
                    LockSupport.parkNanos(1000);
                    synchronized (lock) {
                        event();
                        LockSupport.parkNanos(1000);
                    }
                    Thread.yield();
                    recursion();
                }
            }));
        }
        for (Thread t : threads)
            t.join();
        made.get()[0] += 600;
    }

    /** More arguments than registers; compiled and interpreted frames by turns, as each is called often or hardly. */
    static int many(int n, long a, long b, int c, double d, Object e, long f, long g, Object h, int i) throws Exception {
        if (n % 7 == 0) {
            LockSupport.parkNanos(100);
            event();
        }
        return n == 0 ? c : handed(n - 1, i) + many(n - 1, b, a, i, d, h, g, f, e, c);
    }

    static int handed(int n, int i) throws Exception {
        if (n % 31 != 0)
            return n;
        return (int) STACKS_HANDED.invoke(null, n, i);
    }

    static final java.lang.reflect.Method STACKS_HANDED;

    static {
        try {
            STACKS_HANDED = Stacks.class.getDeclaredMethod("parked", int.class, int.class);
        } catch (NoSuchMethodException e) {
            throw new AssertionError(e);
        }
    }

    static int parked(int n, int i) {
        event();
        LockSupport.parkNanos(100);
        return n + i;
    }

    /** Virtual threads that come back at all depths, with frames in several chunks, while these are moved (JDK 21). */
    static void frozen() throws Exception {
        List<Thread> threads = new ArrayList<>();
        Class<?> builder = Class.forName("java.lang.Thread$Builder");
        for (int i = 0; i < 10; i++) {
            int depth = 20 << i % 5;
            Object b = Thread.class.getMethod("ofVirtual").invoke(null);
            threads.add((Thread) builder.getMethod("start", Runnable.class).invoke(b, (Runnable) () -> {
                try {
                    for (int k = 0; k < 4; k++)
                        sink += many(depth, 1, 2, 3, 4, "5", 6, 7, "8", 9);
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            }));
        }
        for (Thread t : threads)
            while (t.isAlive()) {
                garbage = new byte[64][4096];
                System.gc();
                t.join(1);
            }
        made.get()[0] += 600;
    }

    static volatile Object garbage;

    static void retransform() throws Exception {
        Thread.sleep(5);
        if (instrumentation != null)
            instrumentation.retransformClasses(Stacks.class, Square.class, Disposable.class, ArrayBlockingQueue.class);
        made.get()[0] += 100;
    }

    interface Part {
        void run() throws Exception;
    }

    static final Map<String, Part> parts = new LinkedHashMap<>();

    static {
        parts.put("recursion", Stacks::recursion);
        parts.put("deep", Stacks::deepRecursion);
        parts.put("lambdas", Stacks::lambdas);
        parts.put("streams", Stacks::streams);
        parts.put("handles", Stacks::handles);
        parts.put("reflection", Stacks::reflection);
        parts.put("proxies", Stacks::proxies);
        parts.put("exceptions", Stacks::exceptions);
        parts.put("loop", Stacks::loop);
        parts.put("upcalls", Stacks::upcalls);
        parts.put("unloading", Stacks::unloading);
        parts.put("tasks", Stacks::tasks);
        parts.put("hands", Stacks::hands);
        if (Runtime.version().feature() >= 21) {
            parts.put("virtual", Stacks::virtual);
            parts.put("frozen", Stacks::frozen);
        }
        parts.put("java-agent", Stacks::retransform);
    }

    public static void main(String[] args) throws Exception {
        int n = Integer.parseInt(args[0]);
        List<Thread> threads = new ArrayList<>();
        for (Map.Entry<String, Part> e : parts.entrySet())
            // All the time it collects garbage: only if it is named.
            if (args.length == 1 ? !e.getKey().equals("frozen") : Arrays.asList(args).contains(e.getKey())) {
                Thread t = new Thread(() -> {
                    try {
                        while (made.get()[0] < n)
                            e.getValue().run();
                    } catch (Exception failed) {
                        throw new AssertionError(failed);
                    }
                }, e.getKey());
                threads.add(t);
                t.start();
            }
        for (Thread t : threads)
            t.join();
        System.out.println("done");
    }
}
