package java.lang;

import java.lang.reflect.Array;
import jdk.internal.misc.Unsafe;

/**
 * What instrumented code calls where it has allocated: at the end of Object's constructor, and behind every
 * instruction or call that makes an array or an object without a constructor.
 *
 * The class's number and the object's size are found here, so that the agent need not ask the JVM for them:
 * the call costs no more than that of a native method. Where no stack is wanted, it is counted here, too, in the
 * thread's row (the agent's alloc_rows.h).
 *
 * Nothing here may throw into the program. What is allocated here the first time that a class is met is not
 * reported.
 */
public final class OrcaHeap extends ClassValue<OrcaKind> {
    private static final OrcaHeap KINDS = new OrcaHeap();

    private static boolean on;
    private static int session;
    /** Each object is followed to its end. */
    private static boolean follows;
    /** Objects begin at multiples of this number of bytes, less 1. */
    private static long alignment;
    /** Of rows; 0: there are none. */
    private static long directory;

    private static final Unsafe U = Unsafe.getUnsafe();
    /** Where a Thread has its JavaThread's address, which a virtual one has not; negative: not known. */
    private static final long EETOP = offset("eetop");
    /** And what the JVM keeps its state in, since JDK 19; negative: in the Thread itself. */
    private static final long HOLDER = offset("holder");

    private OrcaHeap() { }

    @Override
    protected OrcaKind computeValue(Class<?> c) {
        return new OrcaKind();
    }

    /** Every object from now on. */
    static void start(int number, boolean followEach, int objectAlignment, long rows) {
        on = false;
        session = number;
        follows = followEach;
        alignment = objectAlignment - 1;
        directory = EETOP >= 0 && !followEach ? rows : 0;
        // What one more entry in a class's map is made of: see made.
        KINDS.get(OrcaKind.class);
        for (Class<?> c : ClassValue.class.getDeclaredClasses()) {
            KINDS.get(c);
            KINDS.get(c.arrayType());
        }
        for (Class<?> c : java.util.WeakHashMap.class.getDeclaredClasses()) {
            KINDS.get(c);
            KINDS.get(c.arrayType());
        }
        on = true;
    }

    static void stop() {
        on = false;
    }

    /** From here to leave the current thread's allocations are Orca's own, and not reported; false: they are already. */
    private static native boolean enter();

    private static native void leave();

    private static native void counted(int kind, long size);

    private static native void followed(Object o, int kind, long size);

    /** The agent's number of the class, and the bit 1 << 31 when its objects are not wanted. */
    private static native int define(Class<?> c);

    /** The bytes of this object. */
    private static native long sizeOf(Object o);

    /** Where an array's elements begin: Unsafe.arrayBaseOffset, an int or a long by the JDK's version. */
    private static native int baseOf(Class<?> array);

    /**
     * What described says, called from native code: a virtual thread that has to wait in between, as for ClassValue's
     * lock, then keeps its carrier. Where it went on elsewhere, enter and leave were of different carriers, and the
     * first one no longer reported anything.
     */
    private static native OrcaKind inPlace(Class<?> c, Object o);

    /** Where the class is counted in a row; size: of an object, 0 of an array. */
    private static native int place(int kind, long size);

    // --- what is called -----------------------------------------------------------------------------

    /** An object, or an array that is made as a whole (a copy). */
    public static void object(Object o) {
        if (!on || o == null)
            return;
        try {
            made(o);
        } catch (Throwable t) {
            return; // no memory, no stack: the program has other worries
        }
    }

    /** An array, with those that were made with it: what a new one has in it is new. */
    public static void array(Object array) {
        if (!on || array == null)
            return;
        try {
            all(array);
        } catch (Throwable t) {
            return;
        }
    }

    /** Instead of Arrays.copyOf, whose code the compilers replace by their own. */
    public static Object[] copyOf(Object[] original, int length, Class<? extends Object[]> type) {
        Object[] copy = ofType(type, length);
        System.arraycopy(original, 0, copy, 0, Math.min(original.length, length));
        return copy;
    }

