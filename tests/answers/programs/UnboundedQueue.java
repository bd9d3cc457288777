package thumbs;

import common.Case;
import common.Web;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;

/** Pictures that requests wait for and two threads of a pool with an unbounded queue fetch from another server (or forty threads). */
public class UnboundedQueue {
    public static void main(String[] args) throws Exception {
        Case it = Case.of(args);
        ExecutorService pool = Executors.newFixedThreadPool(it.planted() ? 2 : 40, named("thumb"));
        Thumbnails thumbnails = new Thumbnails(pool, new Store(it.peer()));
        Likes likes = new Likes();
        new Web(it.folder())
                .on("/thumb", q -> thumbnails.of(q.getParameter("picture")))
                .on("/like", q -> "likes " + likes.add(q.getParameter("picture")))
                .start();
    }

    private static ThreadFactory named(String name) {
        AtomicInteger count = new AtomicInteger();
        return task -> new Thread(task, name + "-" + count.incrementAndGet());
    }
}

class Thumbnails {
    private final ExecutorService pool;
    private final Store store;

    Thumbnails(ExecutorService pool, Store store) {
        this.pool = pool;
        this.store = store;
    }

    String of(String picture) throws ExecutionException, InterruptedException {
        return pool.submit(() -> store.fetch(picture)).get(); // waiter
    }
}

class Store {
    private final int port;

    Store(int port) {
        this.port = port;
    }

    String fetch(String picture) throws java.io.IOException {
        var url = java.net.URI.create("http://127.0.0.1:" + port + "/?ms=40&picture=" + picture).toURL();
        var connection = (java.net.HttpURLConnection) url.openConnection();
        connection.setReadTimeout(10_000);
        if (connection.getResponseCode() != 200) throw new java.io.IOException("no picture " + picture); // holder
        try (var body = connection.getInputStream()) {
            return picture + new String(body.readAllBytes()).strip();
        }
    }
}

/** A lock that many want, each for a moment: no harm. */
class Likes {
    private int likes;

    synchronized int add(String picture) {
        for (int i = 0; i < 20_000; i++) likes = likes * 31 + picture.charAt(i % picture.length());
        return likes & 0xff;
    }
}
