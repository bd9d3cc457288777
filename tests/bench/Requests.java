/**
 * What the clients of a server see of orca attach.
 *
 * <pre>java Requests PORT CONNECTIONS PAUSE_MS PATH...</pre>
 *
 * <p>On each connection asks 127.0.0.1:PORT for the paths in turn, and waits PAUSE_MS after each
 * answer. Prints "ready" after ten seconds, which warm up the server. For each line on its standard input
 * prints the longest time, in ms, that one answer took of those that came since the line before, and
 * how many these were. An answer other than 200 ends it.
 */
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

public final class Requests {
    private static final int WARM_UP_MS = 10_000;
    private static final int TURNS = 25;

    private static long longest;
    private static long answers;

    /** The longest time is looked at by all threads, seldom enough. */
    private static synchronized void note(long ns) {
        longest = Math.max(longest, ns);
        answers++;
    }

    private static synchronized String line() {
        String text = String.format(Locale.ROOT, "%.3f %d", longest / 1e6, answers);
        longest = 0;
        answers = 0;
        return text;
    }

    private static final class Connection extends Thread {
        private final byte[] buffer = new byte[1 << 16];
        private final int port;
        private final int pauseMs;
        private final byte[][] requests;

        Connection(int port, int pauseMs, byte[][] requests) {
            this.port = port;
            this.pauseMs = pauseMs;
            this.requests = requests;
            setDaemon(true);
        }

        /** Where the answer in the buffer ends, or -1: by its length, or by its last chunk. */
        private static int end(String answer) {
            int body = answer.indexOf("\r\n\r\n") + 4;
            if (body < 4)
                return -1;
            if (!answer.startsWith("HTTP/1.1 200"))
                throw new IllegalStateException(answer.substring(0, answer.indexOf('\r')));
            String head = answer.substring(0, body).toLowerCase(Locale.ROOT);
            int at = head.indexOf("content-length: ");
            if (at < 0)
                return answer.endsWith("\r\n0\r\n\r\n") ? answer.length() : -1;
            at += "content-length: ".length();
            return body + Integer.parseInt(head.substring(at, head.indexOf('\r', at)));
        }

        private void receive(InputStream in) throws IOException {
            int have = 0;
            for (;;) {
                int n = in.read(buffer, have, buffer.length - have);
                if (n < 0)
                    throw new IOException("the server closed the connection");
                have += n;
                int end = end(new String(buffer, 0, have, StandardCharsets.ISO_8859_1));
                if (end >= 0 && end <= have)
                    return;
            }
        }

        /** Fewer requests than servers allow on one connection. */
        private void talk(InputStream in, OutputStream out)
                throws IOException, InterruptedException {
            for (int i = 0; i < TURNS * requests.length; i++) {
                long began = System.nanoTime();
                out.write(requests[i % requests.length]);
                receive(in);
                note(System.nanoTime() - began);
                Thread.sleep(pauseMs);
            }
        }

        @Override
        public void run() {
            try {
                for (;;)
                    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
                        socket.setTcpNoDelay(true);
                        talk(socket.getInputStream(), socket.getOutputStream());
                    }
            } catch (IOException | InterruptedException | RuntimeException e) {
                System.err.println("Requests: " + e);
                System.exit(1);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        byte[][] requests = new byte[args.length - 3][];
        for (int i = 0; i < requests.length; i++)
            requests[i] = ("GET " + args[i + 3] + " HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                    .getBytes(StandardCharsets.ISO_8859_1);
        for (int i = Integer.parseInt(args[1]); i > 0; i--)
            new Connection(Integer.parseInt(args[0]), Integer.parseInt(args[2]), requests).start();
        Thread.sleep(WARM_UP_MS);
        System.out.println("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        while (in.readLine() != null)
            System.out.println(line());
    }
}
