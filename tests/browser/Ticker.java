/* A JVM to watch: left and right take one lock in turn, each holds it for 4 ms at a time.  It runs for the seconds that
 * its argument says, and ends before when the standard input ends. */
public class Ticker {
    static final class Turn { }
    static final Turn TURN = new Turn();

    static void tick() {
        try {
            while (true) {
                synchronized (TURN) {
                    Thread.sleep(4);
                }
                Thread.sleep(1);
            }
        } catch (InterruptedException e) {
            throw new RuntimeException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        for (String name : new String[] {"left", "right"}) {
            Thread t = new Thread(Ticker::tick, name);
            t.setDaemon(true);
            t.start();
        }
        Thread timer = new Thread(() -> {
            try {
                Thread.sleep(Long.parseLong(args[0]) * 1000);
            } catch (InterruptedException e) {
                return;
            }
            System.exit(0);
        }, "timer");
        timer.setDaemon(true);
        timer.start();
        System.out.println("ready");
        while (System.in.read() >= 0)
            ;
    }
}
