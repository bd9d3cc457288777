/* Calls that throw at once, or return so; each on a thread of its own, which says what came of it.  docs/reference/orca-text.md says
 * which of them are recorded. */
public class AtOnce {
    interface Call {
        void call() throws Exception;
    }

    static void in(String name, Call call) throws InterruptedException {
        Thread t = new Thread(() -> {
            String how = "returned";
            try {
                call.call();
            } catch (Exception e) {
                how = e.getClass().getSimpleName();
            }
            System.out.println(name + " " + how);
        }, name);
        t.start();
        t.join();
    }

    static void interrupted(Call call) throws Exception {
        Thread.currentThread().interrupt();
        call.call();
    }

    static void ended() throws InterruptedException {
        Thread t = new Thread(() -> { }, "ended");
        t.start();
        while (t.isAlive())
            Thread.yield();
        t.join();
    }

    public static void main(String[] args) throws InterruptedException {
        Object lock = new Object();
        Thread other = Thread.currentThread();
        in("sleep-arg", () -> Thread.sleep(-1));
        in("sleep-intr", () -> interrupted(() -> Thread.sleep(1000)));
        in("sleep-zero", () -> Thread.sleep(0));
        in("join-arg", () -> other.join(-1));
        in("join-intr", () -> interrupted(other::join));
        in("join-timed", () -> other.join(50));
        in("join-unstarted", () -> new Thread(() -> { }, "never").join());
        in("join-ended", AtOnce::ended);
        in("wait-arg", () -> {
            synchronized (lock) {
                lock.wait(-1);
            }
        });
        in("wait-intr", () -> {
            synchronized (lock) {
                interrupted(lock::wait);
            }
        });
        in("wait-mon", lock::wait);
        in("wait-mon-timed", () -> lock.wait(10));
        in("notify-mon", lock::notify);
        in("start-twice", other::start);
    }
}
