import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Arrays;
import java.util.zip.CRC32;

/** What calls native methods and the JVM's stubs, each from a method "op"; tests/jvm/step_agent.c looks at each of their
 * instructions. Stepped LIBRARY TIMES [NAME...]: each op is called TIMES times before. */
public class Stepped {
    /** From its return until off() is called the agent looks. */
    static native void on();
    static native void off();
    static native int plain(int i);
    native long many(int a, long b, Object o, double d, float e, byte f, Object p, long g, Object q);
    native Object same(Object o);
    synchronized native boolean locked();
    static native void fails();
    static native int back(int i);
    static int called(int i) { return i + 1; }

    interface Op {
        Object op(int i) throws Throwable;
    }

    static volatile Object sink;
    static volatile int zero;
    static final Stepped self = new Stepped();
    static final Object hashed = new Object(), lock = new Object();
    static final byte[] bytes = new byte[400], others = new byte[400];
    static final int[] ints = new int[300], moreInts = new int[300];
    static final Object[] objects = new Object[100], strings = new String[100];
    static final double[] doubles = {0.5, 1.25, 300.0, 1e10};
    static Object nothing;

    static class GetClass implements Op { public Object op(int i) { return objects[i % 3].getClass(); } }
    static class IsArray implements Op { public Object op(int i) { return objects[i % 3].getClass().isArray(); } }
    static class Hash implements Op { public Object op(int i) { return hashed.hashCode(); } }
    static class NewHash implements Op { public Object op(int i) { return new Object().hashCode(); } }
    static class Identity implements Op { public Object op(int i) { return System.identityHashCode(objects[i % 3]); } }
    static class Plain implements Op { public Object op(int i) { return plain(i); } }
    static class Many implements Op {
        public Object op(int i) { return self.many(i, 2, self, 3.0, 4f, (byte) 5, null, 6, "q"); }
    }
    static class Same implements Op { public Object op(int i) { return self.same(objects[i % 3]); } }
    static class Locked implements Op { public Object op(int i) { return self.locked(); } }
    static class Fails implements Op {
        public Object op(int i) {
            try {
                fails();
                return null;
            } catch (IllegalStateException e) {
                return e;
            }
        }
    }
    static class Back implements Op { public Object op(int i) { return back(i); } }
    static class Time implements Op { public Object op(int i) { return System.nanoTime() + System.currentTimeMillis(); } }
    static class CloneIt implements Op { public Object op(int i) { return ints.clone(); } }
    static class Notify implements Op {
        public Object op(int i) {
            synchronized (lock) {
                lock.notify();
                return lock;
            }
        }
    }
    static class Copy implements Op {
        public Object op(int i) {
            System.arraycopy(bytes, i % 7, others, 3, 100 + i % 9);
            System.arraycopy(bytes, 0, bytes, 5, 60 + i % 9);
            System.arraycopy(ints, i % 7, moreInts, 3, 100 + i % 9);
            System.arraycopy(strings, 0, objects, 10, 80);
            return null;
        }
    }
    static class CopyFails implements Op {
        public Object op(int i) {
            try {
                System.arraycopy(objects, 0, strings, 0, 20 + i % 3);
                return null;
            } catch (ArrayStoreException e) {
                return e;
            }
        }
    }
    static class Sine implements Op {
        public Object op(int i) {
            double d = doubles[i & 3];
            return Math.sin(d) + Math.cos(d) + Math.tan(d) + Math.log(d) + Math.log10(d) + Math.exp(d) + Math.pow(d, 1.3) + d % 0.7;
        }
    }
    static class Fill implements Op {
        public Object op(int i) {
            Arrays.fill(bytes, 0, 100 + i % 9, (byte) i);
            return Arrays.equals(bytes, others);
        }
    }
    static class Crc implements Op {
        public Object op(int i) {
            CRC32 c = new CRC32();
            c.update(bytes, 0, 300);
            return c.getValue();
        }
    }
    static class Null implements Op {
        public Object op(int i) {
            try {
                return nothing.hashCode();
            } catch (NullPointerException e) {
                return e;
            }
        }
    }
    static class Divide implements Op {
        public Object op(int i) {
            try {
                return i / zero;
            } catch (ArithmeticException e) {
                return e;
            }
        }
    }
    static class Cast implements Op {
        public Object op(int i) {
            try {
                return (String) hashed;
            } catch (ClassCastException e) {
                return e;
            }
        }
    }
    static class Throws implements Op {
        static void deeper(int i) {
            if (i >= 0)
                throw new IllegalStateException();
        }
        public Object op(int i) {
            try {
                deeper(i);
                return null;
            } catch (IllegalStateException e) {
                return e;
            }
        }
    }
    static class Is implements Op { public Object op(int i) { return objects[i % 3] instanceof Comparable; } }
    static class Large implements Op { public Object op(int i) { return new byte[200_000 + i % 3]; } }
    static class Handle implements Op {
        static final MethodHandle handle;
        static {
            try {
                handle = MethodHandles.lookup().findStatic(Stepped.class, "called", MethodType.methodType(int.class, int.class));
            } catch (ReflectiveOperationException e) {
                throw new AssertionError(e);
            }
        }
        static MethodHandle other = handle;
        public Object op(int i) throws Throwable { return (int) other.invokeExact(i); }
    }

    static final Op[] ops = {new GetClass(), new IsArray(), new Hash(), new NewHash(), new Identity(), new Plain(), new Many(),
            new Same(), new Locked(), new Fails(), new Back(), new Time(), new CloneIt(), new Notify(), new Copy(),
            new CopyFails(), new Sine(), new Fill(), new Crc(), new Null(), new Divide(), new Cast(), new Throws(), new Is(),
            new Large(), new Handle()};

    static void stepped(Op op, int i) throws Throwable {
        on();
        sink = op.op(i);
        off();
    }

    public static void main(String[] args) throws Throwable {
        System.load(args[0]);
        int times = Integer.parseInt(args[1]);
        Arrays.fill(strings, "s");
        Arrays.fill(objects, hashed);
        objects[1] = ints;
        objects[2] = "text";
        hashed.hashCode();
        for (Op op : ops) {
            if (args.length > 2 && !Arrays.asList(args).contains(op.getClass().getSimpleName()))
                continue;
            for (int i = 0; i < times; i++)
                sink = op.op(i);
            for (int i = 0; i < 4; i++)
                stepped(op, i);
        }
        System.out.println("done");
    }
}
