package java.lang;

/**
 * What instrumented methods call. In java.lang, because that is the one package that every class sees,
 * whatever its loader and its module: class loaders may keep all others from it (OSGi does).
 *
 * `what` is a row of the agent's table of tracked methods, `object` what the method is about.
 */
public final class OrcaProbe {
    private OrcaProbe() { }

    /** A method that may block begins; `time`: its time-out in its own unit. */
    public static native void enter(int what, Object object);

    public static native void enter(int what, Object object, long time);

    /** It returned, and what; or an exception left it. */
    public static native void exit(int what, Object object);

    public static native void exit(int what, Object object, int result);

    public static native void threw(int what, Object object);

    /** A method that does not block is called. */
    public static native void call(int what, Object object);

    /** The same of a method that other classes inherit as well: it counts if `self` is of the class meant. */
    public static native void enterIf(int what, Object object, Object self);

    public static native void exitIf(int what, Object object, Object self, int result);

    public static native void callIf(int what, Object object, Object self);

    // --- from classes whose code stays as it is when the recording ends ------------------------------
    // The agent leaves out these frames, too.

    /** Bits: the rows that are recorded. */
    private static long on;

    public static void keptEnter(int what, Object object) {
        if ((on >>> what & 1) != 0)
            enter(what, object);
    }

    public static void keptEnter(int what, Object object, long time) {
        if ((on >>> what & 1) != 0)
            enter(what, object, time);
    }

    public static void keptExit(int what, Object object) {
        if ((on >>> what & 1) != 0)
            exit(what, object);
    }

    public static void keptExit(int what, Object object, int result) {
        if ((on >>> what & 1) != 0)
            exit(what, object, result);
    }

    public static void keptThrew(int what, Object object) {
        if ((on >>> what & 1) != 0)
            threw(what, object);
    }

    public static void keptCall(int what, Object object) {
        if ((on >>> what & 1) != 0)
            call(what, object);
    }
}
