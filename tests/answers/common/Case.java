package common;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** A program's arguments (tests/answers/outside.mjs): planted or repaired, full or half strength, the slow peer, a folder. */
public record Case(boolean planted, boolean full, int peer, String folder) {
    public static Case of(String[] args) {
        return new Case(args[0].equals("planted"), args[1].equals("full"), Integer.parseInt(args[2]), args[3]);
    }

    public int strength(int whenFull, int whenHalf) {
        return full ? whenFull : whenHalf;
    }

    /** A program without a server measures itself: how many, and the 99th percentile, when it is asked to end. */
    public static final class Measure {
        private final long[] took = new long[1 << 20];
        private final AtomicInteger count = new AtomicInteger();
        private final AtomicLong began = new AtomicLong(System.nanoTime());

        public Measure() {
            Runtime.getRuntime().addShutdownHook(new Thread(this::print, "measure"));
            System.out.println("ready");
        }

        public void since(long start) {
            int n = count.getAndIncrement();
            took[n & (took.length - 1)] = System.nanoTime() - start;
        }

        private void print() {
            int n = count.get(), kept = Math.min(n, took.length);
            long[] sorted = Arrays.copyOf(took, kept);
            Arrays.sort(sorted);
            double seconds = (System.nanoTime() - began.get()) / 1e9;
            System.out.printf("measured %.3f %.3f%n", n / seconds, kept == 0 ? 0 : sorted[kept * 99 / 100] / 1e6);
        }
    }
}
