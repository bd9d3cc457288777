/* N threads "t-0" ... contend: ManyThreads N alive | N briefly
 *
 * alive: all of them block on one lock that main owns, so that all are alive at once; main prints the memory
 * of the process before, and with all of them blocked: "before SHMEM RSS", "with SHMEM RSS", in KiB.
 * briefly: they start and end, at most 8 at a time, each passing the lock. */
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Semaphore;

public class ManyThreads {
    static final class Lock { }
    static final Lock LOCK = new Lock();
    static int passed;

    static long status(String key) throws Exception {
        for (String line : Files.readAllLines(Path.of("/proc/self/status")))
            if (line.startsWith(key + ":"))
                return Long.parseLong(line.replaceAll("[^0-9]", ""));
        return -1;
    }

    static void memory(String when) throws Exception {
        System.out.println(when + " " + status("RssShmem") + " " + status("VmRSS"));
    }

    static void pass() {
        synchronized (LOCK) {
            passed++;
        }
    }

    public static void main(String[] args) throws Exception {
        int n = Integer.parseInt(args[0]);
        Thread[] threads = new Thread[n];
        memory("before");
        if (args[1].equals("alive")) {
            synchronized (LOCK) {
                for (int i = 0; i < n; i++) {
                    threads[i] = new Thread(null, ManyThreads::pass, "t-" + i, 128 * 1024);
                    threads[i].start();
                }
                Sync.state(Thread.State.BLOCKED, threads);
                Thread.sleep(100);
                memory("with");
            }
        } else {
            Semaphore room = new Semaphore(8);
            for (int i = 0; i < n; i++) {
                room.acquire();
                threads[i] = new Thread(null, () -> {
                    pass();
                    room.release();
                }, "t-" + i, 128 * 1024);
                threads[i].start();
            }
        }
        for (Thread t : threads)
            t.join();
        memory("after");
        System.out.println("passed " + passed);
    }
}
