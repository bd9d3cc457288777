/* A java.lang.instrument agent beside ours redefines the class Redefined in the middle: Redefine FILE
 * (as -javaagent:...=FILE, the new class file).
 *
 * "old" contends in Redefined.after() before, "new" after it; "obsolete" runs the old version of twice()
 * the whole time and contends in middle(), called from it, before and after.  Then a transformer retransforms
 * Redefined once more, without a change, and "again" contends in after(). */
import java.lang.instrument.ClassDefinition;
import java.lang.instrument.Instrumentation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;

public class Redefine {
    static Instrumentation instrumentation;
    static String file;

    public static void premain(String argument, Instrumentation i) {
        instrumentation = i;
        file = argument;
    }

    static void contend(String name, Object lock, Sync.Body body) throws Exception {
        CountDownLatch held = new CountDownLatch(1);
        Thread blocker = Sync.start(name, () -> {
            held.await();
            body.run();
        });
        synchronized (lock) {
            held.countDown();
            Sync.blocked(blocker);
        }
        blocker.join();
    }

    public static void main(String[] args) throws Exception {
        contend("old", Redefined.class, Redefined::after);
        Object first = new Object(), second = new Object();
        CountDownLatch there = new CountDownLatch(1), on = new CountDownLatch(1), held = new CountDownLatch(1);
        Thread obsolete = Sync.thread("obsolete", () -> {
            held.await();
            Redefined.twice(first, () -> {
                there.countDown();
                on.await();
            }, second);
        });
        obsolete.start();
        synchronized (first) {
            held.countDown();
            Sync.blocked(obsolete);
        }
        there.await();
        instrumentation.redefineClasses(new ClassDefinition(Redefined.class, Files.readAllBytes(Path.of(file))));
        synchronized (second) {
            on.countDown();
            Sync.blocked(obsolete);
        }
        obsolete.join();
        contend("new", Redefined.class, Redefined::after);
        instrumentation.retransformClasses(Redefined.class);
        contend("again", Redefined.class, Redefined::after);
        System.out.println("done");
    }
}
