/* Threads of which it is known what they do, for the samples: Sampled MILLIS
 *
 * "waiter" is in Object.wait, "parker" parks, "reader" accepts a connection in native code, all without an
 * end; "burner" uses MILLIS of processor time in spin().  Around that the program counts how often the kernel
 * has switched away from the three others, and prints, at its end,
 *     idle NAME SWITCHES       how often that was: 0 when nobody woke them
 *     cpu burner NS            the processor time of the burner, by the JVM's own count
 *     life burner NS           how long it lived */
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;

public class Sampled {
    static final String[] IDLE = {"waiter", "parker", "reader"};
    static final Object never = new Object();
    static volatile long sink;

    static long spin(long seed) {
        for (int i = 0; i < 10_000; i++)
            seed = seed * 1103515245 + 12345 ^ seed >> 7;
        return seed;
    }

    static void burn(ThreadMXBean threads, long nanos) {
        while (threads.getCurrentThreadCpuTime() < nanos)
            for (int i = 0; i < 20; i++)
                sink = spin(sink);
    }

    /* The JVM names the kernel's threads, too, a moment after they began. */
    static Path task(String name) throws Exception {
        for (;; Thread.sleep(5))
            try (DirectoryStream<Path> tasks = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
                for (Path t : tasks)
                    if (Files.readString(t.resolve("comm")).trim().equals(name))
                        return t;
            } catch (IOException e) {
                continue; /* another thread ended during that */
            }
    }

    static long switches(String name) throws Exception {
        long n = 0;
        for (String line : Files.readAllLines(task(name).resolve("status")))
            if (line.contains("ctxt_switches"))
                n += Long.parseLong(line.replaceAll("[^0-9]", ""));
        return n;
    }

    /* Until it sleeps in the kernel, for good. */
    static void asleep(String name) throws Exception {
        for (int quiet = 0; quiet < 20; Thread.sleep(5)) {
            String[] stat = Files.readString(task(name).resolve("stat")).split("\\) ");
            quiet = stat[1].startsWith("S") ? quiet + 1 : 0;
        }
    }

    public static void main(String[] args) throws Exception {
        long nanos = Long.parseLong(args[0]) * 1_000_000;
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        Sync.daemon("waiter", () -> {
            synchronized (never) {
                never.wait();
            }
        });
        Sync.daemon("parker", LockSupport::park);
        Sync.daemon("reader", () -> server.accept());
        long[] before = new long[IDLE.length], cpu = new long[1], life = new long[1];
        for (String name : IDLE)
            asleep(name);
        for (int i = 0; i < IDLE.length; i++)
            before[i] = switches(IDLE[i]);
        Thread burner = Sync.start("burner", () -> {
            long began = System.nanoTime();
            burn(threads, nanos);
            cpu[0] = threads.getCurrentThreadCpuTime();
            life[0] = System.nanoTime() - began;
        });
        burner.join();
        for (int i = 0; i < IDLE.length; i++)
            System.out.println("idle " + IDLE[i] + " " + (switches(IDLE[i]) - before[i]));
        System.out.println("cpu burner " + cpu[0]);
        System.out.println("life burner " + life[0]);
    }
}
