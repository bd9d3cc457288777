package orca.probe;

import java.lang.management.LockInfo;
import java.lang.management.ManagementFactory;
import java.lang.management.MonitorInfo;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What `orca query` asks of a running JVM, as JSON. The JVM's own management answers who holds and who waits
 * at one safepoint; it knows platform threads. Virtual ones are looked at after that (QueryVirtual). Loaded when the first question comes, and not before.
 *
 * No code of the program is called: no toString, no getter.
 */
final class Query {
    private static final int FRAMES = 256;

    private final StringBuilder out = new StringBuilder();
    private int virtualLeftOut;
    private final Map<String, String> files = new HashMap<>(); // by class
    private final Map<Long, Thread> platform = new HashMap<>(); // by id, of platformThread
    private boolean seesAll; // every stack, whole, and all of them at one moment

    private Query() { }

    /** Since when the thread waits, as far as it was recorded: ns before now, or -1. */
    private static native long waitingFor(long tid);

    /** The agent's number of an object that it has met, or 0. */
    private static native int idOf(Object o);

    /** This thread waits: blocked (how 0), parked (1), in Object.wait (2); owner -1: none, or not known. */
    private static native void found(Thread t, int how, Object blocker, long owner);

    /** This virtual thread owns what that platform thread is blocked on. */
    private static native void owned(long tid, long owner);

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

    private static String place(StackTraceElement e, String file) {
        if (e.isNativeMethod())
            return "native";
        return (file == null ? "?" : file) + (e.getLineNumber() >= 0 ? ":" + e.getLineNumber() : "");
    }

    private Query frame(StackTraceElement e) {
        String file = lacksFile(e) ? files.get(e.getClassName()) : e.getFileName();
        return text(e.getClassName() + "." + e.getMethodName() + "(" + place(e, file) + ")");
    }

    // --- names of files -------------------------------------------------------------------------------

    /** A class and its file for each frame of a thread, null: not known. */
    private static native String[] filesOf(Thread t);

    /** A method goes on in the version that it began in when its class is changed, and of that management knows the line but not the file. */
    private static boolean lacksFile(StackTraceElement e) {
        return e.getFileName() == null && e.getLineNumber() >= 0;
    }

    private Thread platformThread(long id) {
        if (platform.isEmpty()) {
            ThreadGroup top = Thread.currentThread().getThreadGroup();
            while (top.getParent() != null)
                top = top.getParent();
            Thread[] all = new Thread[top.activeCount() + 64];
            for (int i = top.enumerate(all) - 1; i >= 0; i--)
                platform.put(all[i].getId(), all[i]);
        }
        return platform.get(id);
    }

    /** Before frames of that thread are written. */
    private void learnFiles(QueryThread t) {
        boolean lacks = false;
        for (StackTraceElement e : t.stack)
            lacks |= lacksFile(e) && !files.containsKey(e.getClassName());
        Thread thread = !lacks ? null : t.itself != null ? t.itself : platformThread(t.id);
        String[] found = thread == null ? null : filesOf(thread);
        for (int i = 0; found != null && i < found.length; i += 2)
            if (found[i] != null && found[i + 1] != null)
                files.put(found[i], found[i + 1]);
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
    private static ThreadInfo[] platform() {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        return threads.dumpAllThreads(threads.isObjectMonitorUsageSupported(), false, FRAMES);
    }

    /**
     * To management, who wants the monitor of an unmounted virtual thread is running, and for nothing: it looks for an
     * owner among the platform threads (HotSpot's ThreadSnapshot::initialize).
     */
    private QueryThread asItIs(QueryThread t) {
        boolean runs = t.state == Thread.State.RUNNABLE && Runtime.version().feature() >= 25;
        Thread thread = runs ? platformThread(t.id) : null;
        QueryThread now = thread != null && thread.getState() == Thread.State.BLOCKED ? QueryVirtual.look(thread) : null;
        return now != null && now.state == Thread.State.BLOCKED && now.waitsFor != null ? now : t;
    }

    private static ThreadInfo info(long id) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        return threads.getThreadInfo(new long[] {id}, threads.isObjectMonitorUsageSupported(), false, FRAMES)[0];
    }

