/**
 * What it costs a program that hands work from thread to thread to have its switches recorded.
 *
 * <pre>java SwitchCost RATE SECONDS</pre>
 *
 * <p>Two threads hand a token over by park and unpark, RATE times a second (0: as fast as they can), each
 * hand-off one switch away from a processor and one back; between two, a thread computes for the rest of
 * its turn's time where there is a rate. Prints "handoffs N switches N cpu N": a second of what is measured,
 * hand-offs, switches of all threads by the kernel's count, and milliseconds of processor time of the
 * whole process, the recorder's own threads included.
 */
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;

public final class SwitchCost {
    private static final Thread[] BOTH = new Thread[2];
    private static volatile int turn;
    private static volatile boolean stop;
    private static volatile long handoffs;

    private static void hand(int mine, long nsPerTurn) {
        long next = System.nanoTime();
        while (!stop) {
            while (turn != mine && !stop)
                LockSupport.park();
            next = Math.max(next + 2 * nsPerTurn, System.nanoTime());
            handoffs++; // only whoever has the turn
            while (nsPerTurn > 0 && System.nanoTime() < next - nsPerTurn)
                Thread.onSpinWait();
            turn = 1 - mine;
            LockSupport.unpark(BOTH[1 - mine]);
        }
        LockSupport.unpark(BOTH[1 - mine]);
    }

    /** Processor time of the process, ns, and switches of its threads. */
    private static long[] counters() throws Exception {
        long ran = 0;
        long turns = 0;
        try (DirectoryStream<Path> tasks = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
            for (Path task : tasks) {
                String[] words = Files.readString(task.resolve("schedstat")).trim().split(" ");
                ran += Long.parseLong(words[0]);
                turns += Long.parseLong(words[2]);
            }
        }
        return new long[] {ran, turns, handoffs, System.nanoTime()};
    }

    public static void main(String[] args) throws Exception {
        int rate = Integer.parseInt(args[0]);
        long ms = (long) (Double.parseDouble(args[1]) * 1000);
        for (int i = 0; i < BOTH.length; i++) {
            int mine = i;
            BOTH[i] = new Thread(() -> hand(mine, rate > 0 ? 1_000_000_000L / rate : 0), "hand-" + i);
        }
        for (Thread t : BOTH)
            t.start();
        Thread.sleep(1000); // until it is compiled
        long[] before = counters();
        Thread.sleep(ms);
        long[] after = counters();
        stop = true;
        for (Thread t : BOTH)
            LockSupport.unpark(t);
        double seconds = (after[3] - before[3]) / 1e9;
        System.out.printf("handoffs %.0f switches %.0f cpu %.2f%n", (after[2] - before[2]) / seconds,
            (after[1] - before[1]) / seconds, (after[0] - before[0]) / 1e6 / seconds);
    }
}
