package orca.probe;

import java.lang.management.LockInfo;
import java.lang.management.MonitorInfo;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.AbstractOwnableSynchronizer;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * Virtual threads for Query, one after the other, and platform threads that they block. Since JDK 25 each as the JVM's
 * own thread dump sees it at one moment; before (JDK 21 to 24) part by part, which count if the thread has not moved.
 * Of a JVM whose classes are others there are none.
 */
final class QueryVirtual {
    /** So many are looked at, 20 to 100 us each. */
    static final int MOST = 20_000;

    private static final String CONTAINER = "jdk/internal/vm/ThreadContainer";
    private static final String SNAPSHOT = "jdk/internal/vm/ThreadSnapshot";

    private QueryVirtual() { }

    /**
     * Calls a method that returns an object, whoever may call it: a static one when `self` is null. Of its parameters
     * it has none, or one: `arg`, or `number`.
     */
    private static native Object call(String type, Object self, String name, String signature, Object arg, int number);

    /**
     * JDK 21 to 23: on whose monitor the virtual thread of this number is blocked, or waits to be notified; owner[0]:
     * who owns it, -1 when that is not known. null: none, or not known, as when nothing is recorded.
     */
    private static native Object monitorOf(long tid, long[] owner);

    private static Object get(Object snapshot, String name, String type) {
        return call(SNAPSHOT, snapshot, name, "()" + type, null, 0);
    }

    private static boolean isVirtual(Object thread) {
        return thread.getClass().getName().equals("java.lang.VirtualThread");
    }

    private static void collect(Object container, List<Thread> found, int depth) {
        Stream<?> threads = (Stream<?>) call(CONTAINER, container, "threads", "()Ljava/util/stream/Stream;", null, 0);
        for (Object t : threads.toArray())
            if (isVirtual(t))
                found.add((Thread) t);
        Stream<?> inner = (Stream<?>) call(CONTAINER, container, "children", "()Ljava/util/stream/Stream;", null, 0);
        for (Object c : depth > 0 ? inner.toArray() : new Object[0])
            collect(c, found, depth - 1);
    }

    static boolean any() {
        return !threads().isEmpty();
    }

    private static List<Thread> threads() {
        List<Thread> found = new ArrayList<>();
        try {
            collect(call(CONTAINER + "s", null, "root", "()L" + CONTAINER + ";", null, 0), found, 64);
        } catch (LinkageError | UnsupportedOperationException e) {
            return found; // as far as they were found
        }
        return found;
    }

    private static LockInfo info(Object o) {
        return new LockInfo(o.getClass().getName(), System.identityHashCode(o));
    }

    private static Object[] owned(Object snapshot, int depth) {
        return ((Stream<?>) call(SNAPSHOT, snapshot, "ownedMonitorsAt", "(I)Ljava/util/stream/Stream;", null, depth))
                .toArray();
    }

    /** The monitors that it has entered, by frame, without those of this object; their objects into `objects`. */
    private static MonitorInfo[] monitors(Object snapshot, StackTraceElement[] stack, Object without, List<Object> objects) {
        List<MonitorInfo> found = new ArrayList<>();
        for (int depth = 0; depth < stack.length; depth++)
            for (Object o : owned(snapshot, depth))
                if (o != null && o != without) {
                    found.add(new MonitorInfo(o.getClass().getName(), System.identityHashCode(o), depth, stack[depth]));
                    objects.add(o);
                }
        return found.toArray(new MonitorInfo[0]);
    }

    private static Object blocker(Object snapshot, Thread.State state) {
        if (state == Thread.State.BLOCKED)
            return get(snapshot, "blockedOn", "Ljava/lang/Object;");
        if (!waits(state))
            return null;
        Object o = get(snapshot, "waitingOn", "Ljava/lang/Object;");
        return o != null ? o : get(snapshot, "parkBlocker", "Ljava/lang/Object;");
    }

    private static Object onlyOne(List<Object> objects) {
        for (Object o : objects)
            if (o != objects.get(0))
                return null;
        return objects.isEmpty() ? null : objects.get(0);
    }

    private static boolean isInWait(StackTraceElement[] stack) {
        return stack.length > 0 && stack[0].getClassName().equals("java.lang.Object") && stack[0].getMethodName().startsWith("wait");
    }

    private static Thread ownerOf(Object blocker) {
        return blocker instanceof AbstractOwnableSynchronizer ? (Thread) call(
                "java/util/concurrent/locks/AbstractOwnableSynchronizer", blocker, "getExclusiveOwnerThread",
                "()Ljava/lang/Thread;", null, 0) : null;
    }

    private static Object snapshot(Thread t) {
        try {
            return call(SNAPSHOT, null, "of", "(Ljava/lang/Thread;)L" + SNAPSHOT + ";", t, 0);
        } catch (LinkageError | UnsupportedOperationException e) {
            return null;
        }
    }

