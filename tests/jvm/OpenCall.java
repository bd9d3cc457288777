import java.io.*;
import java.net.*;

/**
 * Threads in calls that do not return: "asker" has asked a server that never answers, "acceptor" waits for a connection.
 * Prints "server ADDRESS:PORT" and "ready", and ends when something is read: then the server answers.
 */
public final class OpenCall {
    public static void main(String[] args) throws Exception {
        ServerSocket server = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());
        ServerSocket nobody = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());
        Socket ours = new Socket(server.getInetAddress(), server.getLocalPort()), theirs = server.accept();
        Thread asker = Sync.start("asker", () -> {
            ours.getOutputStream().write(1);
            ours.getInputStream().read();
        });
        Sync.daemon("acceptor", nobody::accept);
        System.out.println("server " + server.getInetAddress().getHostAddress() + ":" + server.getLocalPort());
        System.out.println("ready");
        System.in.read();
        theirs.getOutputStream().write(1);
        asker.join();
    }
}
