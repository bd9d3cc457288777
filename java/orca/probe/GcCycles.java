package orca.probe;

import com.sun.management.GarbageCollectionNotificationInfo;
import com.sun.management.GcInfo;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.management.ListenerNotFoundException;
import javax.management.Notification;
import javax.management.NotificationEmitter;
import javax.management.NotificationListener;
import javax.management.openmbean.CompositeData;

/**
 * Tells the agent of each cycle of a concurrent collector when it has ended. Loaded only in a JVM that has such a
 * collector, after its first pause.
 *
 * The beans of pauses are not listened to: JVMTI tells of these, and exactly.
 */
final class GcCycles implements NotificationListener {
    private static final GcCycles LISTENER = new GcCycles();
    private static String[] heapPools;

    private GcCycles() { }

    /**
     * Start and end in ms, by the management's own clock; bytes of the heap in use before and after, and committed
     * after.
     */
    private static native void ended(String collector, String cause, long[] numbers);

    /** When the last pause began, by the agent's clock, ns. */
    private static native long lastPause();

    /** The moment from which the management counts its ms, by the agent's clock, ns. */
    private static native void countsFrom(long origin);

    private static boolean isOfCycles(GarbageCollectorMXBean b) {
        return b.getName().endsWith(" Cycles") && b instanceof NotificationEmitter;
    }

    private static String[] findHeapPools() {
        List<String> names = new ArrayList<>();
        for (MemoryPoolMXBean p : ManagementFactory.getMemoryPoolMXBeans())
            if (p.getType() == MemoryType.HEAP)
                names.add(p.getName());
        return names.toArray(new String[0]);
    }

    /** When the last pause began, by the management's clock, ms; -1: none has been. */
    private static long lastStart() {
        long last = -1;
        for (GarbageCollectorMXBean b : ManagementFactory.getGarbageCollectorMXBeans())
            if (b.getName().endsWith(" Pauses")) {
                GcInfo i = ((com.sun.management.GarbageCollectorMXBean) b).getLastGcInfo();
                if (i != null)
                    last = Math.max(last, i.getStartTime());
            }
        return last;
    }

    /** A pause that both clocks have seen: the last one, if it is still that when both have been asked. */
    private static void findOrigin() {
        for (int tries = 0; tries < 100; tries++) {
            long pause = lastPause(), start = lastStart();
            if (pause == lastPause() && start >= 0) {
                countsFrom(pause - start * 1_000_000);
                return;
            }
        }
    }

    /** How many beans are listened to. */
    static int start() {
        int n = 0;
        heapPools = findHeapPools();
        findOrigin();
        for (GarbageCollectorMXBean b : ManagementFactory.getGarbageCollectorMXBeans())
            if (isOfCycles(b)) {
                ((NotificationEmitter) b).addNotificationListener(LISTENER, null, null);
                n++;
            }
        return n;
    }

    static void stop() {
        for (GarbageCollectorMXBean b : ManagementFactory.getGarbageCollectorMXBeans())
            try {
                if (isOfCycles(b))
                    ((NotificationEmitter) b).removeNotificationListener(LISTENER);
            } catch (ListenerNotFoundException e) {
                continue; // it did not take one
            }
    }

    private static long sum(Map<String, MemoryUsage> pools, boolean committed) {
        long sum = 0;
        for (String name : heapPools) {
            MemoryUsage u = pools.get(name);
            if (u != null)
                sum += committed ? u.getCommitted() : u.getUsed();
        }
        return sum;
    }

    @Override
    public void handleNotification(Notification n, Object unused) {
        if (!n.getType().equals(GarbageCollectionNotificationInfo.GARBAGE_COLLECTION_NOTIFICATION))
            return;
        GarbageCollectionNotificationInfo i = GarbageCollectionNotificationInfo.from((CompositeData) n.getUserData());
        GcInfo g = i.getGcInfo();
        ended(i.getGcName(), i.getGcCause(), new long[] {g.getStartTime(), g.getEndTime(),
                sum(g.getMemoryUsageBeforeGc(), false), sum(g.getMemoryUsageAfterGc(), false),
                sum(g.getMemoryUsageAfterGc(), true)});
    }
}
