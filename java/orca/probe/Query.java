package orca.probe;

import java.lang.management.LockInfo;
import java.lang.management.ManagementFactory;
import java.lang.management.MonitorInfo;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What `orca query` asks of a running JVM, as JSON. The JVM's own management answers who holds and who waits
 * at one safepoint; it knows platform threads. Loaded when the first question comes, and not before.
 *
 * No code of the program is called: no toString, no getter.
 */
final class Query {
    private static final int FRAMES = 256;

    private final StringBuilder out = new StringBuilder();

    private Query() { }

    /** Since when the thread waits, as far as it was recorded: ns before now, or -1. */
    private static native long waitingFor(long tid);

    /** The agent's number of an object that it has met, or 0. */
    private static native int idOf(Object o);

    // --- JSON ---------------------------------------------------------------------------------------

    private Query text(String s) {
        if (s == null) {
            out.append("null");
            return this;
        }
        out.append('"');
        for (int i = 0; i < s.length(); i++) {
            char c = s.charAt(i);
            if (c == '"' || c == '\\')
                out.append('\\').append(c);
            else if (c < ' ' || c > '~') {
                out.append("\\u");
                for (int shift = 12; shift >= 0; shift -= 4)
                    out.append(Character.forDigit(c >> shift & 15, 16));
            } else
                out.append(c);
        }
        out.append('"');
        return this;
    }

    private Query key(String name) {
        char before = out.length() > 0 ? out.charAt(out.length() - 1) : '{';
        if (before != '{' && before != '[')
            out.append(',');
        out.append('"').append(name).append("\":");
        return this;
    }

    private Query next() {
        char before = out.charAt(out.length() - 1);
        if (before != '[')
            out.append(',');
        return this;
    }

    private Query add(String s) {
        out.append(s);
        return this;
    }

    private static String hash(int identity) {
        String s = Integer.toHexString(identity).toUpperCase(java.util.Locale.ROOT);
        return "00000000".substring(s.length()) + s;
    }

    private Query frame(StackTraceElement e) {
        return text(e.getClassName() + "." + e.getMethodName() + "("
                + (e.isNativeMethod() ? "native" : e.getFileName() == null ? "?" : e.getFileName()
                + (e.getLineNumber() >= 0 ? ":" + e.getLineNumber() : "")) + ")");
    }

    private Query who(long id, String name) {
        return add("{").key("id").add(Long.toString(id)).key("name").text(name).add("}");
    }

    private Query lock(LockInfo l) {
        return add("{").key("class").text(l.getClassName()).key("hash").text(hash(l.getIdentityHashCode())).add("}");
    }

    // --- threads and locks at one moment --------------------------------------------------------------

    /**
     * Without the synchronizers that threads own and nobody waits for: to find those HotSpot walks the whole heap
     * at a safepoint, and on 17 has crashed in that walk (ZGC, classes being unloaded).
     */
    private static ThreadInfo[] all() {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        return threads.dumpAllThreads(threads.isObjectMonitorUsageSupported(), false, FRAMES);
    }

    /** What these threads block on or wait for: "ID STATE HASH OWNER CLASS" a line, OWNER -1 when there is none. */
    static String waits(long[] ids) {
        StringBuilder s = new StringBuilder();
        for (ThreadInfo t : ManagementFactory.getThreadMXBean().getThreadInfo(ids))
            if (t != null && t.getLockInfo() != null)
                s.append(t.getThreadId()).append(' ').append(t.getThreadState()).append(' ')
                        .append(hash(t.getLockInfo().getIdentityHashCode())).append(' ').append(t.getLockOwnerId())
                        .append(' ').append(t.getLockInfo().getClassName()).append('\n');
        return s.toString();
    }

    private static QueryLock find(Map<String, QueryLock> locks, LockInfo info, boolean monitor) {
        String key = info.getClassName() + "@" + info.getIdentityHashCode();
        QueryLock l = locks.get(key);
        if (l == null)
            locks.put(key, l = new QueryLock(info, monitor));
        return l;
    }

    private static ThreadInfo byId(ThreadInfo[] threads, long id) {
        for (ThreadInfo t : threads)
            if (t.getThreadId() == id)
                return t;
        return null;
    }

