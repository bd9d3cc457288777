/* What a stack costs, taken by the thread itself from a native method: TraceCost LIBRARY FRAMES TIMES
 *
 * The stack is FRAMES compiled frames and a few more, with inlining; each way takes FRAMES of them.  Prints
 * "agct2 NS agct NS getstacktrace NS": the fastest of 15 rounds of TIMES calls each. */
public class TraceCost {
    static volatile int sink;

    interface Step {
        void go(int left, int times);
    }

    static final class A implements Step {
        public void go(int left, int times) {
            step(left, times);
            sink++;
        }
    }

    static final class B implements Step {
        public void go(int left, int times) { small(left, times); }

        void small(int left, int times) {
            sink += 2;
            step(left, times);
        }
    }

    static final Step[] steps = {new A(), new B()};

    static void step(int left, int times) {
        if (left > 0)
            steps[left & 1].go(left - 1, times);
        else if (times > 0)
            measure(frames, times);
    }

    static int frames;

    /** Keeps the least of each way. */
    static native void measure(int frames, int times);

    static native String figures();

    public static void main(String[] args) {
        System.load(args[0]);
        frames = Integer.parseInt(args[1]);
        for (int i = 0; i < 30000; i++)
            step(frames, 0);
        for (int i = 0; i < 15; i++)
            step(frames, Integer.parseInt(args[2]));
        System.out.println(figures());
    }
}