    private static boolean isAsBefore(ThreadInfo t) {
        ThreadInfo now = ManagementFactory.getThreadMXBean().getThreadInfo(t.getThreadId());
        return now != null && now.getLockOwnerId() == t.getLockOwnerId() && now.getBlockedCount() == t.getBlockedCount()
                && now.getWaitedCount() == t.getWaitedCount();
    }

    /**
     * JDK 21 to 23: what a virtual thread owns, its carrier owns to management. Who owns a monitor stays on its carrier:
     * so it is the virtual one that the carrier runs, if both were seen at one moment, or the thread waits as before.
     *
     * @param seen owners by id: as they were at one moment with `t`, or (`later`) after it
     */
    private static QueryThread ofCarried(ThreadInfo t, Map<Long, ThreadInfo> seen, boolean later) {
        QueryThread q = new QueryThread(t);
        int java = Runtime.version().feature();
        if (q.ownerId < 0 || java < 21 || java > 23)
            return q;
        if (later && !seen.containsKey(q.ownerId))
            seen.put(q.ownerId, ManagementFactory.getThreadMXBean().getThreadInfo(q.ownerId, 1));
        ThreadInfo owner = seen.get(q.ownerId);
        if (owner != null && QueryThread.carries(owner)) {
            q.ownerId = !later || isAsBefore(t) ? owner.getLockOwnerId() : -1;
            q.ownerName = null;
        }
        return q;
    }

    private static void nameOwners(List<QueryThread> all) {
        Map<Long, String> names = new HashMap<>();
        for (QueryThread t : all)
            names.put(t.id, t.name);
        for (QueryThread t : all)
            if (t.ownerId >= 0 && t.ownerName == null)
                t.ownerName = names.get(t.ownerId);
    }

    /** All threads, and the owners of what they wait for where another one was seen to hold it. */
    private List<QueryThread> all(int mostVirtual) {
        List<QueryThread> all = new ArrayList<>();
        Map<Long, ThreadInfo> seen = new HashMap<>();
        ThreadInfo[] dump = platform();
        for (ThreadInfo t : dump)
            seen.put(t.getThreadId(), t);
        for (ThreadInfo t : dump)
            all.add(asItIs(ofCarried(t, seen, false)));
        int platform = all.size(), java = Runtime.version().feature();
        virtualLeftOut = QueryVirtual.addTo(all, mostVirtual);
        Map<Long, MonitorInfo[]> byCarrier = new HashMap<>();
        for (ThreadInfo t : dump)
            if (QueryThread.carries(t))
                byCarrier.put(t.getLockOwnerId(), t.getLockedMonitors());
        for (QueryThread t : all)
            if (byCarrier.containsKey(t.id))
                t.byCarrier = byCarrier.get(t.id);
        seesAll = java < 19 || java >= 25 && all.size() == platform;
        for (QueryThread t : all)
            seesAll &= t.stack.length < FRAMES;
        Map<String, QueryThread> holders = new HashMap<>();
        for (QueryThread t : all)
            for (MonitorInfo m : t.entered())
                if (t.waitsFor == null || !t.how().equals("waiting")
                        || !QueryThread.key(t.waitsFor).equals(QueryThread.key(m)))
                    holders.put(QueryThread.key(m), t);
        for (QueryThread t : all) {
            QueryThread holder = t.state == Thread.State.BLOCKED && t.waitsFor != null
                    ? holders.get(QueryThread.key(t.waitsFor)) : null;
            if (holder != null && t.ownerId < 0)
                t.ownerId = holder.id;
        }
        nameOwners(all);
        return all;
    }

    /** What these threads block on or wait for: "ID STATE HASH OWNER CLASS" a line, OWNER -1 when there is none. */
    static String waits(long[] ids) {
        StringBuilder s = new StringBuilder();
        Map<Long, ThreadInfo> seen = new HashMap<>();
        for (ThreadInfo t : ManagementFactory.getThreadMXBean().getThreadInfo(ids))
            if (t != null && t.getLockInfo() != null)
                s.append(t.getThreadId()).append(' ').append(t.getThreadState()).append(' ')
                        .append(hash(t.getLockInfo().getIdentityHashCode())).append(' ')
                        .append(ofCarried(t, seen, true).ownerId).append(' ').append(t.getLockInfo().getClassName()).append('\n');
        return s.toString();
    }

