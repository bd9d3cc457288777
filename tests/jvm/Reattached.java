import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.util.Scanner;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;

/**
 * A JVM to attach to again and again. Its threads start, sleep, park and are woken so often that the native
 * methods behind these are compiled, and it has classes with constants that are not numbers. Told "used" it
 * collects what can be collected and prints "used BYTES" of metaspace.
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

    static class Locked {
        private double mean = Double.NaN;

        synchronized double[] next(float by) {
            mean = by == by ? mean + by : Float.NaN;
            return new double[] {mean, Double.NaN};
        }
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

    public static void main(String[] args) {
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
        while (in.hasNextLine())
            if (in.nextLine().equals("used"))
                System.out.println("used " + used());
            else
                return;
    }
}
