package orca.probe;

/**
 * What instrumented methods call. `what` is a row of the agent's table of tracked methods, `object` what
 * the method is about.
 */
public final class Probe {
    private Probe() { }

    /** A method that may block begins; `time`: its time-out in its own unit. */
    public static native void enter(int what, Object object);

    public static native void enter(int what, Object object, long time);

    /** It returned, and what; or an exception left it. */
    public static native void exit(int what, Object object);

    public static native void exit(int what, Object object, int result);

    public static native void threw(int what, Object object);

    /** A method that does not block is called. */
    public static native void call(int what, Object object);
}
