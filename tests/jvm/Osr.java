/** A method that compiled code calls in the interpreter, which then goes on in code that is compiled on its stack:
 * Osr MILLISECONDS. */
public class Osr {
    static volatile boolean stop;
    static long sink;

    static void loop() {
        long x = sink;
        while (!stop)
            for (int i = 0; i < 1000; i++)
                x = x * 31 + (x >> 7) + i;
        sink = x;
    }

    static void calls(boolean goes) {
        if (goes)
            loop();
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 100_000; i++) // it is compiled, and its call is still to be resolved
            calls(false);
        Thread ends = new Thread(() -> {
            try {
                Thread.sleep(Long.parseLong(args[0]));
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            stop = true;
        });
        ends.start();
        calls(true);
        System.out.println("done");
    }
}
