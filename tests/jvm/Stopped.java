/* Programs that go on until somebody stops them: Stopped HOW.  Each prints "ready" when it is time to.
 *
 *     hooks      a worker computes; asked to stop by a shutdown hook it only waits, without a limit, as main has done all the
 *                while; the hook returns when it does
 *     accept     virtual threads: one waits for a connection, the others for what it would hand them; main for the first
 *     handled    the program has a handler of its own for SIGTERM, and ends by itself some time after that */
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.LockSupport;

public class Stopped {
    static volatile boolean over;
    static volatile long sink;

    static void until(Thread t, Thread.State state) {
        try {
            for (int quiet = 0; quiet < 10; quiet = t.getState() == state ? quiet + 1 : 0)
                Thread.sleep(5);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void work() {
        while (!over)
            sink = sink * 1103515245 + 12345;
        while (true)
            LockSupport.park();
    }

    static void hooks() throws Exception {
        Thread worker = new Thread(Stopped::work, "worker");
        worker.start();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            over = true;
            until(worker, Thread.State.WAITING);
        }, "hook"));
        Thread main = Thread.currentThread();
        new Thread(() -> {
            until(main, Thread.State.WAITING);
            System.out.println("ready");
        }, "teller").start();
        new CountDownLatch(1).await();
    }

    /* By reflection: this is compiled for 17, too. */
    static Thread virtual(Runnable r) throws Exception {
        return (Thread)Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, r);
    }

    static void accept() throws Exception {
        ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        LinkedBlockingQueue<Object> queue = new LinkedBlockingQueue<>();
        Thread acceptor = virtual(() -> {
            try {
                queue.add(server.accept());
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        Thread taker = virtual(() -> {
            try {
                queue.take();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        until(acceptor, Thread.State.WAITING);
        until(taker, Thread.State.WAITING);
        Thread main = Thread.currentThread();
        Thread teller = new Thread(() -> {
            until(main, Thread.State.WAITING);
            System.out.println("ready");
        }, "teller");
        teller.start();
        acceptor.join();
    }

    static void handled() throws Exception {
        CountDownLatch told = new CountDownLatch(1);
        sun.misc.Signal.handle(new sun.misc.Signal("TERM"), s -> told.countDown());
        Thread worker = new Thread(() -> {
            for (int i = 0; i < 1_000_000_000 && !over; i++)
                sink += i;
        }, "worker");
        System.out.println("ready");
        told.await();
        worker.start();
        worker.join();
    }

    public static void main(String[] args) throws Exception {
        if (args[0].equals("hooks"))
            hooks();
        else if (args[0].equals("accept"))
            accept();
        else
            handled();
    }
}
