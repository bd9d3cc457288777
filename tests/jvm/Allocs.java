import java.io.File;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;

/**
 * Allocates known numbers of objects: "Allocs N KIND..." does each kind N times, and prints what it has allocated
 * as "expect CLASS COUNT THREAD PLACE", PLACE the beginning of the innermost frame. Objects that it keeps are
 * printed as "live CLASS COUNT", those that it does not as "dead CLASS COUNT".
 *
 * -Dgo=FILE: wait, with a line "ready", until that file is there; -Dafter=MS: wait behind, with a line "done".
 */
public class Allocs {
    static class Plain { int a; }
    static class Base { long x; Base() { } Base(int i) { this(); x = i; } }
    static class Middle extends Base { Middle() { super(1); } }
    static class Leaf extends Middle { Object o; }
    static class Throws { Throws() { throw new IllegalStateException(); } }
    static class Copied implements Cloneable {
        int v;
        @Override public Copied clone() throws CloneNotSupportedException { return (Copied) super.clone(); }
    }
    static class CopiedToo extends Copied {
        @Override public CopiedToo clone() throws CloneNotSupportedException { return (CopiedToo) super.clone(); }
    }
    static class Reflected { }
    static class Boxes { }
    static class Arg { final Object o; Arg(Object o) { this.o = o; } }

    static volatile Object sink;
    static int n;

    private static void says(String name, long count) {
        says(name, count, "main", "Allocs.");
    }

    private static void says(String name, long count, String thread, String place) {
        System.out.println("expect " + name + " " + count + " " + thread + " " + place);
    }

    static void objects() {
        for (int i = 0; i < n; i++) sink = new Plain();
        says("Allocs$Plain", n);
    }

    static void chains() {
        for (int i = 0; i < n; i++) sink = new Leaf();
        says("Allocs$Leaf", n);
    }

    static void nested() {
        for (int i = 0; i < n; i++) sink = new Arg(new Arg(null));
        says("Allocs$Arg", 2L * n);
    }

    static void throwing() {
        for (int i = 0; i < n; i++)
            try { sink = new Throws(); } catch (IllegalStateException e) { sink = e; }
        says("Allocs$Throws", n);
        says("java.lang.IllegalStateException", n, "main", "Allocs$Throws.<init>");
    }

    static void clones() throws Exception {
        Copied c = new Copied();
        CopiedToo d = new CopiedToo();
        for (int i = 0; i < n; i++) { sink = c.clone(); sink = d.clone(); }
        says("Allocs$Copied", n, "main", "Allocs$Copied.clone");
        says("Allocs$Copied", 1);
        says("Allocs$CopiedToo", n, "main", "Allocs$Copied.clone");
        says("Allocs$CopiedToo", 1);
    }

    static void arrays() {
        for (int i = 0; i < n; i++) {
            sink = new Plain[i % 7];
            sink = new short[i % 5];
            sink = new Plain[2][3];
            sink = new float[3][2][];
        }
        says("Allocs$Plain[]", n + 2L * n);
        says("short[]", n);
        says("Allocs$Plain[][]", n);
        says("float[][]", 3L * n);
        says("float[][][]", n);
    }

    static void arrayClones() {
        Leaf[] a = { null };
        boolean[] b = new boolean[5];
        for (int i = 0; i < n; i++) { sink = a.clone(); sink = b.clone(); }
        says("Allocs$Leaf[]", n + 1L);
        says("boolean[]", n + 1L);
    }

    static void copies() {
        Middle[] a = { null, null };
        Object[] objects = new Base[3];
        double[] d = new double[4];
        for (int i = 0; i < n; i++) {
            sink = Arrays.copyOf(a, 3);
            sink = Arrays.copyOfRange(objects, 1, 2);
            sink = Arrays.copyOf(d, 9);
        }
        says("Allocs$Middle[]", n, "main", "java.util.Arrays.copyOf(");
        says("Allocs$Middle[]", 1);
        says("Allocs$Base[]", n, "main", "java.util.Arrays.copyOfRange(");
        says("Allocs$Base[]", 1);
        says("double[]", n, "main", "java.util.Arrays.copyOf");
        says("double[]", 1);
    }

    static void reflection() throws Exception {
        Constructor<Reflected> c = Reflected.class.getDeclaredConstructor();
        for (int i = 0; i < n; i++) {
            sink = c.newInstance();
            sink = Array.newInstance(Reflected.class, 2);
            sink = Array.newInstance(Boxes.class, 2, 2);
        }
        says("Allocs$Reflected", n, "main", "j");
        says("Allocs$Reflected[]", n, "main", "java.lang.reflect.Array.newInstance");
        says("Allocs$Boxes[]", 2L * n, "main", "java.lang.reflect.Array.newInstance");
        says("Allocs$Boxes[][]", n, "main", "java.lang.reflect.Array.newInstance");
    }

    static Supplier<Object> supplier(Object captured) {
        return () -> captured;
    }

    /** What the JDK makes, too: in a thread that makes nothing else. */
    private static void alone(String name, Runnable r) throws InterruptedException {
        Thread t = new Thread(r, name);
        t.start();
        t.join();
    }

