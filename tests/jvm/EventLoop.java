/* A server of selectors, as frameworks have one, and its clients: EventLoop platform|virtual [stopped]
 *
 * "loop" waits in a select for requests, each of which it answers after a moment of computing; "acceptor" waits for
 * connections, "pipe" for a byte that comes at the end.  Three clients, threads or virtual ones, each ask 40 times: the next
 * request follows when "worker", which computes all the time, has done a part of its work: so that the loop has hardly anything
 * to do, whatever the machine is.
 * stopped: prints "ready" when all of them are there, and goes on until it is killed. */
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;

public class EventLoop {
    static final int CLIENTS = 3, REQUESTS = 40;
    static final ConcurrentLinkedQueue<SocketChannel> accepted = new ConcurrentLinkedQueue<>();
    static volatile long done, sink;
    static volatile boolean over;
    static Selector selector;

    static long compute(int rounds) {
        long seed = sink;
        for (int i = 0; i < rounds; i++)
            seed = seed * 1103515245 + 12345 ^ seed >> 7;
        return sink = seed;
    }

    static void work() {
        for (; !over; done++)
            compute(1_000_000);
    }

    static void accept(ServerSocketChannel server) {
        try {
            for (;;) {
                accepted.add(server.accept());
                selector.wakeup();
            }
        } catch (Exception e) { /* closed */
        }
    }

    static void serve(SocketChannel c) throws Exception {
        ByteBuffer b = ByteBuffer.allocate(16);
        if (c.read(b) < 0) {
            c.close();
            return;
        }
        compute(100_000);
        c.write(b.flip());
    }

    static void loop() {
        try {
            while (!over) {
                selector.select();
                for (SocketChannel c; (c = accepted.poll()) != null;) {
                    c.configureBlocking(false);
                    c.register(selector, SelectionKey.OP_READ);
                }
                for (SelectionKey k : selector.selectedKeys())
                    serve((SocketChannel)k.channel());
                selector.selectedKeys().clear();
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    static void readPipe(Pipe p) {
        try (InputStream in = Channels.newInputStream(p.source())) {
            in.read();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    static void ask(int port, boolean endless) {
        try (Socket s = new Socket(InetAddress.getLoopbackAddress(), port)) {
            InputStream in = s.getInputStream();
            OutputStream out = s.getOutputStream();
            for (int i = 0; endless || i < REQUESTS; i++) {
                out.write(1);
                if (in.read() != 1)
                    throw new IllegalStateException("no answer");
                for (long until = done + 2; done < until;)
                    Thread.sleep(5);
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    static Thread start(String name, Runnable r) {
        Thread t = new Thread(r, name);
        t.start();
        return t;
    }

    /* By reflection: this is compiled for 17, too. */
    static Thread startVirtual(Runnable r) throws Exception {
        return (Thread)Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, r);
    }

    public static void main(String[] args) throws Exception {
        boolean endless = args.length > 1;
        List<Thread> clients = new ArrayList<>();
        Pipe pipe = Pipe.open();
        selector = Selector.open();
        ServerSocketChannel server = ServerSocketChannel.open();
        server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        int port = ((InetSocketAddress)server.getLocalAddress()).getPort();
        Thread loop = start("loop", EventLoop::loop);
        Thread acceptor = start("acceptor", () -> accept(server));
        Thread reader = start("pipe", () -> readPipe(pipe));
        Thread worker = start("worker", EventLoop::work);
        for (int i = 0; i < CLIENTS; i++) {
            Runnable r = () -> ask(port, endless);
            clients.add(args[0].equals("virtual") ? startVirtual(r) : start("client-" + i, r));
        }
        if (endless)
            System.out.println("ready");
        for (Thread t : clients)
            t.join();
        over = true;
        selector.wakeup();
        worker.join();
        loop.join();
        server.close();
        acceptor.join();
        pipe.sink().write(ByteBuffer.wrap(new byte[] {1}));
        reader.join();
    }
}
