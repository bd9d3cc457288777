import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/* A thread asks the other end of a connection 20 times for a byte that comes 20 ms later each. */
public class Reads {
    static final int TIMES = 20;

    static void answer(ServerSocket server) {
        try (Socket s = server.accept()) {
            while (s.getInputStream().read() >= 0) {
                Thread.sleep(20);
                s.getOutputStream().write(1);
            }
        } catch (Exception e) {
            throw new RuntimeException(e);
        }
    }

    static void ask(int port) {
        try (Socket s = new Socket(InetAddress.getLoopbackAddress(), port)) {
            InputStream in = s.getInputStream();
            for (int i = 0; i < TIMES; i++) {
                s.getOutputStream().write(1);
                in.read();
            }
        } catch (Exception e) {
            throw new RuntimeException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Thread answers = new Thread(() -> answer(server), "answers");
            Thread asks = new Thread(() -> ask(server.getLocalPort()), "asks");
            answers.start();
            asks.start();
            asks.join();
            answers.join();
        }
    }
}
