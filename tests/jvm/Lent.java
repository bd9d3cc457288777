import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.lend.Lender;

/** Lent KIND SECONDS: threads that wait for something of which there is too little, because who has it is slow. */
public class Lent {
    static volatile long until;
    static volatile long sink;
    static Lender lender = new Lender(3);
    static Semaphore permits = new Semaphore(3);
    static ServerSocket slow;

    /** Answers each byte after 10 ms. */
    static void serve(Socket s) {
        try (s; InputStream in = s.getInputStream(); OutputStream out = s.getOutputStream()) {
            for (int c; (c = in.read()) >= 0;) {
                Thread.sleep(10);
                out.write(c);
            }
        } catch (Exception e) {
            // its end
        }
    }

    static void accept() {
        try {
            for (;;) {
                Socket s = slow.accept();
                daemon("peer", () -> serve(s));
            }
        } catch (Exception e) {
            // closed
        }
    }

    static void daemon(String name, Runnable what) {
        Thread t = new Thread(what, name);
        t.setDaemon(true);
        t.start();
    }

    static void ask(Socket s) throws Exception {
        s.getOutputStream().write(1);
        s.getInputStream().read(); // holder of input
    }

    static void compute() {
        long x = 1;
        for (int i = 0; i < 5_000_000; i++)
            x = x * 31 + i;
        sink = x;
    }

    interface Body {
        void run() throws Exception;
    }

    static Thread[] start(String name, int n, Body body) {
        Thread[] all = new Thread[n];
        for (int i = 0; i < n; i++) {
            all[i] = new Thread(() -> {
                try {
                    while (System.nanoTime() < until)
                        body.run();
                } catch (Exception e) {
                    e.printStackTrace();
                }
            }, name + "-" + i);
            all[i].start();
        }
        return all;
    }

    static final ThreadLocal<Socket> peer = ThreadLocal.withInitial(() -> {
        try {
            return new Socket(InetAddress.getLoopbackAddress(), slow.getLocalPort());
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    });

    static void input() throws Exception {
        lender.take(); // waiter of input
        try {
            ask(peer.get());
        } finally {
            lender.give();
        }
    }

    static void permit() throws Exception {
        permits.acquire(); // waiter of permits
        try {
            Thread.sleep(10); // holder of permits
        } finally {
            permits.release();
        }
    }

    static final BlockingQueue<Integer> queue = new ArrayBlockingQueue<>(10);

    static void drain() {
        try {
            for (;;) {
                queue.take();
                compute(); // holder of queue
            }
        } catch (InterruptedException e) {
            // the end
        }
    }

    static ExecutorService own = Executors.newFixedThreadPool(4, r -> {
        Thread t = new Thread(r, "own-" + System.nanoTime() % 10);
        t.setDaemon(true);
        return t;
    });

    static int nested() throws Exception {
        Future<Integer> part = own.submit(() -> 1);
        try {
            return part.get(30, TimeUnit.MILLISECONDS); // waiter of starved
        } catch (TimeoutException e) {
            return 0;
        }
    }

    static ExecutorService front = pool("front", 4), back = pool("back", 2);

    static ExecutorService pool(String name, int threads) {
        AtomicInteger made = new AtomicInteger();
        return Executors.newFixedThreadPool(threads, r -> {
            Thread t = new Thread(r, name + "-" + made.incrementAndGet());
            t.setDaemon(true);
            return t;
        });
    }

    static int chained() throws Exception {
        back.submit(Lent::compute).get();
        return 1;
    }

    /** What one request has for itself, and what the others that want the same one wait for. */
    static class Row {
    }

    static volatile Row row = new Row();

    static void row() throws Exception {
        Row mine = row;
        synchronized (mine) { // waiter of crowd
            if (row == mine) {
                Thread.sleep(10);
                row = new Row();
            }
        }
    }

    /** Serves what it accepts between two selects. */
    static void loop(ServerSocketChannel open) throws Exception {
        Selector selector = Selector.open();
        open.configureBlocking(false).register(selector, SelectionKey.OP_ACCEPT);
        for (;;) {
            selector.select();
            for (SelectionKey key : selector.selectedKeys()) {
                if (key.isAcceptable())
                    open.accept().configureBlocking(false).register(selector, SelectionKey.OP_READ);
                else
                    handle((SocketChannel) key.channel());
            }
            selector.selectedKeys().clear();
        }
    }

    static void handle(SocketChannel client) throws Exception {
        ByteBuffer one = ByteBuffer.allocate(1);
        if (client.read(one) <= 0)
            return;
        ask(peer.get()); // caller in loop
        client.write(one.flip());
    }

    static ServerSocketChannel serving(String name) throws Exception {
        ServerSocketChannel open = ServerSocketChannel.open();
        open.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        daemon(name, () -> {
            try {
                loop(open);
            } catch (Exception e) {
                // the end
            }
        });
        return open;
    }

    public static void main(String[] args) throws Exception {
        until = System.nanoTime() + (long) (Double.parseDouble(args[1]) * 1e9);
        slow = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        daemon("accept", Lent::accept);
        Thread[] all;
        switch (args[0]) {
        case "input":
            all = start("asker", 12, Lent::input);
            break;
        case "permits":
            all = start("caller", 12, Lent::permit);
            break;
        case "queue":
            daemon("writer", Lent::drain);
            all = start("producer", 6, () -> queue.put(1)); // waiter of queue
            break;
        case "chain":
            all = start("client", 4, () -> front.submit(Lent::chained).get());
            break;
        case "loop":
            serving("loop-2"); // nobody asks it
            ServerSocketChannel busy = serving("loop-1");
            ThreadLocal<Socket> asked = ThreadLocal.withInitial(() -> {
                try {
                    return new Socket(InetAddress.getLoopbackAddress(), ((InetSocketAddress) busy.getLocalAddress()).getPort());
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            });
            all = start("client", 6, () -> ask(asked.get()));
            break;
        case "crowd":
            all = start("user", 12, Lent::row);
            break;
        case "starved":
            all = start("client", 8, () -> own.submit(Lent::nested).get());
            break;
        default: // nothing is waited for but work
            ExecutorService idle = Executors.newFixedThreadPool(4);
            ScheduledExecutorService giver = Executors.newScheduledThreadPool(1);
            giver.scheduleAtFixedRate(() -> idle.submit(() -> 1), 10, 20, TimeUnit.MILLISECONDS);
            TimeUnit.NANOSECONDS.sleep(until - System.nanoTime());
            giver.shutdown();
            idle.shutdown();
            all = new Thread[0];
        }
        System.out.println("ready");
        for (Thread t : all)
            t.join();
    }
}
