/* Class loaders come and go: Unloading N
 *
 * N rounds; each loads Throwaway or Disposable by a loader of its own, lets the thread "throwaway-i" or "disposable-i"
 * contend inside it on its class or instance, and drops the loader.  Prints "unloaded K" when the collector has
 * unloaded them, at least N - 1 of them, or gives up after 20 seconds. */
import java.io.IOException;
import java.io.InputStream;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;

public class Unloading {
    public interface Work {
        void hold(CountDownLatch held, Callable<Void> body) throws Exception;

        void block();
    }

    /* Defines the named class itself, all others come from its parent. */
    static final class Loader extends ClassLoader {
        private final String own;

        Loader(String own) {
            super(Unloading.class.getClassLoader());
            this.own = own;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.equals(own))
                return super.loadClass(name, resolve);
            synchronized (getClassLoadingLock(name)) {
                Class<?> c = findLoadedClass(name);
                if (c != null)
                    return c;
                try (InputStream in = getResourceAsStream(name + ".class")) {
                    byte[] b = in.readAllBytes();
                    return defineClass(name, b, 0, b.length);
                } catch (IOException e) {
                    throw new ClassNotFoundException(name, e);
                }
            }
        }
    }

    static WeakReference<ClassLoader> round(int i) throws Exception {
        String name = i % 2 == 0 ? "Throwaway" : "Disposable";
        Loader loader = new Loader(name);
        Work work = (Work) loader.loadClass(name).getDeclaredConstructor().newInstance();
        CountDownLatch held = new CountDownLatch(1);
        Thread blocker = Sync.start(name.toLowerCase() + "-" + i, () -> {
            held.await();
            work.block();
        });
        work.hold(held, () -> {
            Sync.state(Thread.State.BLOCKED, blocker);
            return null;
        });
        blocker.join();
        return new WeakReference<>(loader);
    }

    public static void main(String[] args) throws Exception {
        int n = Integer.parseInt(args[0]);
        List<WeakReference<ClassLoader>> loaders = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            loaders.add(round(i));
            if (i % 16 == 15)
                System.gc(); /* so that the next ones may get the same memory */
        }
        long gone = 0;
        for (int i = 0; i < 200 && gone < n - 1; i++) {
            System.gc();
            Thread.sleep(20);
            gone = loaders.stream().filter(r -> r.get() == null).count();
        }
        System.out.println("unloaded " + gone);
    }
}
