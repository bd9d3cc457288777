import java.io.*;
import java.lang.reflect.Method;
import java.net.*;
import java.nio.ByteBuffer;
import java.nio.channels.*;
import java.nio.file.*;
import java.util.concurrent.*;

/**
 * InOut platform|virtual: waits in input and output of a known kind, peer and least length, each in a thread that
 * is called after it, one after the other.  Says "ready", reads a line, does them, and for each prints
 * "did THREAD KIND PEER LEAST MOST": ns that the wait took at least, and the call around it at most.
 * Then reads another line, and ends.
 */
public final class InOut {
    static final long LEAST = 60_000_000; // what the other end lets pass
    static boolean virtual;
    static Thread current;

    interface Call {
        /** Waits, and says for what. */
        String run() throws Exception;
    }

    static void pass() throws InterruptedException {
        Thread.sleep(LEAST / 1_000_000 + 1);
    }

    static Thread start(String name, Runnable r) throws Exception {
        Thread t;
        if (virtual) {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            Class<?> type = Class.forName("java.lang.Thread$Builder");
            builder = type.getMethod("name", String.class).invoke(builder, name);
            t = (Thread)type.getMethod("unstarted", Runnable.class).invoke(builder, r);
        } else {
            t = new Thread(r, name);
        }
        t.start();
        return t;
    }

    /** Until a thread is parked, or has been found in one and the same native method for a while. */
    static void waits(Thread t) throws InterruptedException {
        StackTraceElement before = null;
        for (int same = 0; same < 5; Thread.sleep(2)) {
            StackTraceElement[] now = t.getStackTrace();
            boolean waits = t.getState() == Thread.State.WAITING || (now.length > 0 && now[0].isNativeMethod());
            same = waits && now.length > 0 && now[0].equals(before) ? same + 1 : 0;
            before = now.length > 0 ? now[0] : null;
        }
    }

    /** Runs a call in a thread of its own; what stands in its way happens later, in this one. */
    static void does(String name, String kind, long least, Call call, Call later) throws Exception {
        String[] said = new String[1];
        Thread t = start(name, () -> {
            try {
                long from = System.nanoTime();
                String peer = call.run();
                said[0] = "did " + name + " " + kind + " " + peer.replace(' ', '_') + " " + least + " " +
                          (System.nanoTime() - from);
            } catch (Exception e) {
                said[0] = "failed " + name + " " + e;
            }
        });
        current = t;
        if (later != null) {
            waits(t);
            pass();
            later.run();
        }
        t.join();
        System.out.println(said[0]);
    }

    static String name(SocketAddress a) {
        InetSocketAddress i = (InetSocketAddress)a;
        return i.getAddress().getHostAddress() + ":" + i.getPort();
    }

    static final InetAddress HERE = InetAddress.getLoopbackAddress();

