/* A thread of the program waits without a time limit, the JVM is ended while it does: Exiting HOW.
 *
 * exit, halt      by main, after 50 ms
 * hook            by main, with a hook of the program
 * daemon          by a daemon, while main has ended
 * virtual         by a virtual thread, while main joins it (JDK 21)
 * signal          by whoever sends one: main waits without a time limit, too; prints "ready" */
import java.util.concurrent.CountDownLatch;

public class Exiting {
    static void busy() {
        for (long begin = System.nanoTime(); System.nanoTime() - begin < 50_000_000;)
            Thread.onSpinWait();
    }

    static void exit() {
        busy();
        System.exit(0);
    }

    public static void main(String[] args) throws Exception {
        Thread worker = Sync.start("worker", () -> {
            Object o = new Object();
            synchronized (o) {
                o.wait();
            }
        });
        while (worker.getState() != Thread.State.WAITING)
            Thread.yield();
        switch (args[0]) {
        case "exit" -> exit();
        case "halt" -> {
            busy();
            Runtime.getRuntime().halt(0);
        }
        case "hook" -> {
            Runtime.getRuntime().addShutdownHook(Sync.thread("hook", () -> System.out.println("hooked")));
            exit();
        }
        case "daemon" -> Sync.daemon("ender", Exiting::exit);
        case "virtual" -> {
            Thread ender = Sync.virtual("ender", Exiting::exit);
            ender.start();
            ender.join();
        }
        case "signal" -> {
            System.out.println("ready");
            new CountDownLatch(1).await();
        }
        default -> throw new IllegalArgumentException(args[0]);
        }
    }
}
