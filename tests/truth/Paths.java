/* Threads that spend nearly all of their time in one known method: Paths [MILLIS]
 *
 * Calls all paths until they are compiled, prints "ready", and reads a line.  Then each path runs in a thread of its own name, one
 * after the other: a number of calls that takes about MILLIS (100) of processor time.  For each path the program prints
 *     leaf NAME METHOD...    the methods that a sample in that thread may have innermost; * is anything
 * and "//!" ends the lines of this file that such a sample may be at.  A method of the JDK may be at any line.
 *
 * Where the JVM replaces a call by instructions or a routine of its own (System.arraycopy, Math.sin), there is a frame of the caller, at
 * the line of the call, or of the replaced method where that was called after all: both are right.
 *
 * A call of a path takes some 50 us, so what calls it has less than one sample in a thousand. */
import java.io.InputStream;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

public class Paths {
    static final int SIZE = 16_000;
    static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();
    static volatile long sink;

    interface Path {
        /** n: SIZE, or less of the same. */
        long run(int n) throws Throwable;
    }

    /* --- leaves --------------------------------------------------------------------------------- */

    /** Nothing calls this directly, so it is not inlined. */
    static final class Plain implements Path {
        @Override public long run(int n) {
            long x = n;
            for (int i = 0; i < n; i++) //!
                x = x * 31 + (x >>> 7) + i; //!
            return x;
        }
    }

    static long loop(long a, int n) {
        long x = a;
        for (int i = 0; i < n; i++) //!
            x = x * 31 + (x >>> 7) + i; //!
        return x;
    }

    static long loop1(long x, int n) { return loop(x, n); }
    static long loop2(long x, int n) { return loop1(x, n); }

    /** Each division waits for the one before, and takes longer than all that its callers do; what is behind the last, too. */
    static long divide(long a, long by) {
        long x = a;
        x = (x ^ 0x5DEECE66DL) / by + (x << 5); //!
        x = (x ^ 0x5DEECE66DL) / by + (x << 4); //!
        x = (x ^ 0x5DEECE66DL) / by + (x << 3); //!
        x = (x ^ 0x5DEECE66DL) / by + (x << 6); //!
        x = (x ^ 0x5DEECE66DL) / by + (x << 2); //!
        x = (x ^ 0x5DEECE66DL) / by + (x << 1); //!
        x = (x ^ 0x5DEECE66DL) / by + (x << 7); //!
        x = (x ^ 0x5DEECE66DL) / by + (x << 8); //!
        x = x * 31 ^ x >>> 7; //!
        return x * 33 ^ x >>> 9; //!
    }

    static long in1(long x, long y) { return divide(x, y); }
    static long in2(long x, long y) { return in1(x, y); }
    static long in3(long x, long y) { return in2(x, y); }
    static long in4(long x, long y) { return in3(x, y); }
    static long in5(long x, long y) { return in4(x, y); }

    interface Shape {
        long area(long a, int n);
    }

    static final class Square implements Shape {
        @Override public long area(long a, int n) {
            long x = a;
            for (int i = 0; i < n; i++) //!
                x = x * 33 + (x >>> 7) + i; //!
            return x;
        }
    }

    /** Only hidden copies of this are used. */
    static final class Template implements Shape {
        @Override public long area(long a, int n) {
            long x = a;
            for (int i = 0; i < n; i++) //!
                x = x * 37 + (x >>> 7) + i; //!
            return x;
        }
    }

    static Shape hidden() throws Exception {
        try (InputStream in = Paths.class.getResourceAsStream("Paths$Template.class")) {
            Class<?> c = MethodHandles.lookup().defineHiddenClass(in.readAllBytes(), true).lookupClass();
            return (Shape) c.getDeclaredConstructor().newInstance();
        }
    }

