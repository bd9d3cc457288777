/* A program that collects: Collecting [MB [KEPT]]
 *
 * First it allocates MB megabytes (default 0) of objects of 10,000 bytes, of which the last KEPT (default 500) stay.  Then commands
 * come by standard input, each answered by a line of its own name: "gc" calls System.gc(), "again" allocates as much
 * again, "end" ends.
 * Before the first command it prints "ready", and waits for the collector once: a collection at least has been.
 */
import java.io.BufferedReader;
import java.io.InputStreamReader;

public class Collecting {
    private static final int SIZE = 10_000;
    private static byte[][] kept;

    private static void allocate(int mb) {
        long n = mb * 1_000_000L / SIZE;
        for (long i = 0; i < n; i++)
            kept[(int) (i % kept.length)] = new byte[SIZE];
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        kept = new byte[args.length > 1 ? Integer.parseInt(args[1]) : 500][];
        int mb = args.length > 0 ? Integer.parseInt(args[0]) : 0;
        allocate(mb);
        System.gc();
        System.out.println("ready");
        for (String line = in.readLine(); line != null && !line.equals("end"); line = in.readLine()) {
            if (line.equals("gc"))
                System.gc();
            else if (line.equals("again"))
                allocate(mb);
            System.out.println(line);
        }
        System.out.println("end");
    }
}
