/* Loaded again and again by a loader of its own (Unloading.java). */
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;

public class Throwaway implements Unloading.Work {
    static int entered;

    @Override
    public void hold(CountDownLatch held, Callable<Void> body) throws Exception {
        synchronized (Throwaway.class) {
            held.countDown();
            body.call();
        }
    }

    @Override
    public void block() {
        throwawayMethod();
    }

    static synchronized void throwawayMethod() {
        entered++; // site: throwaway
    }
}