    static MethodHandle handle(String method) {
        try {
            return MethodHandles.lookup().findStatic(Paths.class, method, MethodType.methodType(long.class, long.class, int.class));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    static synchronized long locked(long a, int n) {
        long x = a;
        for (int i = 0; i < n; i++) //!
            x = x * 41 + (x >>> 7) + i; //!
        return x;
    }

    static long create(int frames, int n) {
        long x = frames;
        if (frames > 0)
            return create(frames - 1, n) + 1;
        for (int i = 0; i < n / 400; i++)
            x += new IllegalStateException().hashCode();
        return x;
    }

    static final RuntimeException THROWN = new RuntimeException("one for all", null, false, false) { };

    static long raise(int frames) {
        if (frames == 0) //!
            throw THROWN; //!
        return raise(frames - 1) + 1; //!
    }

    static int fibonacci(int n) {
        return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); //!
    }

    static long sum(int times, long... all) {
        long x = times;
        for (long a : all) //!
            for (int i = 0; i < times; i++) //!
                x = x * 31 + (x >>> 7) + a; //!
        return x;
    }

    static final class Boxes {
        final TreeMap<Integer, Long> all = new TreeMap<>();

        void put(int key, long value) {
            all.put(key, value);
        }
    }

    static long steps;

    static final class Late {
        static final long VALUE;
        static {
            long x = 1;
            for (long i = 0, n = steps; i < n; i++) //!
                x = x * 31 + (x >>> 7) + i; //!
            VALUE = x;
        }
    }

    /* --- paths ---------------------------------------------------------------------------------- */

    static final Map<String, Path> paths = new LinkedHashMap<>();

    static void path(String name, String leaves, Path path) {
        paths.put(name, path);
        System.out.println("leaf " + name + " " + leaves);
    }

    static final MethodHandle HANDLE = handle("loop");
    static final Object lock = new Object();
    static int next;

    static void simplePaths() {
        path("plain", "Paths$Plain.run", new Plain());
        path("loop-1", "Paths.loop", n -> loop(n, n));
        path("loop-3", "Paths.loop", n -> loop2(n, n / 2) + loop2(n, n / 2));
        path("nested-2", "Paths.divide", n -> {
            long x = n;
            for (int i = 0; i < n / 60; i++)
                x = in1(x, 7 + (i & 1));
            return x;
        });
        path("nested-6", "Paths.divide", n -> {
            long x = n;
            for (int i = 0; i < n / 60; i++)
                x = in5(x, 7 + (i & 1));
            return x;
        });
        path("varargs", "Paths.sum", n -> {
            long x = n;
            for (int i = 0; i < n / 800; i++)
                x += sum(200, x, i, n, x + 1);
            return x;
        });
        path("recursion", "Paths.fibonacci", n -> fibonacci(n < SIZE ? 11 : 19));
        path("switch", "Paths.lambda$simplePaths$*", n -> {
            long x = n;
            for (int i = 0; i < n / 4; i++) //!
                switch ((int) (x >>> 3) & 7) { //!
                    case 0: x = x * 31 + i; break; //!
                    case 1: x = x * 33 - i; break; //!
                    case 2: x = (x ^ i) * 35; break; //!
                    case 3: x = (x >>> 7) + 37L * i; break; //!
                    default: x = x * 43 + (x >>> 5); //!
                }
            return x;
        });
        path("synchronized-block", "Paths.lambda$simplePaths$*", n -> {
            long x = n;
            for (int i = 0; i < n / 8; i++) //!
                synchronized (lock) { //!
                    x = x * 31 + (x >>> 7) + i; //!
                } //!
            return x;
        });
    }

    static void calledPaths() throws Exception {
        Shape square = new Square(), hidden = hidden();
        Shape[] two = {square, hidden}, four = {square, hidden, hidden(), hidden()};
        MethodHandle[] handles = {handle("loop"), handle("locked")};
        path("synchronized-method", "Paths.locked", n -> locked(n, n));
        path("monomorphic", "Paths$Square.area", n -> square.area(n, n));
        path("hidden", "Paths$Template*.area", n -> hidden.area(n, n));
        path("bimorphic", "Paths$Square.area Paths$Template*.area", n -> two[next++ & 1].area(n, n));
        path("megamorphic", "Paths$Square.area Paths$Template*.area", n -> four[next++ & 3].area(n, n));
        path("handle", "Paths.loop", n -> (long) HANDLE.invokeExact((long) n, n));
        path("handle-in-array", "Paths.loop Paths.locked", n -> (long) handles[next++ & 1].invokeExact((long) n, n));
        Shape lambda = (a, n) -> {
            long x = a;
            for (int i = 0; i < n; i++) //!
                x = x * 43 + (x >>> 7) + i; //!
            return x;
        };
        path("lambda", "Paths.lambda$calledPaths$*", n -> lambda.area(n, n));
    }

    static void pathsIntoTheJdk() {
        long[] from = new long[SIZE], to = new long[SIZE];
        byte[] bytes = new byte[SIZE];
        String text = "ab".repeat(SIZE / 4);
        String[] texts = {"ab".repeat(SIZE), "ab".repeat(SIZE), "ab".repeat(SIZE)};
        String here = "Paths.lambda$pathsIntoTheJdk$* ";
        path("created", "java.lang.Throwable.* java.lang.*Exception.<init>", n -> create(200, n));
        path("thrown", here + "Paths.raise", n -> {
            long x = 0;
            for (int i = 0; i < n / 1600; i++) //!
                try {
                    x += raise(20); //!
                } catch (RuntimeException e) { //!
                    x++; //!
                }
            return x;
        });
        path("array-copy", here + "java.lang.System.arraycopy", n -> {
            for (int i = 0; i < 20; i++) //!
                System.arraycopy(from, i, to, 1, n / 2); //!
            return to[n / 2];
        });
        path("string-equals", "java.lang.String.equals java.lang.StringLatin1.equals", n -> {
            long x = n;
            for (int i = 0; i < n / 500; i++)
                x += texts[i % 3].equals(texts[(i + 1) % 3]) ? i : 1;
            return x;
        });
        path("hash", "java.util.Arrays.hashCode jdk.internal.util.ArraysSupport.*", n -> {
            long x = n;
            for (int i = 0; i < n / 1600; i++) {
                bytes[i] = (byte) x;
                x += Arrays.hashCode(bytes);
            }
            return x;
        });
        path("sine", here + "java.lang.Math.* java.lang.StrictMath.* java.lang.FdLibm*", n -> {
            double x = n;
            for (int i = 0; i < n / 8; i++) //!
                x = Math.sin(x + i); //!
            return (long) (x * n);
        });
        /* C2 inlines the boxing late, and gives its place to all that it makes after that. */
        Boxes boxes = new Boxes();
        path("boxed", here + "java.lang.Math.* java.lang.StrictMath.* java.lang.FdLibm*", n -> {
            double x = 0;
            for (int i = 0; i < 20; i++) {
                for (int k = 1; k < n / 160; k++) //!
                    x += Math.pow(k, 0.37) * Math.cos(k + i); //!
                boxes.put(i, (long) x);
            }
            return (long) x;
        });
        path("concat", here + "java.lang.String* java.lang.System.arraycopy java.lang.Long.* java.lang.invoke.* jdk.internal.*", n -> {
            long x = n;
            for (int i = 0; i < n / 1000; i++) //!
                x += (text + x + text).length(); //!
            return x;
        });
        path("initialiser", "Paths$Late.<clinit>", n -> n < SIZE ? n : Late.VALUE);
    }

    /* --- running -------------------------------------------------------------------------------- */

    static void call(Path p, long times, int n) throws Throwable {
        for (long i = 0; i < times; i++)
            sink = p.run(n);
    }

    /** While it runs, and again when the other paths have shown that there are several. */
    static void compile() throws Throwable {
        for (int round = 0; round < 3; round++)
            for (Path p : paths.values())
                for (int i = 0; i < 100; i++)
                    call(p, 20, SIZE / 10);
    }

    static long callsIn(long nanos, Path p) throws Throwable {
        call(p, 20, SIZE);
        long tried = 20, began = CLOCK.getCurrentThreadCpuTime();
        call(p, tried, SIZE);
        return nanos * tried / (CLOCK.getCurrentThreadCpuTime() - began);
    }

    static Sync.Body body(Path p, long calls) {
        return () -> {
            try {
                call(p, calls, SIZE);
            } catch (Throwable e) {
                throw new IllegalStateException(e);
            }
        };
    }

    public static void main(String[] args) throws Throwable {
        long nanos = 1_000_000 * (args.length > 0 ? Long.parseLong(args[0]) : 100);
        Map<String, Thread> threads = new LinkedHashMap<>();
        simplePaths();
        calledPaths();
        pathsIntoTheJdk();
        Path late = paths.remove("initialiser"), plain = paths.get("plain");
        compile();
        for (Map.Entry<String, Path> p : paths.entrySet())
            threads.put(p.getKey(), Sync.thread(p.getKey(), body(p.getValue(), callsIn(nanos, p.getValue()))));
        threads.put("initialiser", Sync.thread("initialiser", body(late, 1)));
        steps = callsIn(nanos, plain) * SIZE;
        if (Runtime.version().feature() >= 21)
            threads.put("virtual", Sync.virtual("virtual", body(plain, callsIn(nanos, plain))));
        System.out.println("leaf virtual Paths$Plain.run\nready");
        System.in.read();
        for (Thread t : threads.values()) {
            t.start();
            t.join();
        }
        System.out.println("done");
    }
}