    private static Map<String, QueryLock> locks(ThreadInfo[] threads) {
        Map<String, QueryLock> locks = new LinkedHashMap<>();
        for (ThreadInfo t : threads) {
            for (MonitorInfo m : t.getLockedMonitors()) {
                QueryLock l = find(locks, m, true);
                l.owner = t;
                l.taken = m.getLockedStackFrame();
            }
        }
        for (ThreadInfo t : threads)
            if (t.getLockInfo() != null) {
                QueryLock l = find(locks, t.getLockInfo(), !how(t).equals("parked"));
                l.waiting.add(t);
                if (t.getLockOwnerId() >= 0) {
                    l.ownerId = t.getLockOwnerId();
                    l.ownerName = t.getLockOwnerName();
                    if (l.owner == null)
                        l.owner = byId(threads, l.ownerId);
                }
            }
        return locks;
    }

    /** What the thread does about the lock: "blocked", "parked", "waiting" (Object.wait). */
    private static String how(ThreadInfo t) {
        if (t.getThreadState() == Thread.State.BLOCKED)
            return "blocked";
        StackTraceElement[] s = t.getStackTrace();
        return s.length > 0 && s[0].getClassName().equals("java.lang.Object") ? "waiting" : "parked";
    }

    private void waiters(QueryLock l) {
        key("waiting").add("[");
        for (ThreadInfo t : l.waiting) {
            next().add("{").key("id").add(Long.toString(t.getThreadId())).key("name").text(t.getThreadName());
            key("how").text(how(t)).key("ns").add(Long.toString(waitingFor(t.getThreadId())));
            key("at").frame(place(t)).add("}");
        }
        add("]");
    }

    /** The first frame that is the program's, else the first one. */
    private static StackTraceElement place(ThreadInfo t) {
        StackTraceElement[] s = t.getStackTrace();
        for (StackTraceElement e : s)
            if (!e.getClassName().startsWith("java.") && !e.getClassName().startsWith("jdk."))
                return e;
        return s.length > 0 ? s[0] : new StackTraceElement("?", "?", null, -1);
    }

    private void lock(QueryLock l) {
        add("{").key("class").text(l.info.getClassName()).key("hash").text(hash(l.info.getIdentityHashCode()));
        key("kind").text(l.monitor ? "monitor" : "synchronizer").key("owner");
        if (l.owner != null)
            who(l.owner.getThreadId(), l.owner.getThreadName());
        else if (l.ownerId >= 0)
            who(l.ownerId, l.ownerName);
        else
            add("null");
        if (l.taken != null)
            key("taken_at").frame(l.taken);
        if (l.owner != null && l.owner.getStackTrace().length > 0)
            key("owner_at").frame(place(l.owner));
        waiters(l);
        add("}");
    }

    private void deadlocks(ThreadInfo[] threads) {
        long[] ids = ManagementFactory.getThreadMXBean().findDeadlockedThreads();
        Map<Long, ThreadInfo> left = new LinkedHashMap<>();
        for (ThreadInfo t : threads)
            for (int i = 0; ids != null && i < ids.length; i++)
                if (ids[i] == t.getThreadId())
                    left.put(ids[i], t);
        key("deadlocks").add("[");
        while (!left.isEmpty()) {
            next().add("[");
            ThreadInfo t = left.values().iterator().next();
            while (t != null && left.remove(t.getThreadId()) != null) {
                next().add("{").key("id").add(Long.toString(t.getThreadId())).key("name").text(t.getThreadName());
                if (t.getLockInfo() != null)
                    key("waits_for").lock(t.getLockInfo()).key("owner").who(t.getLockOwnerId(), t.getLockOwnerName());
                key("at").frame(place(t)).add("}");
                t = left.get(t.getLockOwnerId());
            }
            add("]");
        }
        add("]");
    }

    /** Who holds and who waits now; locks that nobody waits for only when `held`. */
    static String locks(boolean held) {
        Query q = new Query();
        ThreadInfo[] threads = all();
        q.add("{").key("locks").add("[");
        for (QueryLock l : locks(threads).values())
            if (held || !l.waiting.isEmpty()) {
                q.next();
                q.lock(l);
            }
        q.add("]");
        q.deadlocks(threads);
        return q.add("}").out.toString();
    }

    private static boolean isMeant(ThreadInfo t, String name) {
        return t.getThreadName().equals(name) || Long.toString(t.getThreadId()).equals(name);
    }