    private static boolean waits(Thread.State state) {
        return state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING;
    }

    private static QueryThread lookOnce(Thread t, Thread.State state, StackTraceElement[] stack) {
        QueryThread q = new QueryThread(t, true, t.getName(), state, stack, new MonitorInfo[0]);
        long[] owner = {-1};
        if (state == Thread.State.BLOCKED || waits(state) && isInWait(stack))
            q.blocker = monitorOf(t.getId(), owner);
        else if (waits(state))
            q.blocker = LockSupport.getBlocker(t);
        Thread ofLock = ownerOf(q.blocker);
        q.ownerId = state == Thread.State.BLOCKED ? owner[0] : ofLock != null ? ofLock.getId() : -1;
        q.ownerName = ofLock != null ? ofLock.getName() : null;
        if (q.blocker != null)
            q.waitsFor = info(q.blocker);
        return q;
    }

    /** Before JDK 25; null when the thread has ended. One that never stays where it is runs. */
    private static QueryThread lookByParts(Thread t) {
        for (int tries = 0; tries < 3; tries++) {
            Thread.State state = t.getState();
            if (state == Thread.State.NEW || state == Thread.State.TERMINATED)
                return null;
            StackTraceElement[] stack = t.getStackTrace();
            QueryThread q = lookOnce(t, state, stack);
            if (t.getState() == state && Arrays.equals(stack, t.getStackTrace()))
                return q;
        }
        return lookOnce(t, Thread.State.RUNNABLE, t.getStackTrace());
    }

    /** The thread as it is now; null when it has ended, or the JVM does not tell. */
    static QueryThread look(Thread t) {
        if (Runtime.version().feature() < 25)
            return lookByParts(t);
        Object s = snapshot(t);
        if (s == null)
            return null;
        Thread.State state = (Thread.State) get(s, "threadState", "Ljava/lang/Thread$State;");
        StackTraceElement[] stack = (StackTraceElement[]) get(s, "stackTrace", "[Ljava/lang/StackTraceElement;");
        Object blocker = blocker(s, state);
        List<Object> objects = new ArrayList<>();
        MonitorInfo[] monitors = monitors(s, stack, blocker, objects);
        if (blocker == null && isInWait(stack)) {
            /* Notified, it wants that monitor again; the JVM does not say which of those that it has entered. */
            blocker = onlyOne(objects);
            monitors = new MonitorInfo[0];
        }
        QueryThread q = new QueryThread(t, isVirtual(t), (String) get(s, "threadName", "Ljava/lang/String;"), state, stack,
                monitors);
        Thread owner = ownerOf(blocker);
        q.blocker = blocker;
        if (blocker != null)
            q.waitsFor = info(blocker);
        if (owner != null) {
            q.ownerId = owner.getId();
            q.ownerName = owner.getName();
        }
        return q;
    }

    /** Where others may be stuck behind a thread, from 0: it is blocked, parked for a lock that has an owner, waits otherwise, runs. */
    private static int rank(Thread t) {
        Thread.State state = t.getState();
        if (state == Thread.State.BLOCKED)
            return 0;
        if (!waits(state))
            return 3;
        return ownerOf(LockSupport.getBlocker(t)) != null ? 1 : 2;
    }

    /** Of more threads than `most` those of the lowest ranks. */
    private static List<Thread> choose(List<Thread> threads, int most) {
        if (threads.size() <= most)
            return threads;
        List<List<Thread>> byRank = List.of(new ArrayList<>(), new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
        for (Thread t : threads)
            byRank.get(rank(t)).add(t);
        List<Thread> chosen = new ArrayList<>();
        for (List<Thread> some : byRank)
            chosen.addAll(some.subList(0, Math.min(some.size(), most - chosen.size())));
        return chosen;
    }

    /** Adds the virtual threads, or of more than `most` those that may be stuck; returns how many are left out. */
    static int addTo(List<QueryThread> all, int most) {
        List<Thread> threads = threads(), chosen = choose(threads, most);
        for (Thread t : chosen) {
            QueryThread q = look(t);
            if (q != null)
                all.add(q);
        }
        return threads.size() - chosen.size();
    }

    /** The virtual threads that own this object's monitor (how 0), block on it (1), or wait in its wait() (2). */
    static List<Thread> of(Object o, int how) {
        List<Thread> found = new ArrayList<>();
        for (Thread t : choose(threads(), MOST)) {
            QueryThread q = look(t);
            boolean waits = q != null && q.waitsFor != null && QueryThread.key(q.waitsFor).equals(QueryThread.key(info(o)));
            if (q != null && (how == 0 ? q.holds(info(o))
                    : waits && q.how().equals(how == 1 ? "blocked" : "waiting")))
                found.add(t);
        }
        return found;
    }
}
