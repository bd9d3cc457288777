import java.util.concurrent.locks.LockSupport;

/**
 * Every thread waits, parks or sleeps to its end: Patient limited|unlimited, all waits with a time limit or all
 * without one (then none sleeps). Prints "ready" when they do.
 */
public class Patient {
    static final long MS = 600_000;
    static final Object DOOR = new Object();

    static void parks(boolean limited) {
        while (true) {
            if (limited)
                LockSupport.parkNanos(MS * 1_000_000);
            else
                LockSupport.park();
        }
    }

    static void waits(boolean limited) {
        synchronized (DOOR) {
            while (true) {
                try {
                    DOOR.wait(limited ? MS : 0);
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
        }
    }

    public static void main(String[] args) throws Exception {
        boolean limited = args[0].equals("limited");
        Thread parked = Sync.start("parked", () -> parks(limited));
        Thread waiter = Sync.start("waiter", () -> waits(limited));
        Thread main = Thread.currentThread();
        Sync.start("teller", () -> {
            Thread.State wanted = limited ? Thread.State.TIMED_WAITING : Thread.State.WAITING;
            for (Thread t : new Thread[] {parked, waiter, main})
                Sync.state(wanted, t);
            System.out.println("ready");
        });
        if (limited)
            Thread.sleep(MS);
        waits(limited);
    }
}
