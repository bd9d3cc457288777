/* Contends until a signal ends it, and keeps count where a kill cannot take it away: Killed FILE
 *
 * FILE: two 8-byte numbers, mapped.  Number i grows by one each time when "pair-i-blocker" has got a fresh
 * Killed$Lock that "pair-i-holder" released only after it was blocked on it.  So at any instant, of the blocker:
 *     number <= entered events <= enter events <= number + 1
 * "starter" starts a thread every 5 ms, "waiter" waits with a time-out of 1 ms.  Prints "ready" after 20 of each. */
import java.nio.MappedByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.CountDownLatch;

public class Killed {
    static final class Lock { }

    static final class Pair {
        final MappedByteBuffer counts;
        final int at;
        final CountDownLatch ready = new CountDownLatch(20);
        volatile Lock held;
        volatile Lock passed;

        Pair(MappedByteBuffer counts, int i) {
            this.counts = counts;
            at = 8 * i;
            Thread blocker = Sync.daemon("pair-" + i + "-blocker", this::block);
            Sync.daemon("pair-" + i + "-holder", () -> hold(blocker));
        }

        void hold(Thread blocker) throws Exception {
            for (;;) {
                Lock lock = new Lock();
                synchronized (lock) {
                    held = lock;
                    Sync.state(Thread.State.BLOCKED, blocker);
                }
                while (passed != lock)
                    Thread.yield();
                ready.countDown();
            }
        }

        void block() {
            for (;;) {
                Lock lock = held;
                if (lock == null || lock == passed) {
                    Thread.yield();
                    continue;
                }
                synchronized (lock) {
                    counts.putLong(at, counts.getLong(at) + 1);
                }
                passed = lock;
            }
        }
    }

    public static void main(String[] args) throws Exception {
        MappedByteBuffer counts;
        try (FileChannel f = FileChannel.open(Path.of(args[0]), StandardOpenOption.CREATE, StandardOpenOption.READ,
                StandardOpenOption.WRITE)) {
            counts = f.map(FileChannel.MapMode.READ_WRITE, 0, 16);
        }
        counts.order(ByteOrder.nativeOrder());
        Pair a = new Pair(counts, 0), b = new Pair(counts, 1);
        Sync.daemon("waiter", () -> {
            Object o = new Object();
            synchronized (o) {
                for (;;)
                    o.wait(1);
            }
        });
        Sync.daemon("starter", () -> {
            for (;;) {
                Sync.start("started", () -> { });
                Sync.pause(5);
            }
        });
        a.ready.await();
        b.ready.await();
        System.out.println("ready");
        System.out.flush();
        Thread.sleep(60_000);
    }
}
