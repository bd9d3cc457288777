/* A program that is stopped by the JVM, for known reasons: Safepoints
 *
 * It prints "ready" and obeys its standard input, a word a line, each answered by a line that begins with it:
 *
 *     dumps    20 times Thread.getAllStackTraces
 *     gc       3 times System.gc
 *     loop     a thread, "looper", runs a counted loop of ints; the main thread asks for stack traces until 5 answers
 *              have taken 20 ms (with -XX:-UseCountedLoopSafepoints all wait for the loop's end)
 *     end      ends
 */
import java.io.BufferedReader;
import java.io.InputStreamReader;

public class Safepoints {
    private static volatile boolean stop;
    private static volatile int result;

    private static int counted(int n) {
        int x = 1;
        for (int i = 1; i < n; i++)
            x = x * 31 / i + i;
        return x;
    }

    private static void loop() throws Exception {
        stop = false;
        Thread looper = new Thread(() -> {
            while (!stop)
                result = counted(50_000_000);
        }, "looper");
        looper.start();
        for (int late = 0; late < 5;) {
            long from = System.nanoTime();
            Thread.getAllStackTraces();
            if (System.nanoTime() - from >= 20_000_000)
                late++;
        }
        stop = true;
        looper.join();
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready");
        for (String line = in.readLine(); line != null && !line.equals("end"); line = in.readLine()) {
            if (line.equals("dumps"))
                for (int i = 0; i < 20; i++)
                    Thread.getAllStackTraces();
            else if (line.equals("gc"))
                for (int i = 0; i < 3; i++)
                    System.gc();
            else if (line.equals("loop"))
                loop();
            System.out.println(line);
        }
        System.out.println("end");
    }
}
