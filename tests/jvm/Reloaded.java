/* Generations of one class: Reloaded N
 *
 * N rounds; each loads Reloaded$Work by a loader of its own, prints "generation HASH", the identity hash of that class,
 * and lets it call notify in Reloaded$Work.call, once, twice, three times: from the same places in each generation.
 * The loaders before are collected now and then, so that new classes take the memory of old ones. */
import java.io.IOException;
import java.io.InputStream;

public class Reloaded {
    public static class Work implements Runnable {
        @Override
        public void run() {
            call(this);
        }

        static synchronized void call(Object lock) {
            synchronized (lock) {
                for (int i = 0; i < 3; i++)
                    lock.notify();
            }
        }
    }

    static final class Loader extends ClassLoader {
        Loader() {
            super(Reloaded.class.getClassLoader());
        }

        Class<?> define() throws IOException {
            try (InputStream in = getResourceAsStream("Reloaded$Work.class")) {
                byte[] b = in.readAllBytes();
                return defineClass("Reloaded$Work", b, 0, b.length);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        int n = Integer.parseInt(args[0]);
        for (int i = 0; i < n; i++) {
            Class<?> c = new Loader().define();
            System.out.printf("generation %08X%n", System.identityHashCode(c));
            ((Runnable) c.getDeclaredConstructor().newInstance()).run();
            if (i % 8 == 7)
                System.gc();
        }
    }
}
