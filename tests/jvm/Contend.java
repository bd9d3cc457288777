/* Two threads block on one lock for at least 90 ms each time; prints "done" and ends as asked:
 *   Contend [return | exit N | halt N | throw | hang | child JAVA]
 * hang: prints "ready" once the threads have contended, then waits for a signal.
 * child: starts a second JVM of this class, waits for it, returns. */
import java.util.concurrent.CountDownLatch;

public class Contend {
    static final Object LOCK = new Object();

    static void contend() throws Exception {
        CountDownLatch held = new CountDownLatch(1);
        Thread holder = new Thread(() -> {
            synchronized (LOCK) {
                held.countDown();
                pause(100);
            }
        }, "holder");
        Thread blocked = new Thread(() -> {
            synchronized (LOCK) {
                pause(1);
            }
        }, "blocked");
        holder.start();
        held.await();
        blocked.start();
        holder.join();
        blocked.join();
    }

    static void pause(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        contend();
        String how = args.length > 0 ? args[0] : "return";
        System.out.println(how.equals("hang") ? "ready" : "done");
        switch (how) {
        case "exit" -> System.exit(Integer.parseInt(args[1]));
        case "halt" -> Runtime.getRuntime().halt(Integer.parseInt(args[1]));
        case "throw" -> throw new IllegalStateException("as asked");
        case "hang" -> Thread.sleep(60_000);
        case "child" -> new ProcessBuilder(args[1], "-cp", System.getProperty("java.class.path"), "Contend")
                .inheritIO().start().waitFor();
        default -> { }
        }
    }
}
