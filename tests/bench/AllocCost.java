/**
 * Allocates objects in a loop, at the end of a chain of calls: "AllocCost MILLIONS DEPTH", prints "object_ns NS", the
 * median of nine rounds behind two that warm up.
 */
public class AllocCost {
    static final class Plain { Object next; }

    static volatile Object sink;

    private static void loop(int n) {
        for (int i = 0; i < n; i++)
            sink = new Plain();
    }

    private static void at(int depth, int n) {
        if (depth <= 1)
            loop(n);
        else
            at(depth - 1, n);
    }

    /** Entered anew all the time, so that all frames are compiled. */
    private static long round(int n, int depth) {
        long t0 = System.nanoTime();
        for (int i = 0; i < n; i += 1000)
            at(depth, 1000);
        return System.nanoTime() - t0;
    }

    public static void main(String[] args) {
        int n = (int) (Double.parseDouble(args[0]) * 1e6), depth = Integer.parseInt(args[1]);
        double[] ns = new double[9];
        for (int i = -2; i < ns.length; i++) {
            long t = round(n, depth);
            if (i >= 0)
                ns[i] = (double) t / n;
        }
        java.util.Arrays.sort(ns);
        System.out.printf("object_ns %.1f%n", ns[ns.length / 2]);
    }
}
