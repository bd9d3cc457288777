package seats;

import common.Case;
import common.Web;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.ReentrantLock;

/** Seats that are given out one by one under a fair lock, some thousand times for each request (or counted without one). */
public class FairConvoy {
    public static void main(String[] args) throws Exception {
        Case it = Case.of(args);
        SeatMap seats = new SeatMap(it.planted(), it.strength(3_000, 1_500));
        Reviews reviews = new Reviews();
        new Web(it.folder())
                .on("/book", q -> "row " + seats.book(q.getParameter("show")))
                .on("/review", q -> "stars " + reviews.stars(q.getParameter("show")))
                .start();
    }
}

class SeatMap {
    private final ReentrantLock lock = new ReentrantLock(true);
    private final int[] taken = new int[512];
    private final AtomicIntegerArray counted = new AtomicIntegerArray(512);
    private final boolean fair;
    private final int looks;

    SeatMap(boolean fair, int looks) {
        this.fair = fair;
        this.looks = looks;
    }

    int book(String show) {
        int best = 0;
        for (int i = 0; i < looks; i++) best = Math.max(best, fair ? take(show, i) : count(show, i));
        return best;
    }

    private int take(String show, int i) {
        lock.lock(); // waiter
        try {
            return seat(show, i); // holder
        } finally {
            lock.unlock();
        }
    }

    private int seat(String show, int i) {
        int row = show.length(); // holder
        for (int k = 0; k < 60; k++) row = row * 31 + k; // holder
        return ++taken[(row ^ i) & 511]; // holder
    }

    private int count(String show, int i) {
        return counted.incrementAndGet((show.hashCode() ^ i) & 511);
    }
}

/** A lock that many want, each for a moment: no harm. */
class Reviews {
    private int stars;

    synchronized int stars(String show) {
        for (int i = 0; i < 20_000; i++) stars = stars * 31 + show.charAt(i % show.length());
        return stars & 7;
    }
}
