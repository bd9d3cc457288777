/* Threads with scripted states, for the group sched: Scheduled MILLIS
 *
 * "burner" computes for MILLIS of its own processor time, "burner-2" likewise at the same time (pinned to one
 * processor with it, one of them is ready while the other one runs), "sleeper" sleeps MILLIS in a native wait,
 * "reader" reads from a pipe that nobody writes to for MILLIS (in the kernel, in no wait that the JVM knows),
 * "switcher" and "partner" hand a token over 20000 times by park and unpark, "virtual" computes on a carrier.
 * Each but the virtual one prints, when it is done, what the kernel has counted for it between two looks, in ns, and
 * the times by System.nanoTime just inside of the two looks, and around them (to look takes long on a busy machine):
 *     task NAME RAN READY TURNS BEGAN ENDED BEFORE AFTER
 * and at the end the time that the hypervisor took away, to a tick of 10 ms:
 *     stolen NS
 */
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

public class Scheduled {
    static volatile long sink;
    static CountDownLatch go = new CountDownLatch(1);
    static volatile int turn;
    static Thread switcher, partner;

    static void burn(long nanos) throws Exception {
        while (ran() < nanos)
            for (int i = 0; i < 100; i++)
                sink = Sampled.spin(sink);
    }

    static Path self() throws Exception {
        return Path.of("/proc").resolve(Files.readSymbolicLink(Path.of("/proc/thread-self")));
    }

    static long[] counters() throws Exception {
        String[] words = Files.readString(self().resolve("schedstat")).trim().split(" ");
        return new long[] {Long.parseLong(words[0]), Long.parseLong(words[1]), Long.parseLong(words[2])};
    }

    static long ran() throws Exception {
        return counters()[0];
    }

    static long stolen() throws Exception {
        return Long.parseLong(Files.readAllLines(Path.of("/proc/stat")).get(0).trim().split(" +")[8]) * 10_000_000;
    }

    /* The script, between two looks at the kernel's counters; "go" lets nobody begin before all are there. */
    static Thread start(String name, Sync.Body body) {
        return Sync.start(name, () -> {
            counters(); /* its classes are loaded from here on */
            go.await();
            Thread.sleep(1); /* of a thread that runs the counters have what was at its last tick or switch */
            long before = System.nanoTime();
            long[] first = counters();
            long began = System.nanoTime();
            body.run();
            long ended = System.nanoTime();
            long[] c = counters();
            long after = System.nanoTime();
            for (int i = 0; i < c.length; i++)
                c[i] -= first[i];
            System.out.println("task " + name + " " + c[0] + " " + c[1] + " " + c[2] + " " + began + " " + ended +
                " " + before + " " + after);
        });
    }

    static void hand(int mine, int rounds) {
        for (int i = 0; i < rounds; i++) {
            while (turn != mine)
                LockSupport.park();
            turn = 1 - mine;
            LockSupport.unpark(mine == 0 ? partner : switcher);
        }
    }

    public static void main(String[] args) throws Exception {
        long millis = Long.parseLong(args[0]), nanos = millis * 1_000_000;
        Path pipe = Path.of(args[1]);
        long stolen = stolen();
        Thread writer = start("writer", () -> {
            try (FileOutputStream out = new FileOutputStream(pipe.toFile())) {
                Thread.sleep(millis);
                out.write(1);
            }
        });
        Thread[] all = {writer, start("reader", () -> {
                            try (FileInputStream in = new FileInputStream(pipe.toFile())) {
                                in.read();
                            }
                        }),
            start("sleeper", () -> Thread.sleep(millis)), start("burner", () -> burn(nanos)),
            start("burner-2", () -> burn(nanos))};
        go.countDown();
        for (Thread t : all)
            t.join();
        go = new CountDownLatch(1);
        switcher = start("switcher", () -> hand(0, 20_000));
        partner = start("partner", () -> hand(1, 20_000));
        go.countDown();
        switcher.join();
        partner.join();
        System.out.println("stolen " + (stolen() - stolen));
    }
}
