/* A program that ends in an unusual way: Ends HOW [ARGUMENT]
 *
 * First "ends-blocked" contends once with main, on an Ends$Lock; daemon threads go on contending while the
 * program ends.  "contended" is printed, then:
 *   return · exit N, from main · exit-thread N, from another thread · halt N · throw, uncaught in main ·
 *   throw-thread, uncaught in another thread · oom, OutOfMemoryError uncaught in main · oom-thread, in another
 *   thread, whose end main then waits for · oom-caught, all memory taken, caught, goes on and returns ·
 *   hook N, a shutdown hook that contends, then exit N · die HOW, in native code (ARGUMENT: the library) ·
 *   wait, until a signal comes */
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

public class Ends {
    static final class Lock { }
    static final class Noise { }
    static final Lock LOCK = new Lock();
    static final Noise NOISE = new Noise();
    static long passed;

    static void contend(String name) throws Exception {
        CountDownLatch held = new CountDownLatch(1);
        Thread t = Sync.start(name, () -> {
            held.await();
            synchronized (LOCK) {
                passed++;
            }
        });
        synchronized (LOCK) {
            held.countDown();
            Sync.blocked(t);
        }
        t.join();
    }

    static void noise() throws InterruptedException {
        for (;;) {
            synchronized (NOISE) {
                passed++;
                if (passed % 8 == 0)
                    Thread.sleep(0, 1000);
            }
        }
    }

    static void fill() {
        List<long[]> all = new ArrayList<>();
        for (;;)
            all.add(new long[10_000]);
    }

    public static void main(String[] args) throws Exception {
        contend("ends-blocked");
        for (int i = 0; i < 3; i++)
            Sync.daemon("noise-" + i, Ends::noise);
        System.out.println("contended");
        System.out.flush();
        int n = args.length > 1 && args[1].matches("[0-9]+") ? Integer.parseInt(args[1]) : 0;
        switch (args[0]) {
        case "return" -> { }
        case "exit" -> System.exit(n);
        case "exit-thread" -> Sync.start("exits", () -> System.exit(n)).join();
        case "halt" -> Runtime.getRuntime().halt(n);
        case "throw" -> throw new IllegalStateException("as asked");
        case "throw-thread" -> {
            Thread t = new Thread(() -> {
                throw new IllegalStateException("as asked");
            }, "throws");
            t.start();
            t.join();
        }
        case "oom" -> fill();
        case "oom-thread" -> {
            Thread t = new Thread(Ends::fill, "fills");
            t.start();
            t.join();
        }
        case "oom-caught" -> {
            try {
                fill();
            } catch (OutOfMemoryError e) {
                System.out.println("caught");
            }
        }
        case "hook" -> {
            Runtime.getRuntime().addShutdownHook(Sync.thread("hook", () -> contend("hook-blocked")));
            System.exit(n);
        }
        case "die" -> {
            System.load(args[2]);
            NativeThreads.die(args[1]);
        }
        case "wait" -> Thread.sleep(60_000);
        default -> throw new IllegalArgumentException(args[0]);
        }
    }
}
