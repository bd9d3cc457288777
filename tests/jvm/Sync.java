/* Handshakes that make a fact certain before the next step, and the truth that the tests compare with.
 *
 * blocked(threads) returns when each of them has reported its contention to the agent and sleeps in the
 * kernel: Java state BLOCKED, and its OS thread, found by its name (at most 15 letters, unique), asleep
 * twice in a row.  A JVM at a safepoint cannot deceive it, because the caller is stopped then, too. */
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

final class Sync {
    private Sync() { }

    interface Body {
        void run() throws Exception;
    }

    private static void run(Body body) {
        try {
            body.run();
        } catch (Exception e) {
            e.printStackTrace();
            System.exit(99);
        }
    }

    static Thread thread(String name, Body body) {
        return new Thread(() -> run(body), name);
    }

    /** The same, virtual (JDK 21); the tests are compiled for 17. */
    static Thread virtual(String name, Body body) throws Exception {
        Class<?> builder = Class.forName("java.lang.Thread$Builder");
        Object b = Thread.class.getMethod("ofVirtual").invoke(null);
        b = builder.getMethod("name", String.class).invoke(b, name);
        return (Thread) builder.getMethod("unstarted", Runnable.class).invoke(b, (Runnable) () -> run(body));
    }

    static Thread start(String name, Body body) {
        Thread t = thread(name, body);
        t.start();
        return t;
    }

    static Thread daemon(String name, Body body) {
        Thread t = thread(name, body);
        t.setDaemon(true);
        t.start();
        return t;
    }

    static void pause(long ms) throws InterruptedException {
        Thread.sleep(ms);
    }

    static void state(Thread.State state, Thread... threads) throws InterruptedException {
        for (Thread t : threads)
            for (long spins = 0; t.getState() != state; spins++) {
                if (t.getState() == Thread.State.TERMINATED)
                    throw new IllegalStateException(t + " has ended");
                if (spins > 2000)
                    Thread.sleep(1);
                else
                    Thread.onSpinWait();
            }
    }

    static void blocked(Thread... threads) throws InterruptedException, IOException {
        state(Thread.State.BLOCKED, threads);
        asleep(threads);
    }

    static void waiting(Thread... threads) throws InterruptedException, IOException {
        for (Thread t : threads)
            while (t.getState() != Thread.State.WAITING && t.getState() != Thread.State.TIMED_WAITING)
                Thread.sleep(1);
        asleep(threads);
    }

    static void asleep(Thread... threads) throws InterruptedException, IOException {
        Map<String, Path> tasks = new HashMap<>();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
            for (Path task : all)
                try {
                    tasks.put(Files.readString(task.resolve("comm")).trim(), task);
                } catch (IOException e) {
                    continue; /* it has ended */
                }
        }
        for (Thread t : threads)
            for (int quiet = 0; quiet < 2;) {
                Path task = tasks.get(t.getName());
                if (task == null)
                    throw new IllegalStateException("no OS thread is called " + t.getName());
                String stat = Files.readString(task.resolve("stat"));
                quiet = stat.charAt(stat.lastIndexOf(')') + 2) == 'S' ? quiet + 1 : 0;
                Thread.sleep(1);
            }
    }

    static String hash(Object o) {
        return String.format("%08X", System.identityHashCode(o));
    }
}
