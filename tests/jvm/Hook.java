/* A program that ends with a shutdown hook: main computes for 100 ms; with an argument "worker" does for 100 ms
 * more when main has ended.  Then the thread "hook" runs. */
public class Hook {
    static void spin(long ms) {
        for (long end = System.nanoTime() + ms * 1_000_000; System.nanoTime() < end;)
            Thread.onSpinWait();
    }

    public static void main(String[] args) {
        Thread main = Thread.currentThread();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> spin(1), "hook"));
        spin(100);
        if (args.length > 0)
            new Thread(() -> {
                while (main.isAlive())
                    Thread.onSpinWait();
                spin(100);
            }, "worker").start();
    }
}
