package orca.probe;

import java.lang.management.LockInfo;
import java.lang.management.MonitorInfo;
import java.lang.management.ThreadInfo;
import java.util.Arrays;

/** A thread in an answer of Query: a platform thread as management sees it, or one that was looked at by itself (QueryVirtual). */
final class QueryThread {
    final long id;
    final String name;
    final boolean daemon;
    final boolean isVirtual;
    final Thread itself; // it was looked at by itself; null: with the platform threads at one moment
    final Thread.State state;
    final StackTraceElement[] stack;
    final MonitorInfo[] monitors; // that it has entered, as far as it was looked at by itself
    MonitorInfo[] byCarrier = new MonitorInfo[0]; // or as far as management says it of its carrier
    LockInfo waitsFor; // null: for none
    Object blocker; // that object, of one that was looked at by itself; else null
    long ownerId = -1; // of waitsFor
    String ownerName;
    private final long waits; // how many times it has waited or blocked

    QueryThread(ThreadInfo t) {
        id = t.getThreadId();
        name = t.getThreadName();
        daemon = t.isDaemon();
        isVirtual = false;
        itself = null;
        state = t.getThreadState();
        stack = t.getStackTrace();
        monitors = carries(t) ? new MonitorInfo[0] : t.getLockedMonitors();
        if (!carries(t)) {
            waitsFor = t.getLockInfo();
            ownerId = t.getLockOwnerId();
            ownerName = t.getLockOwnerName();
        }
        waits = t.getBlockedCount() + t.getWaitedCount();
    }

    /**
     * Since JDK 21: to management, who runs a virtual thread waits for it, as for a lock that the virtual thread owns.
     */
    static boolean carries(ThreadInfo t) {
        return t.getLockInfo() != null && t.getLockInfo().getClassName().equals("java.lang.VirtualThread")
                && t.getThreadState() == Thread.State.WAITING && t.getStackTrace().length > 0
                && t.getStackTrace()[0].getClassName().equals("jdk.internal.vm.Continuation");
    }

    QueryThread(Thread t, boolean isVirtual, String name, Thread.State state, StackTraceElement[] stack,
            MonitorInfo[] monitors) {
        id = t.getId();
        this.name = name;
        daemon = t.isDaemon();
        this.isVirtual = isVirtual;
        itself = t;
        this.state = state;
        this.stack = stack;
        this.monitors = monitors;
        waits = 0;
    }

    static String key(LockInfo l) {
        return l.getClassName() + "@" + l.getIdentityHashCode();
    }

    /** What the thread does about the lock: "blocked", "parked", "waiting" (Object.wait). */
    String how() {
        if (state == Thread.State.BLOCKED)
            return "blocked";
        return stack.length > 0 && stack[0].getClassName().equals("java.lang.Object") ? "waiting" : "parked";
    }

    /** Parked without a blocker, or asleep; or for what is not known. */
    boolean waitsForNothing() {
        return waitsFor == null && (state == Thread.State.BLOCKED || state == Thread.State.WAITING
                || state == Thread.State.TIMED_WAITING);
    }

    boolean sleeps() {
        for (StackTraceElement e : stack)
            if (!e.getClassName().startsWith("java.") && !e.getClassName().startsWith("jdk."))
                return false;
            else if (e.getClassName().equals("java.lang.Thread") && e.getMethodName().equals("sleep"))
                return true;
        return false;
    }

    /** The first frame that is the program's, else the first one. */
    StackTraceElement place() {
        for (StackTraceElement e : stack)
            if (!e.getClassName().startsWith("java.") && !e.getClassName().startsWith("jdk."))
                return e;
        return stack.length > 0 ? stack[0] : new StackTraceElement("?", "?", null, -1);
    }

    /** The monitors that it is known to have entered. */
    MonitorInfo[] entered() {
        return monitors.length > 0 ? monitors : byCarrier;
    }

    boolean holds(LockInfo l) {
        for (MonitorInfo m : entered())
            if (key(m).equals(key(l)))
                return true;
        return false;
    }

    /** Whether it has not moved since the other look. */
    boolean isAsIn(QueryThread other) {
        return state == other.state && waits == other.waits && ownerId == other.ownerId
                && (waitsFor == null ? other.waitsFor == null
                        : other.waitsFor != null && key(waitsFor).equals(key(other.waitsFor)))
                && monitors.length == other.monitors.length && Arrays.equals(stack, other.stack);
    }
}
