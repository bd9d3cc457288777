/* Who gave a monitor on when another thread may have taken it in between without having to wait.
 *
 *   a holder lets the lock go that one thread is blocked on; a third one has watched for that moment and takes the
 *   lock at once, if it is quick enough before the blocked thread has been woken: no event of the JVM tells of it.
 *   Whoever has had the lock leaves its name in it, so whom it came from is certain in each case.
 *
 * A lock each time, so that each answer is of one hand-off.  Then four threads want one lock again and again, some of them
 * at once when it is free, some of them after a while: each time that one had to wait it is asked whom it had the lock from.
 * With "reads" they wait for input for most of the rest of their time. */
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

public class Barging {
    static final class Barged {
        volatile Thread last; /* written by its owner */
        volatile boolean free; /* its holder has given it back */
    }

    static volatile int silent;

    /* Compiled long before it counts: the JIT compiler's own unlocking is the quickest. */
    static void take(Barged lock) {
        synchronized (lock) {
            lock.last = Thread.currentThread();
        }
    }

    static void hold(Barged lock, CountDownLatch held, CountDownLatch release) throws InterruptedException {
        synchronized (lock) {
            held.countDown();
            release.await();
            lock.last = Thread.currentThread();
        }
        lock.free = true;
    }

    static void handOff(String name, boolean barge) throws Exception {
        Barged lock = new Barged();
        CountDownLatch held = new CountDownLatch(1), release = new CountDownLatch(1), ready = new CountDownLatch(1);
        Thread[] from = new Thread[1];
        Thread holder = Known.start(name + "-h", () -> hold(lock, held, release));
        held.await();
        Known.waiting(holder);
        Thread waiter = Known.start(name + "-w", () -> {
            synchronized (lock) {
                from[0] = lock.last;
            }
        });
        Known.blocked(waiter);
        Thread barger = !barge ? null : Known.start(name + "-b", () -> {
            ready.countDown();
            while (!lock.free)
                Thread.onSpinWait();
            take(lock);
        });
        if (barge)
            ready.await();
        release.countDown();
        holder.join();
        waiter.join();
        if (barge)
            barger.join();
        silent += barge && from[0] == barger ? 1 : 0;
        Known.is(barge ? "barged-by" : "blocked-by", "thread=" + name + "-w on=Barging$Barged", from[0].getName());
    }

    static final class Wanted {
        Thread last; /* written by its owner */
    }

    /** A thread's own knowledge of how it got the lock. */
    static final class Visitor {
        static final long WAITED_NS = 50_000;
        static final int[] HOLDS_NS = {2_000, 2_000, 2_000, 60_000, 400_000}; /* behind the longest all others queue */
        final Wanted lock;
        final Random random;
        final List<String> truths = new ArrayList<>();
        final Socket silent; /* from which nothing comes; null: it does not read */
        Thread thread;

        Visitor(Wanted lock, int seed, Socket silent) {
            this.lock = lock;
            this.silent = silent;
            random = new Random(seed);
        }

        void run(int times) throws IOException {
            for (int i = 0; i < times; i++) {
                Thread from;
                long called = System.nanoTime(), entered;
                synchronized (lock) {
                    entered = System.nanoTime();
                    from = lock.last;
                    busy(entered, HOLDS_NS[random.nextInt(HOLDS_NS.length)]);
                    lock.last = thread;
                }
                if (entered - called >= WAITED_NS && from != thread && from != null)
                    truths.add("thread=" + thread.getName() + " on=Barging$Wanted called=" + called + " entered=" + entered + " " + from.getName());
                if (silent != null && random.nextInt(8) < 5)
                    read();
                else if (random.nextInt(8) == 0)
                    LockSupport.parkNanos(200_000);
                else
                    busy(System.nanoTime(), random.nextInt(30_000));
            }
        }

        void read() throws IOException {
            try {
                silent.getInputStream().read();
            } catch (SocketTimeoutException e) {
                /* after 1 ms */
            }
        }

        static void busy(long from, int ns) {
            while (System.nanoTime() < from + ns)
                Thread.onSpinWait();
        }
    }

    static Socket silent(ServerSocket from) throws IOException {
        Socket s = new Socket(from.getInetAddress(), from.getLocalPort());
        s.setSoTimeout(1);
        return s;
    }

    static void storm(int times, ServerSocket from) throws Exception {
        Wanted lock = new Wanted();
        List<Visitor> visitors = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            Visitor v = new Visitor(lock, i, from == null ? null : silent(from));
            v.thread = Known.thread("storm" + i, () -> v.run(times));
            visitors.add(v);
        }
        for (Visitor v : visitors)
            v.thread.start();
        for (Visitor v : visitors)
            v.thread.join();
        for (Visitor v : visitors)
            for (String t : v.truths)
                Known.is("stormed-by", t.substring(0, t.lastIndexOf(' ')), t.substring(t.lastIndexOf(' ') + 1));
    }

    public static void main(String[] args) throws Exception {
        Known.mode(args);
        boolean brief = args.length > 1;
        Barged warm = new Barged();
        for (int i = 0; i < 200_000; i++)
            take(warm);
        for (int i = 0; i < (brief ? 30 : 150); i++)
            handOff("barge" + i, true);
        for (int i = 0; i < (brief ? 5 : 20); i++)
            handOff("plain" + i, false);
        boolean reads = args.length > 2;
        storm(brief ? 300 : 2000, reads ? new ServerSocket(0, 4, InetAddress.getLoopbackAddress()) : null);
        System.out.println("silent takers: " + silent);
        Known.noDeadlock();
        Known.print();
    }
}
