/* Contention below lambdas, a method handle, a proxy, and a hidden class: thread "hidden-WAY" blocks in
 * Hidden.pass(), called through WAY; the hidden class is HiddenBody, and its method is run(). */
import java.io.InputStream;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.concurrent.CountDownLatch;

public class Hidden {
    static final Object LOCK = new Object();
    static int passed;

    static void pass() {
        synchronized (LOCK) {
            passed++;
        }
    }

    static void way(String name, Sync.Body body) throws Exception {
        CountDownLatch held = new CountDownLatch(1);
        Thread t = Sync.start("hidden-" + name, () -> {
            held.await();
            body.run();
        });
        synchronized (LOCK) {
            held.countDown();
            Sync.blocked(t);
        }
        t.join();
    }

    public static void main(String[] args) throws Exception {
        way("lambda", () -> pass());
        MethodHandle h = MethodHandles.lookup().findStatic(Hidden.class, "pass", MethodType.methodType(void.class));
        way("handle", () -> {
            try {
                h.invoke();
            } catch (Throwable e) {
                throw new IllegalStateException(e);
            }
        });
        Method m = Hidden.class.getDeclaredMethod("pass");
        way("reflect", () -> m.invoke(null));
        Sync.Body proxy = (Sync.Body) Proxy.newProxyInstance(Hidden.class.getClassLoader(),
                new Class<?>[] {Sync.Body.class}, (self, method, a) -> {
                    pass();
                    return null;
                });
        way("proxy", proxy);
        try (InputStream in = Hidden.class.getResourceAsStream("HiddenBody.class")) {
            Class<?> c = MethodHandles.lookup().defineHiddenClass(in.readAllBytes(), true).lookupClass();
            way("class", (Sync.Body) c.getDeclaredConstructor().newInstance());
        }
        System.out.println("passed " + passed);
    }
}

class HiddenBody implements Sync.Body {
    @Override
    public void run() {
        Hidden.pass();
    }
}
