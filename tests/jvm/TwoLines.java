import java.io.IOException;
import java.net.*;
import java.util.concurrent.*;

/**
 * Four workers share two connections to a server that takes 50 ms for an answer: they wait for a connection or for the
 * server. TwoLines ROUNDS: this number of questions of each. Prints "server ADDRESS:PORT".
 */
public final class TwoLines {
    /** Fair: whoever puts one back cannot take it before a worker that waits, however slow that is to come. */
    static final BlockingQueue<Socket> LINES = new ArrayBlockingQueue<>(2, true);

    static void serve(Socket s) {
        try {
            for (int c; (c = s.getInputStream().read()) >= 0;) {
                Thread.sleep(50);
                s.getOutputStream().write(c);
            }
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static int ask(Socket line) throws IOException {
        line.getOutputStream().write(1);
        return line.getInputStream().read();
    }

    static void work(int rounds) {
        try {
            for (int i = 0; i < rounds; i++) {
                Socket line = LINES.take();
                ask(line);
                LINES.put(line);
            }
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        int rounds = Integer.parseInt(args[0]);
        ServerSocket server = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());
        System.out.println("server " + server.getInetAddress().getHostAddress() + ":" + server.getLocalPort());
        for (int i = 0; i < 2; i++) {
            LINES.add(new Socket(server.getInetAddress(), server.getLocalPort()));
            Socket s = server.accept();
            Thread t = new Thread(() -> serve(s), "server-" + i);
            t.setDaemon(true);
            t.start();
        }
        Thread[] workers = new Thread[4];
        for (int i = 0; i < workers.length; i++) {
            workers[i] = new Thread(() -> work(rounds), "worker-" + i);
            workers[i].start();
        }
        for (Thread t : workers)
            t.join();
    }
}
