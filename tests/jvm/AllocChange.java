import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * Two versions of one program: "AllocChange SMALL EXTRA KEPT" allocates that number of objects of each class in a round,
 * and never lets go of those of Kept. A round sleeps, each third one collects. At least 60 rounds, and four times
 * as long as the JVM took to start, so that most of a recording is rounds. What it has allocated it prints as
 * "allocated CLASS COUNT".
 */
public class AllocChange {
    static class Small { long a, b, c, d, e, f, g, h; }
    static class Extra { long a, b, c, d, e, f, g, h; }
    static class Kept { long a, b, c, d, e, f, g, h; }

    static volatile Object sink;
    static final List<Object> kept = new ArrayList<>();

    static void small(int n) {
        for (int i = 0; i < n; i++) sink = new Small();
    }

    static void extra(int n) {
        for (int i = 0; i < n; i++) sink = new Extra();
    }

    static void keep(int n) {
        for (int i = 0; i < n; i++) kept.add(new Kept());
    }

    public static void main(String[] args) throws Exception {
        int small = Integer.parseInt(args[0]), extra = Integer.parseInt(args[1]), keep = Integer.parseInt(args[2]);
        Instant began = ProcessHandle.current().info().startInstant().get(), ready = Instant.now();
        Duration enough = Duration.between(began, ready).multipliedBy(4);
        long rounds = 0;
        for (; rounds < 60 || Duration.between(ready, Instant.now()).compareTo(enough) < 0; rounds++) {
            small(small);
            extra(extra);
            keep(keep);
            if (rounds % 3 == 0) System.gc();
            Thread.sleep(10);
        }
        System.out.println("allocated AllocChange$Small " + rounds * small);
        System.out.println("allocated AllocChange$Extra " + rounds * extra);
        System.out.println("allocated AllocChange$Kept " + rounds * keep);
    }
}