    private static int how(QueryThread t) {
        return t.state == Thread.State.BLOCKED ? 0 : t.how().equals("parked") ? 1 : 2;
    }

    private static boolean isAsBefore(QueryThread t) {
        QueryThread now = lookAgain(t);
        if (now != null && now.ownerId < 0) { /* of a monitor: who was seen to hold it is looked at, too */
            now.ownerId = t.ownerId;
            now.ownerName = t.ownerName;
        }
        return now != null && now.isAsIn(t);
    }

    /**
     * Reports each virtual thread that waits, and each platform thread that a virtual one blocks. First
     * who holds is looked at again, then who waits: if neither has moved since it was listed, the one waited
     * while the other held. Each look takes time: of more virtual threads than `most` those that may be stuck
     * are looked at. Returns how many are left out.
     */
    static int virtualWaits(int most) {
        if (!QueryVirtual.any())
            return 0;
        Query q = new Query();
        List<QueryThread> all = q.all(most);
        Map<Long, QueryThread> byId = new HashMap<>();
        for (QueryThread t : all)
            byId.put(t.id, t);
        for (QueryThread t : all) {
            QueryThread owner = byId.get(t.ownerId);
            boolean byVirtual = owner != null && owner.isVirtual;
            boolean parked = t.how().equals("parked"); /* then the lock itself says who owns it */
            if (t.isVirtual && t.waitsForNothing() && isAsBefore(t))
                found(t.itself, t.sleeps() ? 3 : how(t), null, -1);
            if (t.waitsFor == null || (t.itself == null && !byVirtual))
                continue;
            boolean holds = owner != null && (parked || isAsBefore(owner));
            if (!isAsBefore(t))
                continue;
            if (t.itself != null)
                found(t.itself, how(t), t.blocker, holds || parked ? t.ownerId : -1);
            else if (holds)
                owned(t.id, t.ownerId);
        }
        return q.virtualLeftOut;
    }

    private static QueryLock find(Map<String, QueryLock> locks, LockInfo info, boolean monitor) {
        String key = QueryThread.key(info);
        QueryLock l = locks.get(key);
        if (l == null)
            locks.put(key, l = new QueryLock(info, monitor));
        return l;
    }

    private static QueryThread byId(List<QueryThread> threads, long id) {
        for (QueryThread t : threads)
            if (t.id == id)
                return t;
        return null;
    }

    private static Map<String, QueryLock> locks(List<QueryThread> threads) {
        Map<String, QueryLock> locks = new LinkedHashMap<>();
        for (QueryThread t : threads) {
            for (MonitorInfo m : t.entered()) {
                if (t.waitsFor != null && t.how().equals("waiting")
                        && QueryThread.key(t.waitsFor).equals(QueryThread.key(m)))
                    continue; /* given back for the time of the wait */
                QueryLock l = find(locks, m, true);
                l.owner = t;
                l.taken = m.getLockedStackFrame();
            }
        }
        for (QueryThread t : threads)
            if (t.waitsFor != null) {
                QueryLock l = find(locks, t.waitsFor, !t.how().equals("parked"));
                l.waiting.add(t);
                if (t.ownerId >= 0) {
                    l.ownerId = t.ownerId;
                    l.ownerName = t.ownerName;
                    if (l.owner == null)
                        l.owner = byId(threads, l.ownerId);
                }
            }
        return locks;
    }

    private void waiters(QueryLock l) {
        key("waiting").add("[");
        for (QueryThread t : l.waiting) {
            next().add("{").key("id").add(Long.toString(t.id)).key("name").text(t.name);
            key("how").text(t.how()).key("ns").add(Long.toString(waitingFor(t.id)));
            key("at").frame(t.place()).add("}");
        }
        add("]");
    }

    /** A monitor with threads in Object.wait alone: none that was seen holds it. */
    private boolean hasNoOwner(QueryLock l) {
        if (!seesAll || !l.monitor || l.owner != null || l.ownerId >= 0)
            return false;
        for (QueryThread t : l.waiting)
            if (!t.how().equals("waiting"))
                return false;
        return true;
    }

