import java.io.IOException;
import java.io.InputStream;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** What AsyncGetCallTrace2 says where the answer is known; asgct2_agent.c has the native methods. CallTraces PART */
public class CallTraces {
    static final int MARK = 0x4567, OTHER_MARK = 0x4589;

    /** The trace of this thread against GetStackTrace, up to that number of frames; "" or the difference. */
    static native String compare(int depth);

    /** The id of the first Java frame whose method has that name in the trace of this thread; 0: none; -1: no such frame. */
    public static native long idOf(String method);

    /** What JVMTI says to an id: the method's name, or the number of an error. */
    static native String resolve(long id);

    static native long currentId(Class<?> c, String method);

    static native void redefine(Class<?> c, byte[] code);

    /** AsyncGetCallTrace2Init from here. */
    static native int init();

    /** num_frames on a thread that is not Java's, and on one that was for a while. */
    static native int onPlainThread();
    static native int onAttachedThread();

    /** "" or what is wrong: where faults cannot be caught; C frames without a ucontext. */
    static native String blocked();
    static native String above(int depth);

    static void bad_hands() {
        String said = blocked();
        check(said.isEmpty(), said);
        for (int depth : new int[] {1, 2, 3, 4, 5, 127, 128, 160, 161, 162, 200, 1000}) {
            said = above(depth);
            check(said.isEmpty(), said);
        }
        System.out.println("in bad hands");
    }

    static void check(boolean right, String what) {
        if (!right)
            throw new AssertionError(what);
    }

    static int deep(int n, int depth, int[] out) {
        if (n > 0)
            return deep(n - 1, depth, out) + 1;
        String differs = compare(depth);
        check(differs.isEmpty(), differs);
        return out[0]++;
    }

    static void sync() {
        int[] n = {0};
        for (int round = 0; round < 20; round++)
            for (int frames : new int[] {0, 1, 30, 100, 127, 128, 129, 200, 500, 900})
                for (int depth : new int[] {1, 2, 31, 32, 33, 127, 128, 160, 161, 162, 200, 1024})
                    deep(frames, depth, n);
        System.out.println("compared " + n[0]);
    }

    /** A class of its own loader, whose method asks for its own id. */
    static long idInOtherLoader(List<WeakReference<Class<?>>> gone) throws Exception {
        Class<?> c = new Loader().loadClass("CallTraces$Passing");
        gone.add(new WeakReference<>(c));
        return (long) c.getMethod("run").invoke(null);
    }

    public static class Passing {
        public static long run() { return idOf("run"); }
    }

