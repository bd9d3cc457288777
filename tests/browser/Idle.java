/* A JVM to attach to: one thread waits in Object.wait, 20 ms at a time, until the standard input ends. */
public class Idle {
    public static void main(String[] args) throws Exception {
        Thread ticker = new Thread(() -> {
            Object o = new Object();
            while (true)
                synchronized (o) {
                    try {
                        o.wait(20);
                    } catch (InterruptedException e) {
                        return;
                    }
                }
        }, "ticker");
        ticker.setDaemon(true);
        ticker.start();
        System.out.println("ready");
        while (System.in.read() >= 0)
            ;
    }
}
