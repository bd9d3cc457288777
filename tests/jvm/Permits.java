import java.lang.reflect.Method;
import java.util.concurrent.Semaphore;

/**
 * Eight threads take the permits of two semaphores, of one permit each, in turn, 2 * ROUNDS times: some wait for one and
 * some for the other.
 *
 * <pre>java Permits platform|virtual ROUNDS</pre>
 */
public final class Permits {
    private static final Semaphore FIRST = new Semaphore(1), SECOND = new Semaphore(1);

    private Permits() { }

    private static void take(int me, int rounds) {
        for (int i = 0; i < 2 * rounds; i++) {
            Semaphore s = (me + i) % 2 == 0 ? FIRST : SECOND;
            s.acquireUninterruptibly();
            Thread.yield();
            s.release();
        }
    }

    public static void main(String[] args) throws Exception {
        int rounds = Integer.parseInt(args[1]);
        Thread[] all = new Thread[8];
        for (int i = 0; i < all.length; i++) {
            int me = i;
            if (args[0].equals("platform")) {
                all[i] = new Thread(() -> take(me, rounds));
                all[i].start();
            } else { // compiled for 17, too
                Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
                all[i] = (Thread) start.invoke(null, (Runnable) () -> take(me, rounds));
            }
        }
        for (Thread t : all)
            t.join();
    }
}
