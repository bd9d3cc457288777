/* Thread.sleep and Thread.join: how often, how long, of whom, how it ended. */
public class Sleeps {
    static void slept(int i) throws Exception {
        long[] t = new long[2];
        String name = "sleep-w" + i;
        Known.start(name, () -> {
            t[0] = System.nanoTime();
            Thread.sleep(20);
            t[1] = System.nanoTime();
        }).join();
        Known.is("sleep-count", "thread=" + name, 1);
        Known.between("sleep-ns", "thread=" + name, 20_000_000, t[1] - t[0]);
        Known.is("sleep-end", "thread=" + name, "timeout");
    }

    static void many(int n) throws Exception {
        long[] t = new long[2];
        Known.start("naps-w", () -> {
            t[0] = System.nanoTime();
            for (int i = 0; i < n; i++)
                Thread.sleep(1);
            t[1] = System.nanoTime();
        }).join();
        Known.is("sleep-count", "thread=naps-w", n);
        Known.between("sleep-ns", "thread=naps-w", n * 1_000_000L, t[1] - t[0]);
    }

    static void broken(int i) throws Exception {
        long[] t = new long[3];
        String name = "alarm-w" + i;
        Thread w = Known.start(name, () -> {
            t[0] = System.nanoTime();
            try {
                Thread.sleep(60_000);
            } catch (InterruptedException e) {
                t[1] = System.nanoTime();
            }
        });
        long asleep = Known.waiting(w);
        Known.start("alarm-k" + i, () -> {
            t[2] = System.nanoTime();
            w.interrupt();
        }).join();
        w.join();
        Known.is("sleep-count", "thread=" + name, 1);
        Known.between("sleep-ns", "thread=" + name, t[2] - asleep, t[1] - t[0]);
        Known.is("sleep-end", "thread=" + name, "interrupt");
        Known.is("sleep-by", "thread=" + name, "alarm-k" + i);
    }

    static void joined(int i, boolean late) throws Exception {
        long[] t = new long[3];
        String name = (late ? "joinlate-w" : "join-w") + i, target = (late ? "latedead-" : "dead-") + i;
        java.util.concurrent.CountDownLatch end = new java.util.concurrent.CountDownLatch(1);
        Thread dead = Known.start(target, () -> {
            end.await();
            t[2] = System.nanoTime();
        });
        Known.waiting(dead);
        Thread w = Known.start(name, () -> {
            t[0] = System.nanoTime();
            if (late)
                dead.join(20);
            else
                dead.join();
            t[1] = System.nanoTime();
        });
        long asleep = 0;
        if (late)
            w.join();
        else
            asleep = Known.waiting(w);
        end.countDown();
        w.join();
        dead.join();
        Known.is("join-count", "thread=" + name, 1);
        Known.between("join-ns", "thread=" + name, late ? 19_900_000 : t[2] - asleep, t[1] - t[0]);
        Known.is("join-of", "thread=" + name, target);
        Known.is("join-end", "thread=" + name, late ? "timeout" : "end");
    }

    public static void main(String[] args) throws Exception {
        Known.mode(args);
        int n = args.length > 1 ? 2 : 5;
        for (int i = 0; i < n; i++) {
            slept(i);
            broken(i);
            joined(i, false);
            joined(i, true);
        }
        many(50);
        Known.noDeadlock();
        Known.print();
    }
}
