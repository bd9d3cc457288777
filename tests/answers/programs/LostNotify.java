package mail;

import common.Case;
import common.Case.Measure;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CountDownLatch;

/** Letters for one thread that sends them: it looks for one outside of the lock that it then waits with (or inside). */
public class LostNotify {
    public static void main(String[] args) throws Exception {
        Case it = Case.of(args);
        Measure measure = new Measure();
        Outbox outbox = new Outbox(it.planted());
        new Thread(() -> {
            for (;;) {
                long start = System.nanoTime();
                outbox.next();
                outbox.sent();
                measure.since(start);
            }
        }, "sender").start();
        new Thread(() -> {
            for (int i = 0; ; i++) {
                outbox.put("letter " + i);
                outbox.awaitSent(i + 1);
            }
        }, "writer").start();
        new CountDownLatch(1).await();
    }
}

class Outbox {
    private final Deque<String> letters = new ArrayDeque<>();
    private final boolean early;
    private long sent;

    Outbox(boolean early) {
        this.early = early;
    }

    String next() {
        boolean none = isEmpty();
        if (early && none) {
            look();
            await();
        }
        synchronized (letters) {
            while (letters.isEmpty()) waitFor(letters);
            return letters.remove();
        }
    }

    private void await() {
        synchronized (letters) {
            waitFor(letters);
        }
    }

    private void waitFor(Object what) {
        try {
            what.wait(); // waiter
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean isEmpty() {
        synchronized (letters) {
            return letters.isEmpty();
        }
    }

    private void look() {
        long until = System.nanoTime() + 200_000;
        while (System.nanoTime() < until) Thread.onSpinWait();
    }

    void put(String letter) {
        synchronized (letters) {
            letters.add(letter);
            letters.notify();
        }
    }

    void sent() {
        synchronized (this) {
            sent++;
            notifyAll();
        }
    }

    void awaitSent(long count) {
        synchronized (this) {
            while (sent < count) waitFor(this);
        }
    }
}
