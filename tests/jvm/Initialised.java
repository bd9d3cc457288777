import java.io.*;
import java.net.*;

/**
 * Eight threads "request-0" to "request-7" need the class Table at once: one runs its static initialiser, Table.load, for
 * 1.5 s, the others wait for that in Initialised.rate, of which HotSpot reports nothing. Then each sleeps.
 *
 *   input   the initialiser reads from a socket to which nothing comes before
 *   sleep   it sleeps
 */
public final class Initialised {
    static final int THREADS = 8, MS = 1500;
    static String how;
    static ServerSocket server;

    static final class Table {
        static final double[] RATES = load();

        private static double[] load() {
            try {
                if (how.equals("sleep"))
                    Thread.sleep(MS);
                else
                    read();
            } catch (IOException | InterruptedException e) {
                throw new IllegalStateException(e);
            }
            return new double[THREADS];
        }

        private static void read() throws IOException {
            try (Socket s = new Socket(server.getInetAddress(), server.getLocalPort())) {
                s.getInputStream().read();
            }
        }
    }

    static double rate(int i) {
        return Table.RATES[i];
    }

    static void answer() {
        try (Socket s = server.accept()) {
            Thread.sleep(MS);
            s.getOutputStream().write(1);
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        how = args[0];
        server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        Thread peer = new Thread(Initialised::answer, "peer");
        peer.setDaemon(true);
        peer.start();
        Thread[] all = new Thread[THREADS];
        for (int i = 0; i < THREADS; i++) {
            int mine = i;
            all[i] = new Thread(() -> {
                try {
                    Thread.sleep(20 + (long) rate(mine));
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }, "request-" + i);
            all[i].start();
        }
        for (Thread t : all)
            t.join();
    }
}
