import java.lang.reflect.Method;
import java.util.*;

/**
 * Ten virtual threads sleep for 200 ms each, all at once.
 *
 *   native   below a native method: with -Djdk.reflect.useNativeAccessorOnly=true reflection is one
 *   init     one of them below a static initialiser, Pinned.Slow
 *   free     below code of Java alone
 */
public final class Pinned {
    static final class Slow {
        static final int VALUE = wait_();

        private static int wait_() {
            nap();
            return 1;
        }
    }

    public static void nap() {
        try {
            Thread.sleep(200);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void run(String how) {
        try {
            if (how.equals("init"))
                System.out.println(Slow.VALUE);
            else if (how.equals("native"))
                Pinned.class.getMethod("nap").invoke(null);
            else
                nap();
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        Method start = Thread.class.getMethod("startVirtualThread", Runnable.class); // compiled for 17, too
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < (args[0].equals("init") ? 1 : 10); i++)
            all.add((Thread) start.invoke(null, (Runnable) () -> run(args[0])));
        for (Thread t : all)
            t.join();
    }
}
