/* A program that ends with a shutdown hook: main computes for 100 ms; with an argument "worker" does for 100 ms
 * more when main has ended; with "daemon" two daemons live on, of which "daemon" waits for ever and "parked" is
 * parked.  Then the thread "hook" runs. */
import java.util.concurrent.locks.LockSupport;

public class Hook {
    static void spin(long ms) {
        for (long end = System.nanoTime() + ms * 1_000_000; System.nanoTime() < end;)
            Thread.onSpinWait();
    }

    static void daemons() {
        Object lock = new Object();
        Thread daemon = new Thread(() -> {
            synchronized (lock) {
                try {
                    lock.wait();
                } catch (InterruptedException e) {
                    /* nobody interrupts it */
                }
            }
        }, "daemon");
        Thread parked = new Thread(LockSupport::park, "parked");
        for (Thread t : new Thread[] {daemon, parked}) {
            t.setDaemon(true);
            t.start();
            while (t.getState() != Thread.State.WAITING)
                Thread.yield();
        }
    }

    public static void main(String[] args) {
        Thread main = Thread.currentThread();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> spin(1), "hook"));
        spin(100);
        if (args.length > 0 && args[0].equals("daemon"))
            daemons();
        else if (args.length > 0)
            new Thread(() -> {
                while (main.isAlive())
                    Thread.yield();
                spin(100);
            }, "worker").start();
    }
}
