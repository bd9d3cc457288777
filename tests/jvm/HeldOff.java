/* The owner of a lock is kept from running while another thread waits for the lock: HeldOff ready | fault FILE
 *
 * "owner" takes the lock, waits until "waiter" is blocked on it, and then, in hold(): "ready" computes for 150 ms of its
 * processor time, while three "rival" threads compute, too (all of them pinned to one processor); "fault" reads FILE, mapped,
 * a byte of each quarter MiB of a third, in no order, so that the kernel reads little ahead.  Three rounds.  "faults N": the page faults of the process that had to read, in hold(). */
import java.lang.management.ManagementFactory;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

public class HeldOff {
    static final Object lock = new Object();
    static final int ROUNDS = 3;
    static final int STRIDE = 256 << 10;
    static volatile boolean over;
    static volatile long sink;

    interface Work {
        void run(int round) throws Exception;
    }

    static void hold(Work work, Thread waiter, int round) throws Exception {
        synchronized (lock) {
            waiter.start(); /* else it may come first */
            Sync.state(Thread.State.BLOCKED, waiter);
            work.run(round);
        }
    }

    static void compute(int round) {
        var mx = ManagementFactory.getThreadMXBean();
        for (long end = mx.getCurrentThreadCpuTime() + 150_000_000; mx.getCurrentThreadCpuTime() < end;)
            sink = Sampled.spin(sink);
    }

    static void read(MappedByteBuffer map, int round) {
        int all = map.capacity() / STRIDE, part = all / ROUNDS;
        for (int i = part * round; i < part * (round + 1); i++)
            sink += map.get(i * 157 % all * STRIDE); /* a prime: each once */
    }

    /* Field 12 of stat, majflt; behind the name, which may have spaces. */
    static long faults() throws Exception {
        String stat = Files.readString(Path.of("/proc/self/stat"));
        return Long.parseLong(stat.substring(stat.lastIndexOf(')') + 2).split(" ")[9]);
    }

    static void rounds(Work work) throws Exception {
        for (int i = 0; i < ROUNDS; i++) {
            Thread waiter = new Thread(() -> {
                synchronized (lock) {
                    sink++;
                }
            }, "waiter");
            hold(work, waiter, i);
            waiter.join();
        }
    }

    public static void main(String[] args) throws Exception {
        if (args[0].equals("ready"))
            for (int i = 0; i < 3; i++)
                Sync.start("rival-" + i, () -> {
                    while (!over)
                        sink = Sampled.spin(sink);
                });
        MappedByteBuffer map = null;
        if (args[0].equals("fault"))
            try (FileChannel file = FileChannel.open(Path.of(args[1]), StandardOpenOption.READ)) {
                map = file.map(FileChannel.MapMode.READ_ONLY, 0, file.size());
            }
        MappedByteBuffer mapped = map;
        long before = faults();
        Thread owner = Sync.start("owner", () -> rounds(mapped == null ? HeldOff::compute : round -> read(mapped, round)));
        owner.join();
        System.out.println("faults " + (faults() - before));
        over = true;
    }
}
