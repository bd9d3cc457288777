/** What a walk costs: a stack of 50 and more compiled frames, with inlining. WalkCost LIBRARY */
public class WalkCost {
    static volatile int sink;

    static native void measure(int frames);

    interface Step {
        void go(int left, int frames);
    }

    static final class A implements Step {
        public void go(int left, int frames) {
            step(left, frames);
            sink++;
        }
    }

    static final class B implements Step {
        public void go(int left, int frames) {
            sink += 2;
            step(left, frames);
        }
    }

    static final class C implements Step {
        public void go(int left, int frames) { small(left, frames); }
        void small(int left, int frames) {
            step(left, frames);
            sink++;
        }
    }

    static final Step[] steps = {new A(), new B(), new C()};

    static void step(int left, int frames) {
        if (left > 0)
            steps[left % 3].go(left - 1, frames);
        else if (frames > 0)
            measure(frames);
    }

    public static void main(String[] args) {
        System.load(args[0]);
        for (int i = 0; i < 30000; i++)
            step(70, 0);
        for (int i = 0; i < 20; i++) {
            step(70, 10);
            step(70, 50);
        }
        step(70, -1);
        System.out.println("done");
    }
}
