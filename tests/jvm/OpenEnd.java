/* The program ends while daemon threads wait: OpenEnd return | exit | halt
 *
 *   waits-0, waits-1       in Object.wait on an OpenEnd$Waited, without and with a time-out
 *   dead-0, dead-1         in a deadlock on two OpenEnd$Dead
 *   queued                 blocked on the OpenEnd$Held that main owns to the end
 *   was-waiting            waited, was notified, and sleeps now
 *   illegal                called wait() without the monitor, then with a negative time-out, and sleeps now */
import java.util.concurrent.CountDownLatch;

public class OpenEnd {
    static final class Waited { }
    static final class Dead { }
    static final class Held { }
    static int passed;

    public static void main(String[] args) throws Exception {
        Waited waited = new Waited(), was = new Waited();
        Dead a = new Dead(), b = new Dead();
        Held held = new Held();
        CountDownLatch both = new CountDownLatch(2);
        Thread w0 = Sync.daemon("waits-0", () -> {
            synchronized (waited) {
                waited.wait();
            }
        });
        Thread w1 = Sync.daemon("waits-1", () -> {
            synchronized (waited) {
                waited.wait(3_600_000);
            }
        });
        Thread d0 = Sync.daemon("dead-0", () -> {
            synchronized (a) {
                both.countDown();
                both.await();
                synchronized (b) {
                    throw new IllegalStateException();
                }
            }
        });
        Thread d1 = Sync.daemon("dead-1", () -> {
            synchronized (b) {
                both.countDown();
                both.await();
                synchronized (a) {
                    throw new IllegalStateException();
                }
            }
        });
        Thread ww = Sync.daemon("was-waiting", () -> {
            synchronized (was) {
                was.wait();
            }
            Thread.sleep(3_600_000);
        });
        Thread illegal = Sync.daemon("illegal", () -> {
            Waited own = new Waited();
            try {
                waited.wait();
            } catch (IllegalMonitorStateException e) {
                passed++;
            }
            try {
                synchronized (own) {
                    own.wait(-1);
                }
            } catch (IllegalArgumentException e) {
                passed++;
            }
            Thread.sleep(3_600_000);
        });
        Sync.waiting(ww);
        synchronized (was) {
            was.notify();
        }
        Sync.state(Thread.State.TIMED_WAITING, ww, illegal);
        synchronized (held) {
            Thread q = Sync.daemon("queued", () -> {
                synchronized (held) {
                    Thread.sleep(3_600_000);
                }
            });
            Sync.waiting(w0, w1);
            Sync.blocked(d0, d1, q);
            Sync.pause(20);
            System.out.println("end");
            System.out.flush();
            switch (args[0]) {
            case "exit" -> System.exit(5);
            case "halt" -> Runtime.getRuntime().halt(6);
            default -> { }
            }
        }
    }
}
