package reports;

import common.Case;
import common.Web;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

/** Reports whose parts are tasks of the same executor as the reports that wait for them (or of another one). */
public class NestedSubmit {
    public static void main(String[] args) throws Exception {
        Case it = Case.of(args);
        ThreadPoolTaskExecutor reports = executor("report-", 8);
        ThreadPoolTaskExecutor parts = it.planted() ? reports : executor("part-", 8);
        ReportService service = new ReportService(reports, parts, it.strength(3_000, 300));
        Visits visits = new Visits();
        new Web(it.folder())
                .on("/report", q -> "lines " + service.report(q.getParameter("month")))
                .on("/visit", q -> "visit " + visits.count(q.getParameter("page")))
                .start();
    }

    private static ThreadPoolTaskExecutor executor(String prefix, int threads) {
        ThreadPoolTaskExecutor executor = new ThreadPoolTaskExecutor();
        executor.setThreadNamePrefix(prefix);
        executor.setCorePoolSize(threads);
        executor.setMaxPoolSize(threads);
        executor.initialize();
        return executor;
    }
}

class ReportService {
    private final ThreadPoolTaskExecutor reports;
    private final ThreadPoolTaskExecutor parts;
    private final int patienceMs;

    ReportService(ThreadPoolTaskExecutor reports, ThreadPoolTaskExecutor parts, int patienceMs) {
        this.reports = reports;
        this.parts = parts;
        this.patienceMs = patienceMs;
    }

    int report(String month) throws ExecutionException, InterruptedException {
        return reports.submit(() -> assemble(month)).get();
    }

    private int assemble(String month) throws InterruptedException, ExecutionException {
        List<Future<Integer>> waited = new ArrayList<>();
        for (int part = 0; part < 3; part++) {
            String title = month + "/" + part;
            waited.add(parts.submit(() -> lines(title)));
        }
        int lines = 0;
        for (Future<Integer> part : waited) {
            try {
                lines += part.get(patienceMs, TimeUnit.MILLISECONDS); // holder
            } catch (TimeoutException e) {
                part.cancel(false);
                lines += lines(month);
            }
        }
        return lines;
    }

    private int lines(String title) {
        int hash = title.hashCode();
        for (int i = 0; i < 100_000; i++) hash = hash * 31 + i;
        return hash & 0xff;
    }
}

/** A lock that many want, each for a moment: no harm. */
class Visits {
    private final int[] pages = new int[64];

    synchronized int count(String page) {
        int hash = 7;
        for (int i = 0; i < 20_000; i++) hash = hash * 31 + page.charAt(i % page.length());
        return ++pages[hash & 63];
    }
}