    /** Synchronizers that the thread owns and others wait for. */
    private void holdsSynchronizers(ThreadInfo t, ThreadInfo[] threads) {
        for (QueryLock l : locks(threads).values())
            if (!l.monitor && l.ownerId == t.getThreadId())
                next().add("{").key("class").text(l.info.getClassName()).key("hash")
                        .text(hash(l.info.getIdentityHashCode())).key("kind").text("synchronizer").add("}");
    }

    private void thread(ThreadInfo t, ThreadInfo[] threads) {
        add("{").key("id").add(Long.toString(t.getThreadId())).key("name").text(t.getThreadName());
        key("daemon").add(Boolean.toString(t.isDaemon())).key("state").text(t.getThreadState().name());
        key("waiting_ns").add(Long.toString(waitingFor(t.getThreadId()))).key("waits_for");
        if (t.getLockInfo() != null)
            lock(t.getLockInfo());
        else
            add("null");
        key("owner");
        if (t.getLockOwnerId() >= 0)
            who(t.getLockOwnerId(), t.getLockOwnerName());
        else
            add("null");
        key("holds").add("[");
        for (MonitorInfo m : t.getLockedMonitors()) {
            next().add("{").key("class").text(m.getClassName()).key("hash").text(hash(m.getIdentityHashCode()));
            key("kind").text("monitor").key("taken_at").frame(m.getLockedStackFrame()).add("}");
        }
        holdsSynchronizers(t, threads);
        add("]").key("stack").add("[");
        for (StackTraceElement e : t.getStackTrace())
            next().frame(e);
        add("]}");
    }

    /** Every platform thread of this name or number. */
    static String thread(String name) {
        Query q = new Query();
        q.add("{").key("threads").add("[");
        ThreadInfo[] threads = all();
        for (ThreadInfo t : threads)
            if (isMeant(t, name)) {
                q.next();
                q.thread(t, threads);
            }
        return q.add("]}").out.toString();
    }

    // --- objects and classes ----------------------------------------------------------------------------

    private void threads(String name, Thread[] threads) {
        key(name).add("[");
        for (Thread t : threads)
            next().who(t.getId(), t.getName());
        add("]");
    }

    /** An object's monitor as JVMTI sees it. */
    static String monitor(Object o, Thread owner, int entries, Thread[] entering, Thread[] waiting) {
        Query q = new Query();
        q.object(o, -1);
        q.key("owner");
        if (owner == null)
            q.add("null");
        else
            q.who(owner.getId(), owner.getName());
        q.key("entry_count").add(Integer.toString(entries));
        q.threads("waiting_to_enter", entering);
        q.threads("waiting_to_be_notified", waiting);
        return q.add("}").out.toString();
    }

    private void object(Object o, long size) {
        add("{").key("id").add(Integer.toString(idOf(o))).key("class").text(o.getClass().getName());
        key("hash").text(hash(System.identityHashCode(o)));
        if (size >= 0)
            key("bytes").add(Long.toString(size));
    }

    /** more: further properties as JSON, each with a comma before it. */
    static String objectOf(Object o, long size, String more) {
        Query q = new Query();
        q.object(o, size);
        if (o instanceof Thread)
            q.key("thread").who(((Thread) o).getId(), ((Thread) o).getName());
        if (o instanceof Class)
            q.key("class_object_of").text(((Class<?>) o).getName());
        return q.add(more).add("}").out.toString();
    }

    /** Classes of one name, by different loaders; more: as of objectOf. */
    static String classes(Class<?>[] classes, int[] ids, String[] more) {
        Query q = new Query();
        q.add("{").key("classes").add("[");
        for (int i = 0; i < classes.length; i++) {
            Class<?> c = classes[i];
            ClassLoader loader = c.getClassLoader();
            q.next().add("{").key("id").add(Integer.toString(ids[i])).key("name").text(c.getName());
            q.key("hash").text(hash(System.identityHashCode(c)));
            q.key("loader").text(loader == null ? "boot" : loader.getClass().getName() + "@"
                    + hash(System.identityHashCode(loader)));
            q.key("module").text(c.getModule().getName()).key("interface").add(Boolean.toString(c.isInterface()));
            q.key("super").text(c.getSuperclass() == null ? null : c.getSuperclass().getName());
            q.key("interfaces").add("[");
            for (Class<?> in : c.getInterfaces())
                q.next().text(in.getName());
            q.add("]").add(more[i]).add("}");
        }
        return q.add("]}").out.toString();
    }
}
