package fx;

import common.Case;
import common.Web;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;

/** Quotes that are computed for each request while a lock is held (or once for each pair of currencies). */
public class HotService {
    public static void main(String[] args) throws Exception {
        Case it = Case.of(args);
        QuoteService quotes = new QuoteService(it.strength(160_000, 110_000));
        Journal journal = new Journal();
        boolean each = it.planted();
        quotes.known("EURUSD");
        new Web(it.folder())
                .on("/quote", q -> "quote " + (each ? quotes.quote(q.getParameter("pair")) : quotes.known(q.getParameter("pair"))))
                .on("/note", q -> journal.note(q.getParameter("text")))
                .start();
    }
}

class QuoteService {
    private final int paths;
    private final double[] spread = {0.9, 1.1, 1.05, 0.97};
    private final ConcurrentHashMap<String, Double> known = new ConcurrentHashMap<>();

    QuoteService(int paths) {
        this.paths = paths;
    }

    synchronized double quote(String pair) {
        double rate = 1 + pair.hashCode() % 7;
        double sum = 0;
        for (int path = 0; path < paths; path++) { // holder
            double step = Math.sin(rate + path * 1e-4); // holder
            sum += Math.exp(step / 3) * spread[path & 3]; // holder
        }
        return sum / paths; // holder
    }

    double known(String pair) {
        return known.computeIfAbsent(pair, this::quote);
    }
}

/** A lock that many want, each for a moment: no harm. */
class Journal {
    private final List<String> notes = new ArrayList<>();

    synchronized String note(String text) {
        long hash = 0;
        for (int i = 0; i < 20_000; i++) hash = hash * 31 + text.charAt(i % text.length());
        if (notes.size() > 1_000) notes.clear();
        notes.add(text + hash);
        return "noted " + notes.size();
    }
}