    private void lock(QueryLock l) {
        add("{").key("class").text(l.info.getClassName()).key("hash").text(hash(l.info.getIdentityHashCode()));
        key("kind").text(l.monitor ? "monitor" : "synchronizer").key("owner");
        if (l.owner != null)
            who(l.owner.id, l.owner.name);
        else if (l.ownerId >= 0)
            who(l.ownerId, l.ownerName);
        else
            add("null");
        if (hasNoOwner(l))
            key("owned").add("false");
        if (l.taken != null)
            key("taken_at").frame(l.taken);
        if (l.owner != null && l.owner.stack.length > 0)
            key("owner_at").frame(l.owner.place());
        waiters(l);
        add("}");
    }

    // --- deadlocks --------------------------------------------------------------------------------------

    private static QueryThread lookAgain(QueryThread t) {
        if (t.itself != null)
            return QueryVirtual.look(t.itself);
        ThreadInfo now = info(t.id);
        return now == null ? null : ofCarried(now, new HashMap<>(), true);
    }

    /**
     * Virtual threads are looked at one after the other: each member of a circle was so when the others were, if
     * none has moved since.
     */
    private static boolean stays(List<QueryThread> circle) {
        for (int looks = 0; looks < 2; looks++) {
            try {
                Thread.sleep(20);
            } catch (InterruptedException e) {
                return false;
            }
            for (QueryThread t : circle) {
                QueryThread now = lookAgain(t);
                if (now != null && now.ownerId < 0) { /* of a monitor: its holder is a member, and is looked at */
                    now.ownerId = t.ownerId;
                    now.ownerName = t.ownerName;
                }
                if (now == null || !now.isAsIn(t))
                    return false;
            }
        }
        return true;
    }

    /** Threads that wait without a time limit for what the next one owns, the last one for the first. */
    private static List<List<QueryThread>> circles(List<QueryThread> threads) {
        Map<Long, QueryThread> left = new LinkedHashMap<>();
        List<List<QueryThread>> found = new ArrayList<>();
        for (QueryThread t : threads)
            if (t.ownerId >= 0 && (t.state == Thread.State.BLOCKED || t.state == Thread.State.WAITING))
                left.put(t.id, t);
        while (!left.isEmpty()) {
            List<QueryThread> way = new ArrayList<>();
            QueryThread t = left.values().iterator().next();
            while (t != null) {
                way.add(left.remove(t.id));
                t = left.get(t.ownerId);
            }
            QueryThread on = byId(way, way.get(way.size() - 1).ownerId);
            if (on != null)
                found.add(way.subList(way.indexOf(on), way.size()));
        }
        return found;
    }

    private static boolean hasVirtual(List<QueryThread> circle) {
        for (QueryThread t : circle)
            if (t.isVirtual)
                return true;
        return false;
    }

    private void deadlock(List<QueryThread> circle) {
        next().add("[");
        for (QueryThread t : circle) {
            next().add("{").key("id").add(Long.toString(t.id)).key("name").text(t.name);
            if (t.waitsFor != null)
                key("waits_for").lock(t.waitsFor).key("owner").who(t.ownerId, t.ownerName);
            key("at").frame(t.place()).add("}");
        }
        add("]");
    }

    /** Of platform threads the JVM itself says who is deadlocked, at one safepoint. */
    private void deadlocks(List<QueryThread> threads) {
        long[] ids = ManagementFactory.getThreadMXBean().findDeadlockedThreads();
        List<QueryThread> stuck = new ArrayList<>();
        for (int i = 0; ids != null && i < ids.length; i++) {
            QueryThread t = byId(threads, ids[i]);
            if (t != null)
                stuck.add(t);
        }
        key("deadlocks").add("[");
        for (List<QueryThread> circle : circles(stuck))
            deadlock(circle);
        for (List<QueryThread> circle : circles(threads))
            if (hasVirtual(circle) && stays(circle))
                deadlock(circle);
        add("]");
    }

