/** Burns the processor in one method: Burning MILLISECONDS of processor time. */
public class Burning {
    static volatile long sink;

    static void burn(long ns) {
        var threads = java.lang.management.ManagementFactory.getThreadMXBean();
        long end = threads.getCurrentThreadCpuTime() + ns;
        while (threads.getCurrentThreadCpuTime() < end)
            sink += spin(sink);
    }

    static long spin(long x) {
        for (int i = 0; i < 3_000_000; i++)
            x = x * 31 + (i ^ (x >>> 7)) % 11;
        return x;
    }

    public static void main(String[] args) {
        burn(Long.parseLong(args[0]) * 1_000_000);
        System.out.println("done " + (sink != 0));
    }
}
