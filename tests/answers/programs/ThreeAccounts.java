package ledger;

import com.google.common.util.concurrent.Striped;
import common.Case;
import common.Case.Measure;
import java.util.List;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;

/** Transfers between three accounts whose locks are taken in the order of each transfer (or in one order for all). */
public class ThreeAccounts {
    public static void main(String[] args) throws Exception {
        Case it = Case.of(args);
        Measure measure = new Measure();
        Ledger ledger = new Ledger(it.planted(), it.strength(40, 10));
        Statistics statistics = new Statistics();
        String[][] routes = {{"rent", "food"}, {"food", "fuel"}, {"fuel", "rent"}};
        for (String[] route : routes) {
            new Thread(() -> {
                for (;;) {
                    long start = System.nanoTime();
                    ledger.transfer(route[0], route[1], 5);
                    measure.since(start);
                }
            }, "transfer-" + route[0]).start();
        }
        for (int i = 0; i < 4; i++) {
            new Thread(() -> {
                for (;;) statistics.update();
            }, "statistics-" + i).start();
        }
        new CountDownLatch(1).await();
    }
}

class Ledger {
    private final Striped<Lock> locks = Striped.lock(1024);
    private final boolean anyOrder;
    private final int risk;

    Ledger(boolean anyOrder, int risk) {
        this.anyOrder = anyOrder;
        this.risk = risk;
    }

    void transfer(String from, String to, int cents) {
        if (anyOrder) {
            Lock first = locks.get(from);
            first.lock();
            try {
                pause(ThreadLocalRandom.current().nextInt(100) < risk ? 20 : 1);
                Lock second = locks.get(to);
                second.lock(); // waiter
                try {
                    book(from, to, cents);
                } finally {
                    second.unlock();
                }
            } finally {
                first.unlock();
            }
        } else {
            Iterable<Lock> both = locks.bulkGet(List.of(from, to));
            both.forEach(Lock::lock);
            book(from, to, cents);
            both.forEach(Lock::unlock);
        }
    }

    private void book(String from, String to, int cents) {
        int hash = from.hashCode() ^ to.hashCode();
        for (int i = 0; i < cents * 1_000; i++) hash = hash * 31 + i;
        if (hash == 1) throw new IllegalStateException("no money");
        pause(1);
    }

    private static void pause(int ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}

/** A lock that many want, each for a moment: no harm. */
class Statistics {
    private int updates;

    void update() {
        synchronized (this) {
            for (int i = 0; i < 20_000; i++) updates = updates * 31 + i;
        }
        try {
            Thread.sleep(3);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
