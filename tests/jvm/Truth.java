import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.ThreadLocalRandom;

/** A program that knows its own stack: each method m0 ... m7 writes its number into memory that a signal
 * handler can read, when it has begun and before it ends. Truth MILLISECONDS THREADS. */
public class Truth {
    static final VarHandle INT = MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.nativeOrder());
    static volatile boolean stop;
    static volatile long sink;

    /** The agent's: the memory of this thread. */
    static native void register(ByteBuffer memory);

    interface Step {
        int go(ByteBuffer b, int left);
    }

    static void enter(ByteBuffer b, int method) {
        int depth = (int) INT.getOpaque(b, 0);
        INT.setRelease(b, 4 + 4 * depth, method);
        INT.setRelease(b, 0, depth + 1);
    }

    static void leave(ByteBuffer b) { INT.setRelease(b, 0, (int) INT.getOpaque(b, 0) - 1); }

    static int m0(ByteBuffer b, int left) {
        enter(b, 0);
        int r = next(b, left) + 1;
        leave(b);
        return r;
    }

    static int m1(ByteBuffer b, int left) {
        enter(b, 1);
        long x = left;
        for (int i = 0; i < 50; i++)
            x = x * 31 + i;
        int r = next(b, left) + (int) x;
        leave(b);
        return r;
    }

    static synchronized int m2(ByteBuffer b, int left) {
        enter(b, 2);
        int r = left > 0 ? m3(b, left - 1) : 3;
        leave(b);
        return r;
    }

    static int m3(ByteBuffer b, int left) {
        enter(b, 3);
        try {
            if (left % 5 == 3)
                throw new IllegalArgumentException();
            return next(b, left);
        } catch (IllegalArgumentException e) {
            return left;
        } finally {
            leave(b);
        }
    }

    static int m4(ByteBuffer b, int left) {
        enter(b, 4);
        byte[] x = new byte[64 + left], y = new byte[200];
        System.arraycopy(x, 1, y, 2, x.length - 1);
        int r = y[7] + next(b, left);
        leave(b);
        return r;
    }

    static int m5(ByteBuffer b, int left) {
        enter(b, 5);
        int r = (int) (System.nanoTime() & 7) + next(b, left) + Long.hashCode(sink % 77) + new Object().hashCode();
        leave(b);
        return r;
    }

    int m6(ByteBuffer b, int left) {
        enter(b, 6);
        int r = ("a" + left).length() + next(b, left);
        leave(b);
        return r;
    }

    static int m7(ByteBuffer b, int left) {
        enter(b, 7);
        int r = java.util.stream.IntStream.range(0, 1).map(i -> next(b, left)).sum();
        leave(b);
        return r;
    }

    static final Truth some = new Truth();
    static final Step[] steps = {Truth::m0, Truth::m1, Truth::m2, Truth::m3, Truth::m4, Truth::m5, some::m6, Truth::m7};

    static int next(ByteBuffer b, int left) {
        return left <= 0 ? 0 : steps[(left * 7 + (int) (sink & 15)) & 7].go(b, left - 1);
    }

    static void run() {
        ByteBuffer b = ByteBuffer.allocateDirect(4096);
        register(b);
        while (!stop)
            sink += steps[ThreadLocalRandom.current().nextInt(8)].go(b, ThreadLocalRandom.current().nextInt(30)) | 1;
    }

    public static void main(String[] args) throws Exception {
        System.load(args[2]);
        Thread[] threads = new Thread[Integer.parseInt(args[1])];
        for (int i = 0; i < threads.length; i++)
            (threads[i] = new Thread(Truth::run, "truth" + i)).start();
        Thread.sleep(Long.parseLong(args[0]));
        stop = true;
        for (Thread t : threads)
            t.join();
        System.out.println("done");
    }
}
