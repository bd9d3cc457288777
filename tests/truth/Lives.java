/* How many threads started and ended, and who started them: 200 by two threads; most of them do nothing. */
import java.util.ArrayList;
import java.util.List;

public class Lives {
    public static void main(String[] args) throws Exception {
        Known.mode(args);
        for (String starter : new String[] {"mother", "father"}) {
            List<Thread> children = new ArrayList<>();
            Known.start(starter, () -> {
                for (int i = 0; i < 100; i++)
                    children.add(Known.start("of-" + starter + "-" + i, () -> { }));
                for (Thread t : children)
                    t.join();
            }).join();
            Known.is("start-count", "thread=of-" + starter + "-*", 100);
            Known.is("end-count", "thread=of-" + starter + "-*", 100);
            for (int i = 0; i < 10; i++)
                Known.is("start-by", "thread=of-" + starter + "-" + i, starter);
        }
        Thread alive = Known.start("alive", () -> new java.util.concurrent.CountDownLatch(1).await());
        Known.asleep(alive);
        Known.is("start-count", "thread=alive", 1);
        Known.is("end-count", "thread=alive", 0);
        Known.noDeadlock();
        Known.print();
        System.exit(0);
    }
}
