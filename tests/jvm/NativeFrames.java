/**
 * C between Java: main -> outer (native) -> first -> second (C) -> callback -> inner (native) -> third (C); and a thread
 * that C started and attached: thread_first -> thread_second (C) -> attached -> inner. NativeFrames LIBRARY
 */
public class NativeFrames {
    static volatile int sink;

    static native void outer(int depth);
    static native void inner();
    static native void thread();

    /** Called by C; with a depth left, down into C again. */
    static void callback(int depth) {
        if (depth > 0)
            outer(depth - 1);
        else
            inner();
        sink++;
    }

    static void attached() {
        inner();
        sink++;
    }

    public static void main(String[] args) throws Exception {
        System.load(args[0]);
        for (int i = 0; i < 3000; i++) { // interpreted, then compiled
            outer(i % 3);
            if (i % 100 == 0)
                thread();
        }
        System.out.println("done");
    }
}