    static final class Loader extends ClassLoader {
        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.equals("CallTraces$Passing"))
                return super.loadClass(name, resolve);
            byte[] b = bytes(name);
            return defineClass(name, b, 0, b.length);
        }
    }

    static byte[] bytes(String name) {
        try (InputStream in = CallTraces.class.getResourceAsStream("/" + name + ".class")) {
            return in.readAllBytes();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** Ids live as long as the classes; after that JVMTI refuses them. */
    static void unloading() throws Exception {
        List<WeakReference<Class<?>>> classes = new ArrayList<>();
        List<Long> ids = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            long id = idInOtherLoader(classes);
            check(id != 0 && id != -1, "id " + id);
            ids.add(id);
            String name = resolve(id);
            check(name.equals("run") || classes.get(i).get() == null, "resolved to " + name);
            if (i % 50 == 49)
                System.gc();
        }
        int invalid = 0;
        for (int tries = 0; tries < 600 && invalid < 200; tries++) {
            System.gc();
            Thread.sleep(10);
            invalid = 0;
            for (int i = 0; i < 300; i++) {
                boolean isGone = classes.get(i).get() == null;
                String said = resolve(ids.get(i));
                check(said.equals("23") || (said.equals("run") && !isGone) || isGone, "resolved to " + said);
                invalid += said.equals("23") ? 1 : 0;
            }
        }
        check(invalid >= 200, invalid + " of 300 ids invalid");
        System.out.println("invalid ids " + (invalid >= 200));
    }

    /** Redefined while it runs: to the same code, then to another. */
    public static class Changing {
        static int mark() { return MARK; }

        static int run() {
            int mark = MARK;
            long before = idOf("run");
            check(before != 0 && before == currentId(Changing.class, "run"), "id " + before);
            byte[] b = bytes("CallTraces$Changing");
            redefine(Changing.class, b);
            check(idOf("run") == before, "the same code again has id " + idOf("run") + " instead of " + before);
            redefine(Changing.class, patched(b));
            long now = currentId(Changing.class, "run"), mine = idOf("run");
            check(now != 0 && mine != now, "the old code has the id of the new");
            System.out.println("obsolete " + (mine == 0 ? "has no id" : resolve(mine)));
            return mark;
        }
    }

    /** The class file with another number instead of MARK. */
    static byte[] patched(byte[] b) {
        int found = 0;
        for (int i = 0; i + 2 < b.length; i++)
            if (b[i] == 0x11 && b[i + 1] == (byte) (MARK >> 8) && b[i + 2] == (byte) MARK) { // sipush
                b[i + 1] = (byte) (OTHER_MARK >> 8);
                b[i + 2] = (byte) OTHER_MARK;
                found++;
            }
        check(found == 2, "marks " + found);
        return b;
    }

    static void redefined() {
        check(Changing.run() == MARK && Changing.mark() == OTHER_MARK, "not redefined");
    }

    static void threads() {
        check(onPlainThread() == -10, "a plain thread: " + onPlainThread());
        check(onAttachedThread() == -10, "after it was detached: " + onAttachedThread());
        System.out.println("threads right");
    }

    /** In a virtual thread (JDK 21), also the init. */
    static void virtual() throws Exception {
        Object b = Thread.class.getMethod("ofVirtual").invoke(null);
        Throwable[] failed = {null};
        Runnable body = () -> {
            try {
                check(init() == 0, "init");
                check(init() == 0, "init again");
                sync();
            } catch (Throwable t) {
                failed[0] = t;
            }
        };
        ((Thread) Class.forName("java.lang.Thread$Builder").getMethod("start", Runnable.class).invoke(b, body)).join();
        if (failed[0] != null)
            throw new AssertionError(failed[0]);
    }

    static void late() {
        check(compare(10).equals("error -1"), "before the init: " + compare(10));
        check(init() == 0, "init");
        check(init() == 0, "init again");
        sync();
    }

    /** Four threads call the init at once, the first time, while two others have classes prepared all the time. */
    static void race() throws Exception {
        AtomicBoolean done = new AtomicBoolean();
        AtomicInteger prepared = new AtomicInteger(), right = new AtomicInteger();
        Thread[] loaders = new Thread[2], callers = new Thread[4];
        CyclicBarrier all = new CyclicBarrier(callers.length);
        for (int i = 0; i < loaders.length; i++)
            loaders[i] = Sync.start("loader-" + i, () -> {
                while (!done.get()) {
                    Class.forName("CallTraces$Passing", true, new Loader());
                    prepared.incrementAndGet();
                }
            });
        while (prepared.get() < 20)
            Thread.yield();
        check(compare(10).equals("error -1"), "before the init: " + compare(10));
        for (int i = 0; i < callers.length; i++)
            callers[i] = Sync.start("caller-" + i, () -> {
                all.await();
                if (init() == 0 && init() == 0 && compare(10).isEmpty())
                    right.incrementAndGet();
            });
        for (Thread t : callers)
            t.join();
        int seen = prepared.get();
        while (prepared.get() < seen + 20)
            Thread.yield();
        done.set(true);
        for (Thread t : loaders)
            t.join();
        check(right.get() == callers.length, right.get() + " callers right");
        sync();
    }

    public static void main(String[] args) throws Exception {
        switch (args[0]) {
        case "sync" -> sync();
        case "unloading" -> unloading();
        case "redefined" -> redefined();
        case "threads" -> threads();
        case "bad_hands" -> bad_hands();
        case "virtual" -> virtual();
        case "late" -> late();
        case "race" -> race();
        default -> throw new IllegalArgumentException(args[0]);
        }
    }
}
