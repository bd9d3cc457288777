/* A program in which nobody can go on: each of two threads waits for a notify that came before, and main joins them.  Prints "ready"
 * just before.  With an argument: two deadlocks of two threads each (a, b; c, d), and main goes on reading its standard input. */
import java.util.concurrent.CountDownLatch;

public class TopStuck {
    static void pair(String first, String second) throws Exception {
        Object x = new Object(), y = new Object();
        CountDownLatch both = new CountDownLatch(2);
        Thread one = Sync.daemon(first, () -> {
            synchronized (x) {
                both.countDown();
                both.await();
                synchronized (y) {
                    y.hashCode();
                }
            }
        });
        Thread two = Sync.daemon(second, () -> {
            synchronized (y) {
                both.countDown();
                both.await();
                synchronized (x) {
                    x.hashCode();
                }
            }
        });
        Sync.blocked(one, two);
    }

    static Thread waiter(String name) {
        Object o = new Object();
        synchronized (o) {
            o.notify();
        }
        Thread t = new Thread(() -> {
            try {
                synchronized (o) {
                    o.wait();
                }
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }, name);
        t.start();
        return t;
    }

    public static void main(String[] args) throws Exception {
        if (args.length > 0) {
            pair("a", "b");
            pair("c", "d");
            System.out.println("ready");
            System.in.read();
            System.exit(0);
        }
        Thread one = waiter("one"), two = waiter("two");
        System.out.println("ready");
        one.join();
        two.join();
    }
}