    static void lambdas() throws InterruptedException {
        alone("lambdas", () -> { for (int i = 0; i < n; i++) sink = supplier(sink); });
        says("Allocs$$Lambda", n, "lambdas", "java.lang.invoke.");
    }

    static void strings() {
        char[] text = "some text \u1234".toCharArray();
        for (int i = 0; i < n; i++) sink = new StringBuilder("x");
        says("java.lang.StringBuilder", n);
        for (int i = 0; i < n; i++) sink = new String(text, 0, text.length);
    }

    /** For C2's own concatenation (-XX:+OptimizeStringConcat), which makes the String without its constructor. */
    static void concats() {
        for (int i = 0; i < n; i++) sink = new StringBuilder().append("a").append(i).toString();
        says("java.lang.String", n, "main", "java.lang.StringBuilder.toString");
    }

    static void boxes() throws InterruptedException {
        alone("boxes", () -> { for (int i = 0; i < n; i++) sink = Double.valueOf(i + 0.5); });
        says("java.lang.Double", n, "boxes", "java.lang.Double.valueOf");
    }

    static void threads() throws Exception {
        List<Thread> all = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
            Thread thread = new Thread(() -> { for (int i = 0; i < n; i++) sink = new Boxes(); }, "worker-" + t);
            all.add(thread);
            thread.start();
        }
        for (Thread t : all) t.join();
        for (Thread t : all) says("Allocs$Boxes", n, t.getName(), "Allocs.");
    }

    static void virtual() throws Exception {
        List<Thread> all = new ArrayList<>();
        for (int t = 0; t < 50; t++) {
            Thread v = (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null,
                    (Runnable) () -> { for (int i = 0; i < n / 10; i++) { sink = new Boxes(); if (i % 50 == 0) Thread.yield(); } });
            all.add(v);
        }
        for (Thread t : all) t.join();
        says("Allocs$Boxes", 50L * (n / 10), "*", "Allocs.");
    }

    /** So that the JVM draws anew when to sample next, by the interval of now: until then it is half a MiB. */
    static void warm() {
        for (int i = 0; i < 100; i++) sink = new byte[100_000];
    }

    static void garbage() {
        for (int i = 0; i < n; i++) sink = new byte[100_000];
        sink = null;
    }

    static void collect() {
        sink = null;
        System.gc();
    }

    static Object[] kept;

    static void keep() {
        kept = new Object[n];
        for (int i = 0; i < n; i++) { kept[i] = new Arg(null); sink = new Plain(); }
        System.out.println("live Allocs$Arg " + n);
        System.out.println("dead Allocs$Plain " + n);
        sink = null;
        System.gc();
        System.gc();
    }

    /** More platform threads at the same time than the agent has rows for. */
    static void manyThreads() throws InterruptedException {
        int many = 1100;
        Thread[] threads = new Thread[many];
        java.util.concurrent.CountDownLatch all = new java.util.concurrent.CountDownLatch(many);
        for (int t = 0; t < many; t++) {
            threads[t] = new Thread(null, () -> {
                for (int i = 0; i < n; i++) sink = new Arg(null);
                all.countDown();
                try { all.await(); } catch (InterruptedException e) { throw new IllegalStateException(e); }
                for (int i = 0; i < n; i++) sink = new Arg(null);
            }, "many", 128 << 10);
            threads[t].start();
        }
        for (Thread t : threads)
            t.join();
        says("Allocs$Arg", 2L * n * many, "many", "Allocs.");
    }

    /** More classes than a row has places for: arrays of up to 255 dimensions, each element null or a number. */
    static void manyClasses() {
        Class<?>[] kinds = {boolean.class, byte.class, short.class, char.class, int.class, long.class, float.class,
            double.class, Plain.class, Leaf.class};
        for (int k = 0; k < kinds.length; k++) {
            Class<?> component = kinds[k];
            String name = component.getName();
            for (int d = 1; d <= 255; d++) {
                for (int i = 0; i < 3; i++)
                    sink = Array.newInstance(component, i);
                component = Array.newInstance(component, 0).getClass();
                name += "[]";
                // the JDK has some of few dimensions itself
                if (d % 50 == 0 || d == 255 && k >= 6)
                    says(name, 4, "main", "java.lang.reflect.Array.");
            }
        }
    }

    /** Not in haste: each object may be an event. */
    static void forever() throws InterruptedException {
        for (;;) {
            for (int i = 0; i < 100; i++) sink = new Plain();
            sink = new byte[1 << 20]; // beyond the JVM's next sample, whatever the interval was when it was drawn
            Thread.sleep(20);
            System.out.println("more");
        }
    }

    public static void main(String[] args) throws Exception {
        n = Integer.parseInt(args[0]);
        System.out.println("ready");
        while (System.getProperty("go") != null && !new File(System.getProperty("go")).exists())
            Thread.sleep(10);
        for (int i = 1; i < args.length; i++)
            Allocs.class.getDeclaredMethod(args[i]).invoke(null);
        System.out.println("done");
        Thread.sleep(Long.getLong("after", 0));
    }
}
