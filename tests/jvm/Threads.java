/* Threads with known names, groups and flags; each runs and ends before the next starts, except "immortal":
 *
 *   worker-1    group "inner" (its parent is "outer", main's child)
 *   servant     daemon, group main
 *   immortal    daemon, group "outer", alive at the end, renamed to "immortal-2" by main
 *   first       renamed itself to "second", then to "third"
 *   late        renamed after its start and before its contention
 *   blank name, Grüße-世界-😀, new-line: a name with a blank, one beyond ASCII, one with a line break
 *   (empty)     a thread whose name is empty */
import java.util.concurrent.CountDownLatch;

public class Threads {
    static Thread in(ThreadGroup group, String name, Runnable r) {
        return new Thread(group, r, name);
    }

    static void finish(Thread t) throws InterruptedException {
        t.start();
        t.join();
    }

    public static void main(String[] args) throws Exception {
        ThreadGroup outer = new ThreadGroup("outer"), inner = new ThreadGroup(outer, "inner");
        finish(in(inner, "worker-1", () -> { }));
        Thread servant = in(null, "servant", () -> { });
        servant.setDaemon(true);
        finish(servant);
        finish(in(null, "first", () -> {
            Thread.currentThread().setName("second");
            Thread.currentThread().setName("third");
        }));
        finish(in(null, "blank name", () -> { }));
        finish(in(null, "Gr\u00fc\u00dfe-\u4e16\u754c-\ud83d\ude00", () -> { }));
        finish(in(null, "new\nline", () -> { }));
        finish(in(null, "", () -> { }));
        finish(in(null, "n".repeat(3000), () -> { }));

        Object lock = new Object();
        /* Whoever waits first initializes classes, and others block on that: not in the thread below. */
        CountDownLatch warm = new CountDownLatch(1);
        Thread warming = Sync.start("warming", warm::await);
        Sync.state(Thread.State.WAITING, warming);
        warm.countDown();
        warming.join();
        CountDownLatch started = new CountDownLatch(1), renamed = new CountDownLatch(1);
        Thread late = Sync.start("late", () -> {
            started.countDown();
            renamed.await();
            synchronized (lock) {
                lock.hashCode();
            }
        });
        started.await();
        late.setName("late-renamed");
        synchronized (lock) {
            renamed.countDown();
            Sync.state(Thread.State.BLOCKED, late);
        }
        late.join();

        Thread immortal = in(outer, "immortal", () -> {
            started.countDown();
            try {
                Thread.sleep(3_600_000);
            } catch (InterruptedException e) {
                return;
            }
        });
        immortal.setDaemon(true);
        immortal.start();
        Sync.state(Thread.State.TIMED_WAITING, immortal);
        immortal.setName("immortal-2");
        Thread.currentThread().setName("main-renamed");
        System.out.println("done");
    }
}
