/* Methods that block threads in ways of their own: nothing but their calls is recorded.
 *
 * Two threads call Gate.pass on one gate, 5 times each, which computes for 20 ms each time, and Gate.look
 * 100 times each, which does nothing.  "notifier" ends a wait of "waiter" and keeps the monitor for 20 ms. */
public class Slow {
    static class Gate {
        static volatile long sum;

        void pass() {
            spin(20);
        }

        void look() {
            sum++;
        }
    }

    static void spin(long ms) {
        for (long end = System.nanoTime() + ms * 1_000_000; System.nanoTime() < end;)
            Thread.onSpinWait();
    }

    static void use(Gate gate) {
        for (int i = 0; i < 5; i++)
            gate.pass();
        for (int i = 0; i < 100; i++)
            gate.look();
    }

    public static void main(String[] args) throws InterruptedException {
        Gate gate = new Gate();
        Thread a = new Thread(() -> use(gate), "a"), b = new Thread(() -> use(gate), "b");
        a.start();
        a.join();
        b.start();
        b.join();
        Thread waiter = new Thread(() -> {
            synchronized (gate) {
                try {
                    gate.wait();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
        }, "waiter");
        waiter.start();
        while (waiter.getState() != Thread.State.WAITING)
            Thread.yield();
        Thread notifier = new Thread(() -> {
            synchronized (gate) {
                gate.notify();
                spin(20);
            }
        }, "notifier");
        notifier.start();
        notifier.join();
        waiter.join();
    }
}
