package orca.probe;

/**
 * From here native methods of the JDK are replaced. HotSpot warns, on the program's standard output, when
 * RegisterNatives is called for a class of java.base by native code that was not called from the boot
 * loader's Java code: this class is that code.
 */
final class Natives {
    private Natives() { }

    static native void replace();

    /** Never bound: what its entry is like tells the agent which other methods are not bound yet. */
    static native void unbound();

    static void run() {
        replace();
    }
}
