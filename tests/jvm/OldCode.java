/* Threads that enter a monitor and compute in it, in code that was compiled long before anybody attaches: OldCode
 *
 * Prints "ready" when it is compiled, and runs until it is killed. */
public class OldCode {
    static volatile long sink;

    synchronized long quote(int pairs) {
        long sum = 0;
        for (int i = 0; i < pairs; i++) { // loop
            long step = sum * 31 + i; // loop
            sum ^= step >>> 7 | step << 9; // loop
        }
        return sum;
    }

    public static void main(String[] args) {
        OldCode quotes = new OldCode();
        for (int i = 0; i < 30_000; i++)
            sink = quotes.quote(100);
        System.out.println("ready");
        for (int i = 0; i < 4; i++)
            new Thread(() -> {
                while (true)
                    sink = quotes.quote(20_000_000);
            }, "worker-" + i).start();
    }
}
