package tracking;

import common.Case;
import common.Web;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;

/** Clicks that requests put into a bounded queue and one thread packs, each by itself and as small as can be (or many at once). */
public class SlowConsumer {
    public static void main(String[] args) throws Exception {
        Case it = Case.of(args);
        Clicks clicks = new Clicks();
        Packer packer = new Packer(clicks, it.planted() ? it.strength(250, 150) : 0);
        Thread thread = new Thread(packer, "packer");
        thread.setDaemon(true);
        thread.start();
        housekeeping();
        new Web(it.folder()).on("/click", q -> clicks.accept(q.getParameter("page"))).start();
    }

    /** A pool that is busy now and then, and has nothing to do else: no harm. */
    private static void housekeeping() {
        ScheduledThreadPoolExecutor pool = new ScheduledThreadPoolExecutor(6, task -> {
            Thread thread = new Thread(task, "housekeeping");
            thread.setDaemon(true);
            return thread;
        });
        for (int i = 0; i < 6; i++) pool.scheduleAtFixedRate(() -> { }, i, 15, TimeUnit.MILLISECONDS);
    }
}

class Clicks {
    private final BlockingQueue<String> queue = new ArrayBlockingQueue<>(50);

    String accept(String page) throws InterruptedException {
        queue.put(page + " at " + System.nanoTime()); // waiter
        return "accepted";
    }

    String next() throws InterruptedException {
        return queue.take();
    }
}

class Packer implements Runnable {
    private final Clicks clicks;
    private final int copies;
    private final StringBuilder batch = new StringBuilder();
    private long packed;

    Packer(Clicks clicks, int copies) {
        this.clicks = clicks;
        this.copies = copies;
    }

    @Override
    public void run() {
        try {
            for (;;) {
                String click = clicks.next();
                if (copies > 0) {
                    packed += pack((click + ";").repeat(copies * 200));
                } else if (batch.append(click).append(';').length() > 8_000) {
                    packed += pack(batch.toString());
                    batch.setLength(0);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private int pack(String text) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (var out = new DeflaterOutputStream(bytes, new Deflater(Deflater.BEST_COMPRESSION))) {
            out.write(text.getBytes(StandardCharsets.UTF_8)); // holder
        } catch (IOException e) { // holder
            throw new UncheckedIOException(e);
        }
        return bytes.size();
    }
}
