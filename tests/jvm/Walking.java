import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Stacks of many shapes, for the walker: Walking MILLISECONDS [part ...]. Each part runs in a thread of its own. */
public class Walking {
    static volatile boolean stop;
    static volatile long sink;
    static final Object lock = new Object();

    interface Shape {
        int area(int depth);
    }

    static final class Square implements Shape {
        public int area(int depth) { return depth <= 0 ? work(3) : shapes[depth % 3].area(depth - 1) + 1; }
    }

    static final class Circle implements Shape {
        public int area(int depth) { return depth <= 0 ? work(5) : helper(depth); }
        int helper(int depth) { return shapes[depth % 3].area(depth - 1) + depth; }
    }

    static class Round extends Thread implements Shape {
        public synchronized int area(int depth) { return depth <= 0 ? work(7) : shapes[depth % 3].area(depth - 1); }
    }

    static final Shape[] shapes = {new Square(), new Circle(), new Round()};

    static int work(int n) {
        int[] a = new int[n + 5];
        for (int i = 0; i < a.length; i++)
            a[i] = i * n;
        return Arrays.hashCode(a);
    }

    static void recursion() { sink += shapes[0].area(10 + ThreadLocalRandom.current().nextInt(60)); }

    static int deep(int n, Object o) { return n == 0 ? o.hashCode() : deep(n - 1, o) + 1; }

    static void deepRecursion() { sink += deep(ThreadLocalRandom.current().nextInt(400), "deep" + sink); }

    static void streams() {
        sink += IntStream.range(0, 50).boxed().map(i -> i * 3).filter(i -> i % 2 == 0)
            .collect(Collectors.toMap(i -> "k" + i, i -> new int[] {i})).values().stream()
            .mapToInt(a -> a[0]).sum();
    }

    static void maps() {
        Map<String, List<Integer>> m = new HashMap<>();
        for (int i = 0; i < 200; i++)
            m.computeIfAbsent("key" + i % 17, k -> new ArrayList<>()).add(i);
        List<String> keys = new ArrayList<>(m.keySet());
        keys.sort((a, b) -> b.compareTo(a));
        sink += keys.get(0).length();
    }

    static final MethodHandle handle, virtual;

    static {
        try {
            MethodHandles.Lookup l = MethodHandles.lookup();
            handle = MethodHandles.insertArguments(
                l.findStatic(Walking.class, "target", MethodType.methodType(int.class, int.class, Object.class)), 1, "x");
            virtual = l.findVirtual(Shape.class, "area", MethodType.methodType(int.class, int.class));
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    static int target(int n, Object o) { return n == 0 ? work(o.hashCode() & 7) : call(n - 1); }

    static int call(int n) {
        try {
            return (int) handle.invokeExact(n) + (int) virtual.invoke(shapes[n % 3], n % 4);
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
    }

    static void handles() { sink += call(6); }

    static void reflection() {
        try {
            sink += (int) Walking.class.getDeclaredMethod("target", int.class, Object.class).invoke(null, 2, "y");
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    static void exceptions() {
        try {
            thrower(ThreadLocalRandom.current().nextInt(9));
        } catch (IllegalStateException e) {
            sink += e.hashCode();
        }
    }

    static void thrower(int n) {
        if (n == 0)
            throw new IllegalStateException("thrown");
        thrower(n - 1);
    }

    static void loop() {
        long x = 1;
        for (int i = 0; i < 300_000; i++)
            x = x * 31 + (i ^ (x >>> 7)) % 11;
        sink += x;
    }

    static void copies() {
        byte[] from = new byte[2000], to = new byte[2000];
        for (int i = 0; i < 300; i++) {
            System.arraycopy(from, i % 7, to, 3, 1000 + i);
            from[i] = to[i + 1];
        }
        sink += Arrays.equals(from, to) ? 1 : 0;
        sink += new String(from).indexOf("abc");
        sink += (long) (Math.sin(sink) * 100 + Math.pow(1.1, 3));
    }

    static void contention() {
        synchronized (lock) {
            sink += work(20);
            try {
                if (ThreadLocalRandom.current().nextInt(50) == 0)
                    lock.wait(1);
                else
                    lock.notify();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    static void natives() throws InterruptedException {
        sink += System.nanoTime() + System.currentTimeMillis() + Runtime.getRuntime().freeMemory();
        sink += lock.getClass().getName().length() + Thread.currentThread().hashCode();
        if (ThreadLocalRandom.current().nextInt(100) == 0)
            Thread.sleep(1);
    }

    static String where = Walking.class.getProtectionDomain().getCodeSource().getLocation().toString();

    /** Classes that come and go. */
    static void unloading() throws Exception {
        for (int i = 0; i < 20; i++) {
            try (URLClassLoader l = new URLClassLoader(new URL[] {new URL(where)}, null)) {
                Class<?> c = l.loadClass("Walking$Disposable");
                ((Runnable) c.getDeclaredConstructor().newInstance()).run();
            }
        }
        if (ThreadLocalRandom.current().nextInt(10) == 0)
            System.gc();
    }

    public static class Disposable implements Runnable {
        int n;
        public void run() {
            for (int i = 0; i < 200; i++)
                step(i % 5);
        }
        void step(int depth) {
            n += depth;
            if (depth > 0)
                step(depth - 1);
        }
    }

    /** Virtual threads that contend, wait, allocate and are unmounted now and then (JDK 21). */
    static void virtual() throws Exception {
        if (Runtime.version().feature() < 21)
            return;
        Class<?> builder = Class.forName("java.lang.Thread$Builder");
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            Object b = Thread.class.getMethod("ofVirtual").invoke(null);
            threads.add((Thread) builder.getMethod("start", Runnable.class).invoke(b, (Runnable) () -> {
                for (int k = 0; k < 20; k++) {
                    contention();
                    recursion();
                    java.util.concurrent.locks.LockSupport.parkNanos(1000);
                    maps();
                }
            }));
        }
        for (Thread t : threads)
            t.join();
    }

    interface Part {
        void run() throws Exception;
    }

    static final Map<String, Part> parts = new java.util.LinkedHashMap<>();

    static {
        parts.put("recursion", Walking::recursion);
        parts.put("deep", Walking::deepRecursion);
        parts.put("streams", Walking::streams);
        parts.put("maps", Walking::maps);
        parts.put("handles", Walking::handles);
        parts.put("reflection", Walking::reflection);
        parts.put("exceptions", Walking::exceptions);
        parts.put("loop", Walking::loop);
        parts.put("copies", Walking::copies);
        parts.put("contention", Walking::contention);
        parts.put("contention2", Walking::contention);
        parts.put("natives", Walking::natives);
        parts.put("unloading", Walking::unloading);
        parts.put("virtual", Walking::virtual);
    }

    static void run(Part p) {
        while (!stop)
            try {
                p.run();
            } catch (Exception e) {
                throw new AssertionError(e);
            }
    }

    public static void main(String[] args) throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (Map.Entry<String, Part> e : parts.entrySet())
            if (args.length == 1 || Arrays.asList(args).contains(e.getKey())) {
                Thread t = new Thread(() -> run(e.getValue()), e.getKey());
                threads.add(t);
                t.start();
            }
        Thread.sleep(Long.parseLong(args[0]));
        stop = true;
        for (Thread t : threads)
            t.join();
        System.out.println("done");
    }
}
