/* Virtual threads that read from sockets (JDK 21 and later; by reflection, because the tests are compiled for 17):
 * "reader" reads a byte, and one that comes once it certainly waits; "parker" looks in vain for one, without blocking, and then parks
 * for something else. Prints "peer ADDRESS". */
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.concurrent.locks.LockSupport;

public class VirtualRead {
    static volatile boolean reads, over;

    static void waits(Thread t) throws InterruptedException {
        while (t.getState() != Thread.State.WAITING)
            Thread.sleep(1);
    }

    public static void main(String[] args) throws Exception {
        try (ServerSocket server = new ServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
            Thread reader = Virtual.thread("reader", () -> {
                try (Socket s = new Socket(server.getInetAddress(), server.getLocalPort())) {
                    InputStream in = s.getInputStream();
                    in.read();
                    reads = true;
                    in.read();
                }
            });
            reader.start();
            Socket made = server.accept();
            made.getOutputStream().write(1);
            while (!reads)
                Thread.sleep(1);
            waits(reader);
            Thread.sleep(20);
            made.getOutputStream().write(1);
            reader.join();
            System.out.println("peer 127.0.0.1:" + server.getLocalPort());
            SocketChannel channel = SocketChannel.open(new InetSocketAddress(server.getInetAddress(), server.getLocalPort()));
            server.accept();
            channel.configureBlocking(false);
            Thread parker = Virtual.thread("parker", () -> {
                channel.read(ByteBuffer.allocate(1));
                while (!over)
                    LockSupport.park();
            });
            parker.start();
            waits(parker);
            Thread.sleep(20);
            over = true;
            LockSupport.unpark(parker);
            parker.join();
        }
    }
}
