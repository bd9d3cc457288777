package geo;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import common.Case;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;

/** A server on virtual threads that lets three at a time ask another one (or three hundred). */
public class VirtualPermits {
    public static void main(String[] args) throws Exception {
        Case it = Case.of(args);
        Locations locations = new Locations(it.peer(), new Semaphore(it.planted() ? 3 : 300));
        Hits hits = new Hits();
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/where", e -> answer(e, locations.of("museum")));
        server.createContext("/hit", e -> answer(e, hits.count("museum")));
        server.start();
        System.out.println("ready " + server.getAddress().getPort());
        new CountDownLatch(1).await();
    }

    private static void answer(HttpExchange exchange, String text) throws IOException {
        exchange.sendResponseHeaders(200, text.length());
        try (var body = exchange.getResponseBody()) {
            body.write(text.getBytes());
        }
    }
}

class Locations {
    private final int port;
    private final Semaphore permits;

    Locations(int port, Semaphore permits) {
        this.port = port;
        this.permits = permits;
    }

    String of(String name) throws IOException {
        permits.acquireUninterruptibly(); // waiter
        try {
            return ask(name);
        } finally {
            permits.release();
        }
    }

    private String ask(String name) throws IOException {
        var url = URI.create("http://127.0.0.1:" + port + "/?ms=60&name=" + name).toURL();
        HttpURLConnection connection = (HttpURLConnection) url.openConnection();
        if (connection.getResponseCode() != 200) throw new IOException("nowhere: " + name); // holder
        try (var body = connection.getInputStream()) {
            return name + " at " + new String(body.readAllBytes()).strip();
        }
    }
}

/** A lock that many want, each for a moment: no harm. */
class Hits {
    private int hits;

    synchronized String count(String name) {
        for (int i = 0; i < 20_000; i++) hits = hits * 31 + name.charAt(i % name.length());
        return "hits " + hits;
    }
}
