/* ManyVirtual N: starts N virtual threads, which do next to nothing, as fast as it can; waits for all of them, and
 * prints "sum SUM" of what they added. */
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.LongAdder;

public class ManyVirtual {
    public static void main(String[] args) throws Exception {
        int n = Integer.parseInt(args[0]);
        java.lang.reflect.Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        CountDownLatch all = new CountDownLatch(n);
        LongAdder sum = new LongAdder();
        for (int i = 0; i < n; i++) {
            int k = i;
            start.invoke(null, (Runnable) () -> {
                sum.add(k);
                all.countDown();
            });
        }
        all.await();
        System.out.println("sum " + sum.sum());
    }
}
