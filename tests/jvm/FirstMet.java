import java.lang.reflect.Field;

/**
 * A virtual thread meets a class first while a thread holds the lock that ClassValue needs for that; another one
 * allocates 1000 objects on the same carrier, if it is free in that time, and after it. Run with one carrier, and
 * with java.lang open. Prints what it has allocated, as Allocs does.
 */
public class FirstMet {
    static class First { }
    static class Boxes { }

    static volatile Object sink;

    static Thread virtual(Runnable task) throws Exception {
        return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
    }

    static void boxes(int n) {
        for (int i = 0; i < n; i++) {
            sink = new Boxes();
            if (i % 50 == 0) Thread.yield();
        }
    }

    public static void main(String[] args) throws Exception {
        Field of = ClassValue.class.getDeclaredField("CRITICAL_SECTION");
        of.setAccessible(true);
        for (int i = 0; i < 3; i++) virtual(() -> boxes(1)).join(); // all other classes are met
        Thread first, other;
        synchronized (of.get(null)) {
            first = virtual(() -> sink = new First());
            while (first.getState() != Thread.State.BLOCKED) Thread.sleep(1);
            other = virtual(() -> boxes(1000));
            other.join(500); // it ends, or waits for the carrier
        }
        first.join();
        other.join();
        System.out.println("expect FirstMet$First 1 * FirstMet.");
        System.out.println("expect FirstMet$Boxes 1003 * FirstMet.");
        System.out.println("done");
    }
}
