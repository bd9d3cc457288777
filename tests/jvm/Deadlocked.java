/* "one", "two" and "three" wait for each other, over two monitors and a ReentrantLock; prints "ready" then. */
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;

public class Deadlocked {
    public static void main(String[] args) throws Exception {
        Object a = new Object(), b = new Object();
        ReentrantLock c = new ReentrantLock();
        CountDownLatch all = new CountDownLatch(3);
        Thread one = Sync.start("one", () -> {
            synchronized (a) {
                all.countDown();
                all.await();
                synchronized (b) {
                    System.out.println("never");
                }
            }
        });
        Thread two = Sync.start("two", () -> {
            synchronized (b) {
                all.countDown();
                all.await();
                c.lock();
            }
        });
        Thread three = Sync.start("three", () -> {
            c.lock();
            all.countDown();
            all.await();
            synchronized (a) {
                System.out.println("never");
            }
        });
        all.await();
        while (one.getState() != Thread.State.BLOCKED || two.getState() != Thread.State.WAITING
                || three.getState() != Thread.State.BLOCKED)
            Thread.sleep(1);
        System.out.println("ready");
    }
}
