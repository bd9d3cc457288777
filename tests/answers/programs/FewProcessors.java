package risk;

import common.Case;
import common.Web;
import java.util.HashMap;
import java.util.Map;

/** A server on one processor whose requests compute some milliseconds each (or look up what was computed). */
public class FewProcessors {
    public static void main(String[] args) throws Exception {
        Case it = Case.of(args);
        Valuation valuation = new Valuation(it.planted());
        Hits hits = new Hits();
        new Web(it.folder())
                .on("/value", q -> valuation.of(q.getParameter("portfolio")))
                .on("/hit", q -> hits.count(q.getParameter("page")))
                .start();
    }
}

class Valuation {
    private final boolean always;
    private final Map<String, Double> known = new java.util.concurrent.ConcurrentHashMap<>();

    Valuation(boolean always) {
        this.always = always;
    }

    String of(String portfolio) {
        double value = always ? compute(portfolio) : known.computeIfAbsent(portfolio, this::compute);
        return portfolio + " " + value;
    }

    private double compute(String portfolio) {
        double value = portfolio.hashCode();
        for (int i = 0; i < 1_000_000; i++) value = Math.sqrt(value * value + i);
        return value;
    }
}

/** A lock that many want, each for a moment: no harm. */
class Hits {
    private final Map<String, Integer> count = new HashMap<>();

    synchronized String count(String page) {
        return page + " " + count.merge(page, 1, Integer::sum);
    }
}
