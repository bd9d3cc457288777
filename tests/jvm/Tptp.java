/* What TPTP's thread events tell apart.  main joins each thread, and each but "dozer", "parked" and "<&..." ends only
 * when main waits for it.
 *
 *   "blocked"    blocks once on a Tptp$Held, which main owns for at least 30 ms
 *   "timed"      waits 40 ms on a Tptp$Timed, nobody notifies
 *   "notified"   waits on a Tptp$Told; main calls notify once and notifyAll once
 *   "sleeper"    sleeps 50 ms
 *   "dozer"      sleeps 60 s; main joins it for 20 ms, which is not enough, and interrupts it
 *   "own"        is a Tptp$Own, a class that extends Thread
 *   "parked"     parks until main interrupts it
 *   "<&\"\t'>"   sleeps 1 ms
 *   "v"          virtual (JDK 21 and later), sleeps 50 ms
 * main interrupts "own", which runs and does not wait.
 * Tptp hang: afterwards main sleeps 60 s, and "hangs" is printed when it does. */
import java.util.concurrent.locks.LockSupport;

public class Tptp {
    static final class Held { }
    static final class Timed { }
    static final class Told { }

    static volatile boolean interrupted;
    static Thread main;
    static int sink;

    static void joined() throws InterruptedException {
        Sync.state(Thread.State.WAITING, main);
    }

    static final class Own extends Thread {
        Own() {
            super("own");
        }

        @Override
        public void run() {
            while (!interrupted || main.getState() != State.WAITING)
                Thread.yield();
        }
    }

    static void doze(long ms) {
        try {
            Thread.sleep(ms); // site: doze
        } catch (InterruptedException e) {
            System.out.println("interrupted");
        }
    }

    static void block() throws Exception {
        Object held = new Held();
        Thread blocked = Sync.thread("blocked", () -> {
            synchronized (held) { // site: block
                sink++;
            }
            joined();
        });
        synchronized (held) {
            blocked.start();
            Sync.blocked(blocked);
            Sync.pause(30);
        }
        blocked.join();
    }

    static void waits() throws Exception {
        Object timed = new Timed(), told = new Told();
        Sync.start("timed", () -> {
            synchronized (timed) {
                timed.wait(40);
            }
            joined();
        }).join();
        Thread t = Sync.start("notified", () -> {
            synchronized (told) {
                told.wait();
            }
            joined();
        });
        Sync.waiting(t);
        synchronized (told) {
            told.notify();
            told.notifyAll();
        }
        t.join();
    }

    static void interrupts() throws Exception {
        Thread t = Sync.start("dozer", () -> doze(60_000));
        Sync.waiting(t);
        t.join(20);
        t.interrupt();
        t.join();
        Thread parked = Sync.start("parked", LockSupport::park);
        Sync.waiting(parked);
        parked.interrupt();
        parked.join();
        Thread own = new Own();
        own.start();
        own.interrupt();
        interrupted = true;
        own.join();
    }

    public static void main(String[] args) throws Exception {
        main = Thread.currentThread();
        block();
        waits();
        Sync.start("sleeper", () -> {
            doze(50);
            joined();
        }).join();
        interrupts();
        Sync.start("<&\"\t'>", () -> doze(1)).join();
        if (Runtime.version().feature() >= 21) {
            Thread v = Virtual.thread("v", () -> {
                doze(50);
                joined();
            });
            v.start();
            v.join();
        }
        if (args.length > 0 && args[0].equals("hang")) {
            Sync.daemon("watcher", () -> {
                Sync.state(Thread.State.TIMED_WAITING, main);
                System.out.println("hangs");
            });
            doze(60_000);
        }
    }
}
