package java.lang;

/** What OrcaHeap knows of a class, in one recording. */
public final class OrcaKind {
    /** The recording that the rest is of; 0: of none yet. */
    int session;
    /** The agent's number of the class. */
    int id;
    boolean wanted;
    /** Bytes of an object; of an array: 0, but `base` and this number of bytes an element. */
    long size;
    int base, scale;
    /** Where in a thread's row it is counted; -1: nowhere. */
    int place;

    OrcaKind() { }
}
