/**
 * What it costs a program that computes to be sampled.
 *
 * <pre>java SampleCost ROUNDS</pre>
 *
 * <p>One thread sorts, hashes, formats and recurses, the same each round, some 40 calls deep; prints
 * "ms N cpu N": the median of the last two thirds of the rounds, in milliseconds by the clock and of the
 * processor time of the whole process, the profiler's own threads included.
 */
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

public final class SampleCost {
    private static final int DEEP = 40;
    private static long sink;

    private static long work(int seed) {
        long random = seed;
        Map<String, Integer> counts = new HashMap<>();
        List<String> words = new ArrayList<>();
        for (int i = 0; i < 4000; i++) {
            random = random * 6364136223846793005L + 1442695040888963407L;
            String word = "w" + (random >>> 53);
            words.add(word);
            counts.merge(word, 1, Integer::sum);
        }
        words.sort(Comparator.comparing((String w) -> counts.get(w)).thenComparing(w -> w));
        long sum = 0;
        for (String w : words)
            sum = sum * 31 + w.hashCode();
        return sum;
    }

    private static long deep(int frames, int seed) {
        return frames == 0 ? work(seed) : deep(frames - 1, seed) + frames;
    }

    private static double median(double[] of) {
        double[] sorted = Arrays.copyOfRange(of, of.length / 3, of.length);
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }

    public static void main(String[] args) {
        int rounds = Integer.parseInt(args[0]);
        double[] ms = new double[rounds], cpu = new double[rounds];
        com.sun.management.OperatingSystemMXBean system =
            (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        for (int round = 0; round < rounds; round++) {
            long began = System.nanoTime(), used = system.getProcessCpuTime();
            for (int i = 0; i < 150; i++)
                sink += deep(DEEP, i);
            ms[round] = (System.nanoTime() - began) / 1e6;
            cpu[round] = (system.getProcessCpuTime() - used) / 1e6;
        }
        System.out.printf(java.util.Locale.ROOT, "ms %.3f cpu %.3f sink %d%n", median(ms), median(cpu), sink & 1);
    }
}
