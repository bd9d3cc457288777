import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.util.Scanner;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;

/**
 * A JVM to attach to again and again. Its threads start, sleep, park and are woken so often that the native
 * methods behind these are compiled, and it has classes with constants that are not numbers. On "used" it
 * collects what can be collected and prints "used BYTES" of metaspace; on "constants" it prints how
 * many constants these classes have; on "numbers" it prints what its numbers are.
 */
public class Reattached {
    /** Nothing in it is to be rewritten for any group, but its code looks so (an operand of 0xbc). */
    static class Plain {
        double half = Double.NaN;
        float whole = Float.NaN;

        int sum(int n) {
            return n + 188 * 256 + 189 + (n > 0xbc ? 1 : 0);
        }
    }

    @Retention(RetentionPolicy.RUNTIME)
    @interface Bound {
        double value() default Double.NaN;
        float more() default Float.NaN;
    }

    /** What an annotation names must stay: such a class is longer each time. Loaded when it is asked for. */
    @Bound(more = Float.NaN)
    static class Named {
        double[] next() {
            return new double[] {Double.NaN};
        }
    }

    /** Numbers as fields and in code. */
    static class Locked {
        static final double MISSING = Double.NaN;
        static final float NONE = Float.NaN;
        private final double still = Double.NaN;
        private double mean = Double.NaN;

        synchronized double[] next(float by) {
            mean = by == by ? mean + by : Float.NaN;
            return new double[] {mean, Double.NaN};
        }
    }

    /** How many constants it has now (bytecodes.c). */
    static native int constants(Class<?> of);

    /** The bits of each: what a program has of them. */
    private static String numbers(Locked locked) throws Exception {
        Bound bound = Named.class.getAnnotation(Bound.class);
        double[] made = new Locked().next(1);
        StringBuilder s = new StringBuilder("numbers");
        for (double d : new double[] {Locked.class.getDeclaredField("MISSING").getDouble(null), locked.still, locked.mean,
                made[0], made[1], new Named().next()[0], bound.value(), Bound.class.getMethod("value").getDefaultValue() instanceof Double b ? b : 0})
            s.append(' ').append(Long.toHexString(Double.doubleToRawLongBits(d)));
        for (float f : new float[] {Locked.class.getDeclaredField("NONE").getFloat(null), bound.more(), new Plain().whole})
            s.append(' ').append(Integer.toHexString(Float.floatToRawIntBits(f)));
        return s.toString();
    }

    interface Step {
        void run() throws Exception;
    }

    private static void repeat(Step step) {
        Thread t = new Thread(() -> {
            try {
                for (;;)
                    step.run();
            } catch (Exception e) {
                e.printStackTrace();
            }
        });
        t.setDaemon(true);
        t.start();
    }

    private static long used() {
        for (int i = 0; i < 4; i++)
            System.gc();
        for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans())
            if (pool.getName().equals("Metaspace"))
                return pool.getUsage().getUsed();
        return -1;
    }

    public static void main(String[] args) throws Exception {
        if (args.length > 0)
            System.load(args[0]);
        Semaphore one = new Semaphore(1);
        Locked locked = new Locked();
        Plain plain = new Plain();
        repeat(() -> Thread.sleep(1));
        repeat(() -> LockSupport.parkNanos(500_000));
        for (int i = 0; i < 2; i++)
            repeat(() -> {
                one.acquire();
                Thread.sleep(0, 100_000);
                one.release();
            });
        repeat(() -> {
            Thread t = new Thread(() -> locked.next(plain.sum(1)));
            t.start();
            t.join();
            Thread.sleep(0, 500_000);
        });
        System.out.println("ready");
        Scanner in = new Scanner(System.in);
        for (String word; in.hasNextLine() && !(word = in.nextLine()).equals("end");)
            System.out.println(word.equals("used") ? "used " + used()
                    : word.equals("constants") ? "constants " + constants(Locked.class) + " " + constants(Plain.class)
                    : numbers(locked));
    }
}