    static void sockets() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, HERE)) {
            Socket[] made = new Socket[1];
            does("accepter", "accept", LEAST, () -> {
                made[0] = server.accept();
                return "listening " + name(server.getLocalSocketAddress());
            }, () -> {
                new Socket(HERE, server.getLocalPort());
                return null;
            });
            Socket own = new Socket(HERE, server.getLocalPort());
            Socket other = server.accept();
            does("reader", "input", LEAST, () -> {
                own.getInputStream().read();
                return name(server.getLocalSocketAddress());
            }, () -> {
                other.getOutputStream().write(1);
                return null;
            });
            does("served", "input", LEAST, () -> {
                other.getInputStream().read();
                return "client " + HERE.getHostAddress();
            }, () -> {
                own.getOutputStream().write(1);
                return null;
            });
            does("writer", "output", LEAST, () -> {
                own.getOutputStream().write(new byte[12 << 20]);
                return name(server.getLocalSocketAddress());
            }, () -> {
                other.getInputStream().readNBytes(12 << 20);
                return null;
            });
            // Nobody takes what the queue holds, so the last one is not answered.
            Socket[] queue = new Socket[8];
            does("connecter", "connect", LEAST, () -> {
                try {
                    for (int i = 0; i < queue.length; i++) {
                        queue[i] = new Socket();
                        queue[i].connect(server.getLocalSocketAddress(), 5 * (int)(LEAST / 1_000_000));
                    }
                } catch (SocketTimeoutException e) {
                    return name(server.getLocalSocketAddress());
                }
                return "nobody";
            }, null);
        }
    }

    static void channels() throws Exception {
        try (ServerSocketChannel server = ServerSocketChannel.open()) {
            server.bind(new InetSocketAddress(HERE, 0));
            SocketChannel own = SocketChannel.open(server.getLocalAddress());
            SocketChannel other = server.accept();
            does("channel", "input", LEAST, () -> {
                own.read(ByteBuffer.allocate(8));
                return name(server.getLocalAddress());
            }, () -> {
                other.write(ByteBuffer.wrap(new byte[1]));
                return null;
            });
            own.configureBlocking(false);
            Selector selector = Selector.open();
            own.register(selector, SelectionKey.OP_READ);
            if (!virtual)
                does("selecter", "select", LEAST, () -> {
                    selector.select();
                    return "?";
                }, () -> {
                    other.write(ByteBuffer.wrap(new byte[1]));
                    return null;
                });
        }
        Path path = Path.of("in.sock").toAbsolutePath();
        Files.deleteIfExists(path);
        try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            server.bind(UnixDomainSocketAddress.of(path));
            SocketChannel own = SocketChannel.open(UnixDomainSocketAddress.of(path));
            SocketChannel other = server.accept();
            does("unix", "input", LEAST, () -> {
                own.read(ByteBuffer.allocate(8));
                return path.toString();
            }, () -> {
                other.write(ByteBuffer.wrap(new byte[1]));
                return null;
            });
        }
        try (DatagramSocket own = new DatagramSocket(0, HERE); DatagramSocket other = new DatagramSocket()) {
            does("datagram", "input", LEAST, () -> {
                own.receive(new DatagramPacket(new byte[8], 8));
                return "local " + name(own.getLocalSocketAddress());
            }, () -> {
                other.send(new DatagramPacket(new byte[1], 1, HERE, own.getLocalPort()));
                return null;
            });
        }
        AsynchronousServerSocketChannel server = AsynchronousServerSocketChannel.open().bind(new InetSocketAddress(HERE, 0));
        Future<AsynchronousSocketChannel> accepted = server.accept();
        Socket client = new Socket(HERE, ((InetSocketAddress)server.getLocalAddress()).getPort());
        AsynchronousSocketChannel own = accepted.get();
        does("async", "park", LEAST, () -> {
            own.read(ByteBuffer.allocate(8)).get();
            return "?"; // its channel group's thread is in a select
        }, () -> {
            client.getOutputStream().write(1);
            return null;
        });
    }

    static void files() throws Exception {
        Path file = Path.of("out.bin").toAbsolutePath();
        does("syncer", "sync", 0, () -> {
            try (FileChannel c = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
                c.write(ByteBuffer.allocate(4 << 20));
                c.force(true);
            }
            return file.toString();
        }, null);
        // One byte each: of megabytes the time to copy them is not a wait (is_long of agent/on_io.c), and it may take all of the call.
        does("streamer", "output", 0, () -> {
            try (FileOutputStream out = new FileOutputStream(file.toFile())) {
                out.write(1);
            }
            return file.toString();
        }, null);
        does("loader", "input", 0, () -> {
            try (RandomAccessFile in = new RandomAccessFile(file.toFile(), "r")) {
                in.readFully(new byte[1]);
            }
            return file.toString();
        }, null);
        does("namer", "lookup", 0, () -> {
            InetAddress.getByName("localhost");
            return "localhost";
        }, null);
        Process[] child = new Process[1];
        does("piper", "input", LEAST, () -> {
            child[0] = new ProcessBuilder("cat").start();
            begun.countDown();
            child[0].getInputStream().read();
            return "pipe";
        }, () -> {
            begun.await();
            waits(current);
            pass();
            child[0].getOutputStream().write(1);
            child[0].getOutputStream().close();
            return null;
        });
        child[0].waitFor();
        System.out.println("child process_cat");
    }

    static final CountDownLatch begun = new CountDownLatch(1);

    public static void main(String[] args) throws Exception {
        virtual = args[0].equals("virtual");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready");
        in.readLine();
        sockets();
        channels();
        files();
        System.out.println("done");
        in.readLine(); // so that a recording can end first
    }
}
