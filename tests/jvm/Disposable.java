/* Like Throwaway, with other names and its instance as the lock. */
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;

public class Disposable implements Unloading.Work {
    int entered, pad;

    @Override
    public void hold(CountDownLatch held, Callable<Void> body) throws Exception {
        synchronized (this) {
            held.countDown();
            body.call();
        }
    }

    @Override
    public void block() {
        first(1);
    }

    void first(int a) {
        disposableMethod(a, 2L);
    }

    synchronized void disposableMethod(int a, long b) {
        entered++; // site: disposable
        pad += (int) (a + b);
    }
}
