import java.lang.reflect.Method;

/**
 * Starts virtual threads, and joins each; counts the joins, also those of threads that are still there: "joins N".
 *
 * <pre>java Joined BATCHES EACH</pre>
 */
public final class Joined {
    private static volatile int sink;
    private static volatile boolean go;

    private Joined() { }

    private static void spin() {
        while (!go)
            Thread.onSpinWait();
    }

    private static int joinAll(Thread[] all) throws InterruptedException {
        for (Thread t : all)
            t.join();
        return all.length;
    }

    public static void main(String[] args) throws Exception {
        Method start = Thread.class.getMethod("startVirtualThread", Runnable.class); // compiled for 17, too
        int batches = Integer.parseInt(args[0]), each = Integer.parseInt(args[1]), joins = 0;
        Runnable task = () -> sink++;
        for (int n = 0; n < batches; n++) {
            Thread[] all = new Thread[each];
            for (int i = 0; i < each; i++)
                all[i] = (Thread) start.invoke(null, task);
            for (Thread t : all)
                while (t.getState() != Thread.State.TERMINATED)
                    Thread.onSpinWait();
            joins += joinAll(all);
            go = false;
            Thread late = (Thread) start.invoke(null, (Runnable) Joined::spin);
            Thread ender = new Thread(() -> go = true);
            ender.start();
            late.join();
            ender.join();
            joins += 2;
        }
        System.out.println("joins " + joins);
    }
}