    /** Who holds and who waits now; locks that nobody waits for only when `held`. */
    static String locks(boolean held) {
        Query q = new Query();
        List<QueryThread> threads = q.all(QueryVirtual.MOST);
        for (QueryThread t : threads)
            if (t.waitsFor != null || t.entered().length > 0)
                q.learnFiles(t);
        q.add("{").key("locks").add("[");
        for (QueryLock l : locks(threads).values())
            if (held || !l.waiting.isEmpty()) {
                q.next();
                q.lock(l);
            }
        q.add("]");
        q.deadlocks(threads);
        if (q.virtualLeftOut > 0)
            q.key("virtual_left_out").add(Integer.toString(q.virtualLeftOut));
        int unknown = 0;
        for (QueryThread t : threads)
            if (t.isVirtual && t.state == Thread.State.BLOCKED && t.waitsFor == null)
                unknown++;
        if (unknown > 0)
            q.key("blocked_on_unknown").add(Integer.toString(unknown));
        return q.add("}").out.toString();
    }

    // --- one thread -------------------------------------------------------------------------------------

    private static boolean isMeant(QueryThread t, String name) {
        return t.name.equals(name) || Long.toString(t.id).equals(name);
    }

    /** What the thread owns by what others say, who wait for it. */
    private void holdsForOthers(QueryThread t, List<QueryThread> threads) {
        for (QueryLock l : locks(threads).values())
            if (l.ownerId == t.id && !t.holds(l.info))
                next().add("{").key("class").text(l.info.getClassName()).key("hash")
                        .text(hash(l.info.getIdentityHashCode())).key("kind")
                        .text(l.monitor ? "monitor" : "synchronizer").add("}");
    }

    private void thread(QueryThread t, List<QueryThread> threads) {
        add("{").key("id").add(Long.toString(t.id)).key("name").text(t.name);
        key("daemon").add(Boolean.toString(t.daemon)).key("virtual").add(Boolean.toString(t.isVirtual));
        key("state").text(t.state.name());
        key("waiting_ns").add(Long.toString(waitingFor(t.id))).key("waits_for");
        if (t.waitsFor != null)
            lock(t.waitsFor);
        else
            add("null");
        key("owner");
        if (t.ownerId >= 0)
            who(t.ownerId, t.ownerName);
        else
            add("null");
        key("holds").add("[");
        for (MonitorInfo m : t.entered()) {
            next().add("{").key("class").text(m.getClassName()).key("hash").text(hash(m.getIdentityHashCode()));
            key("kind").text("monitor");
            if (m.getLockedStackFrame() != null) // else by JNI, or in a frame of the virtual thread
                key("taken_at").frame(m.getLockedStackFrame());
            add("}");
        }
        holdsForOthers(t, threads);
        add("]").key("stack").add("[");
        for (StackTraceElement e : t.stack)
            next().frame(e);
        add("]}");
    }

    /** Every thread of this name or number. */
    static String thread(String name) {
        Query q = new Query();
        List<QueryThread> threads = q.all(QueryVirtual.MOST);
        q.add("{").key("threads").add("[");
        for (QueryThread t : threads)
            if (isMeant(t, name)) {
                q.next();
                q.learnFiles(t);
                q.thread(t, threads);
            }
        return q.add("]}").out.toString();
    }

    // --- objects and classes ----------------------------------------------------------------------------

    private void threads(String name, Thread[] threads, List<Thread> virtual) {
        key(name).add("[");
        for (Thread t : threads)
            next().who(t.getId(), t.getName());
        for (Thread t : virtual)
            next().who(t.getId(), t.getName());
        add("]");
    }

    /** An object's monitor as JVMTI sees it, which has platform threads; and virtual ones. */
    static String monitor(Object o, Thread owner, int entries, Thread[] entering, Thread[] waiting) {
        Query q = new Query();
        List<Thread> owners = owner == null ? QueryVirtual.of(o, 0) : new ArrayList<>();
        Thread known = owner != null ? owner : owners.size() == 1 ? owners.get(0) : null;
        q.object(o, -1);
        q.key("owner");
        if (known == null)
            q.add("null");
        else
            q.who(known.getId(), known.getName());
        q.key("entry_count").add(Integer.toString(entries));
        q.threads("waiting_to_enter", entering, QueryVirtual.of(o, 1));
        q.threads("waiting_to_be_notified", waiting, QueryVirtual.of(o, 2));
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
