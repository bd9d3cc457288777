package java.lang;

/**
 * Which locks the current thread holds, and since when: what instrumented code calls where it takes a lock
 * and gives it back. All in Java, so that the JIT compiles it into the caller; the agent hears only of the
 * holds that are recorded, one of `every`.
 *
 * Every lock held is kept, recorded or not: only so is it known whether one is taken again by its owner,
 * which begins no new hold.
 *
 * Nothing here may throw into the program: a lock is taken already when `got` is called, and the program does
 * not know it yet. Even OWN.get() allocates, the first time. (A call may still overflow the stack.)
 */
public final class OrcaHolds {
    private static final int MONITOR = 0, EXCLUSIVE = 1, SHARED = 2, STAMPED_WRITE = 3, STAMPED_READ = 4,
            TO_WRITE = 5, TO_READ = 6;

    /** More at once cannot be true: an end was missed. */
    private static final int MOST = 1024;

    private static final ThreadLocal<OrcaHolds> OWN = new ThreadLocal<>();
    private static int every = 1;
    /** Counts the times that the group is switched: what a thread has of an earlier one is no longer true. */
    private static int session;

    private Object[] locks = new Object[8];
    private byte[] kinds = new byte[8];
    /** When it was taken, System.nanoTime; 0: this hold is not recorded. */
    private long[] since = new long[8];
    private int n;
    private int skip;
    private int random = (int) System.nanoTime() | 1;
    private int mine = session;

    private OrcaHolds() {
        skip = gap();
    }

    /** Record one of this number from now on; returns System.nanoTime, which must be the agent's clock. */
    static long start(int oneOf) {
        every = oneOf;
        session++;
        return System.nanoTime();
    }

    static void stop() {
        session++;
    }

    private static native void ended(Object lock, long since, int kind);

    // --- monitors -----------------------------------------------------------------------------------

    /** Behind monitorenter, and at the beginning of a synchronized method. */
    public static void enter(Object lock) {
        OrcaHolds own = own(true);
        if (own != null && lock != null)
            own.push(lock, MONITOR);
    }

    /** Before monitorexit, and at the end of a synchronized method. */
    public static void leave(Object lock) {
        OrcaHolds own = own(false);
        if (own == null)
            return;
        int i = own.n - 1;
        if (i >= 0 && own.locks[i] == lock && own.kinds[i] == MONITOR)
            own.pop(i);
        else
            own.leaveBelow(lock);
    }

    // --- java.util.concurrent.locks -----------------------------------------------------------------
    // The agent leaves out a fixed number of its own frames: `ended`, giveBack, and who calls that.

    /** An attempt to take a lock ended: positive (and true) when it succeeded. */
    public static void got(int kind, Object lock, long result) {
        if (result <= 0)
            return;
        if (kind >= TO_WRITE)
            giveBack(kind == TO_WRITE ? STAMPED_READ : STAMPED_WRITE, lock);
        try {
            OrcaHolds own = own(true);
            if (own != null)
                own.take(kind, lock);
        } catch (Throwable t) {
            return;
        }
    }

    public static void got(int kind, Object lock, int result) {
        got(kind, lock, (long) result);
    }

    /** A lock was given back: positive when all of it. */
    public static void gave(int kind, Object lock, long result) {
        if (result > 0)
            giveBack(kind, lock);
    }

    public static void gave(int kind, Object lock, int result) {
        if (result > 0)
            giveBack(kind, lock);
    }

    private static void giveBack(int kind, Object lock) {
        try {
            OrcaHolds own = own(false);
            int i = own != null ? own.find(kind, lock) : -1;
            if (i < 0)
                return;
            long from = own.since[i];
            own.drop(i);
            if (from != 0)
                ended(lock, from, kind == STAMPED_WRITE ? EXCLUSIVE : kind == STAMPED_READ ? SHARED : kind);
        } catch (Throwable t) {
            return;
        }
    }

    // --- inside -------------------------------------------------------------------------------------

    /** The current thread's; null when it has none, and none is or can be made. */
    private static OrcaHolds own(boolean make) {
        try {
            OrcaHolds own = OWN.get();
            if (own == null) {
                if (make)
                    OWN.set(own = new OrcaHolds());
            } else if (own.mine != session)
                own.forget();
            return own;
        } catch (Throwable t) {
            return null; // no memory, no stack: the program has other worries
        }
    }

    private void forget() {
        cut(0);
        mine = session;
        skip = gap();
    }

    private void push(Object lock, int kind) {
        int i = n;
        if (i == locks.length && !grow())
            return;
        locks[i] = lock;
        kinds[i] = (byte) kind;
        n = i + 1;
        if (--skip <= 0)
            record(i);
    }

    private boolean grow() {
        if (n >= MOST) {
            java.util.Arrays.fill(locks, null);
            java.util.Arrays.fill(since, 0);
            n = 0;
            return false;
        }
        try {
            Object[] more = java.util.Arrays.copyOf(locks, 2 * n);
            byte[] moreKinds = java.util.Arrays.copyOf(kinds, 2 * n);
            since = java.util.Arrays.copyOf(since, 2 * n);
            kinds = moreKinds;
            locks = more;
            return true;
        } catch (Throwable t) {
            return false;
        }
    }

    /** When the thread holds the lock already, the next hold is recorded instead. */
    private void record(int i) {
        for (int k = 0; k < i; k++)
            if (locks[k] == locks[i] && kinds[k] == kinds[i])
                return;
        skip = gap();
        since[i] = System.nanoTime();
    }

    /** At random, so that no rhythm of the program is in step with it; `every` on average. */
    private int gap() {
        if (every <= 1)
            return 1;
        random ^= random << 13;
        random ^= random >>> 17;
        random ^= random << 5;
        return 1 + (random >>> 1) % (2 * every - 1);
    }

    private void pop(int i) {
        Object lock = locks[i];
        long from = since[i];
        locks[i] = null;
        n = i;
        if (from != 0) {
            since[i] = 0;
            ended(lock, from, MONITOR);
        }
    }

    /** Monitors end in the reverse order of their beginnings: one above this lock has lost its end. */
    private void leaveBelow(Object lock) {
        int at = find(MONITOR, lock);
        if (at < 0)
            return;
        long from = since[at];
        int to = at;
        for (int i = at + 1; i < n; i++)
            if (kinds[i] != MONITOR)
                move(i, to++);
        cut(to);
        if (from != 0)
            ended(lock, from, MONITOR);
    }

    private int find(int kind, Object lock) {
        for (int i = n - 1; i >= 0; i--)
            if (locks[i] == lock && kinds[i] == kind)
                return i;
        return -1;
    }

    private void move(int from, int to) {
        locks[to] = locks[from];
        kinds[to] = kinds[from];
        since[to] = since[from];
    }

    private void cut(int to) {
        for (int i = to; i < n; i++) {
            locks[i] = null;
            since[i] = 0;
        }
        n = to;
    }

    private void take(int kind, Object lock) {
        if (kind >= TO_WRITE) {
            int now = kind == TO_WRITE ? STAMPED_WRITE : STAMPED_READ;
            if (find(now, lock) < 0) // else it was of that kind before
                push(lock, now);
            return;
        }
        if (kind == EXCLUSIVE && find(kind, lock) >= 0)
            return; // the owner takes it again; it is given back only once
        if (kind == STAMPED_WRITE && find(kind, lock) >= 0)
            drop(find(kind, lock)); // another thread has given it back
        push(lock, kind);
    }

    private void drop(int at) {
        for (int i = at + 1; i < n; i++)
            move(i, i - 1);
        cut(n - 1);
    }
}
