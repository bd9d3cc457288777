/* Pauses CLASSES THREADS: what a program sees of orca attach.
 *
 * Loads that many classes, starts THREADS that contend on a monitor now and then, prints "ready", and looks
 * at the clock all the time.  For each line on its standard input prints the longest time, in ms, that it
 * could not look since the line before: a safepoint, or another process on its processor. */
import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.invoke.MethodHandles;

public class Pauses {
    static volatile long longest;
    static volatile boolean reset;
    static final Object lock = new Object();
    static long n;

    static final class Filler {
        int a, b;

        synchronized int sum(int c) {
            return a + b + c;
        }

        static int twice(int d) {
            return 2 * d;
        }
    }

    static void watch() {
        long max = 0, before = System.nanoTime();
        for (;;) {
            long now = System.nanoTime();
            if (reset) {
                reset = false;
                max = 0;
            } else if (now - before > max) {
                longest = max = now - before;
            }
            before = now;
        }
    }

    static void contend() {
        for (;;)
            try {
                synchronized (lock) {
                    n++;
                }
                Thread.sleep(5);
            } catch (InterruptedException e) {
                return;
            }
    }

    static void daemon(Runnable r) {
        Thread t = new Thread(r);
        t.setDaemon(true);
        t.start();
    }

    public static void main(String[] args) throws Exception {
        byte[] filler;
        try (InputStream in = Pauses.class.getResourceAsStream("Pauses$Filler.class")) {
            filler = in.readAllBytes();
        }
        Class<?>[] kept = new Class<?>[Integer.parseInt(args[0])];
        for (int i = 0; i < kept.length; i++)
            kept[i] = MethodHandles.lookup()
                    .defineHiddenClass(filler, false, MethodHandles.Lookup.ClassOption.STRONG).lookupClass();
        for (int i = Integer.parseInt(args[1]); i > 0; i--)
            daemon(Pauses::contend);
        daemon(Pauses::watch);
        Thread.sleep(500);
        System.out.println("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        while (in.readLine() != null) {
            System.out.printf(java.util.Locale.ROOT, "%.3f%n", longest / 1e6);
            reset = true;
            longest = 0;
        }
        System.out.println(kept.length + n);
    }
}
