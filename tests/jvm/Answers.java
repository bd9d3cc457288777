import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

/**
 * A thread called asker waits for 30 answers that another thread reads for it from the program's own server; then for a
 * child process. Prints the server's address.
 */
public class Answers {
    static final int ASKED = 30;

    static void ask(String server) {
        try {
            HttpClient client = HttpClient.newHttpClient();
            HttpRequest request = HttpRequest.newBuilder(URI.create("http://" + server + "/")).build();
            for (int i = 0; i < ASKED; i++)
                client.send(request, HttpResponse.BodyHandlers.ofString());
            new ProcessBuilder("sleep", "0.2").start().waitFor();
        } catch (Exception e) {
            throw new RuntimeException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 10);
        server.createContext("/", exchange -> {
            try {
                Thread.sleep(20);
            } catch (InterruptedException e) {
                throw new RuntimeException(e);
            }
            exchange.sendResponseHeaders(204, -1);
            exchange.close();
        });
        server.start();
        String address = "127.0.0.1:" + server.getAddress().getPort();
        System.out.println("server " + address);
        Thread asker = new Thread(() -> ask(address), "asker");
        asker.start();
        asker.join();
        server.stop(0);
    }
}