    public static Object[] copyOfRange(Object[] original, int from, int to, Class<? extends Object[]> type) {
        int length = to - from;
        if (length < 0)
            throw new IllegalArgumentException(String.valueOf(from).concat(" > ").concat(String.valueOf(to)));
        Object[] copy = ofType(type, length);
        System.arraycopy(original, from, copy, 0, Math.min(original.length - from, length));
        return copy;
    }

    // --- inside -------------------------------------------------------------------------------------

    private static Object[] ofType(Class<? extends Object[]> type, int length) {
        if ((Object) type != Object[].class)
            return (Object[]) Array.newInstance(type.getComponentType(), length);
        Object[] made = new Object[length];
        object(made);
        return made;
    }

    private static void all(Object array) {
        made(array);
        if (array instanceof Object[]) {
            Object[] elements = (Object[]) array;
            for (int i = 0; i < elements.length && elements[i] != null; i++)
                all(elements[i]);
        }
    }

    /**
     * A class without a map of ClassValues would get one, and that would be reported, and its class be without one. In
     * a map that is there (other ClassValues are used with the class) one more entry is reported.
     */
    private static void made(Object o) {
        Class<?> c = o.getClass();
        if (c == OrcaKind.class || isAttaching())
            return;
        OrcaKind k = c.classValueMap == null ? null : KINDS.get(c);
        if (k == null || k.session != session) {
            k = inPlace(c, o);
            if (k == null)
                return;
        }
        if (!k.wanted)
            return;
        long size = k.size;
        if (size == 0)
            size = (k.base + (long) Array.getLength(o) * k.scale + alignment) & ~alignment;
        long row = k.place < 0 || directory == 0 ? 0 : row();
        if (row != 0)
            count(row + k.place, k.size == 0 ? size : 0);
        else if (follows)
            followed(o, k.id, size);
        else
            counted(k.id, size);
    }

    /**
     * A native thread is being attached: the constructor of its Thread runs, and has not made the holder yet. Where such
     * a thread has to wait for a lock, as ClassValue's, the JVM crashes. A virtual thread never has a holder.
     */
    private static boolean isAttaching() {
        Thread t = Thread.currentThread();
        return HOLDER >= 0 && EETOP >= 0 && U.getReference(t, HOLDER) == null && U.getLong(t, EETOP) != 0;
    }

    private static long offset(String field) {
        try {
            return U.objectFieldOffset(Thread.class, field);
        } catch (Throwable t) {
            return -1;
        }
    }

    /** The current thread's row; 0: it has none. Numbers as in alloc_rows.c. */
    private static long row() {
        long thread = U.getLong(Thread.currentThread(), EETOP);
        long entry = directory + (thread * 0x9e3779b97f4a7c15L >>> 64 - 12) * 16;
        for (int i = 0; i < 4; i++, entry += 16)
            if (U.getLong(entry) == thread)
                return U.getLong(entry + 8);
        return 0;
    }

    /** The bytes first: who reads beside sees none missing. */
    private static void count(long cell, long bytes) {
        if (bytes != 0) {
            U.putLong(cell + 8, U.getLong(cell + 8) + bytes);
            U.storeFence();
        }
        U.putLong(cell, U.getLong(cell) + 1);
    }

    /** The first object of its class in this recording; null: it is one of those that are made for that. */
    private static OrcaKind described(Class<?> c, Object o) {
        if (!enter())
            return null;
        try {
            OrcaKind k = KINDS.get(c);
            if (k.session != session)
                describe(k, c, o);
            return k;
        } finally {
            leave();
        }
    }

    /** Threads may do this at the same time; they find the same. */
    private static void describe(OrcaKind k, Class<?> c, Object o) {
        int now = session, id = define(c);
        k.id = id & Integer.MAX_VALUE;
        k.wanted = id >= 0;
        if (c.isArray()) {
            k.base = baseOf(c);
            k.scale = U.arrayIndexScale(c);
        } else
            k.size = sizeOf(o);
        k.place = directory == 0 ? -1 : place(k.id, k.size);
        k.session = now;
    }
}
