package orca.test;

import java.util.HashMap;
import java.util.Map;

/** What the edited test programs call.  Counts, and checks what must hold at each call. */
public class Probe {
    public static final Map<String, Integer> counts = new HashMap<>();
    public static final StringBuilder args = new StringBuilder();
    public static String wrong;
    /** The probe of this name throws once. */
    public static String fail;
    public static int depth, held;

    static void count(String name) {
        counts.merge(name, 1, Integer::sum);
        if (name.equals(fail)) {
            fail = null;
            throw new StackOverflowError("probe " + name);
        }
    }

    static void check(boolean ok, String what) {
        if (!ok && wrong == null)
            wrong = what;
    }

    public static int get(String name) { return counts.getOrDefault(name, 0); }

    public static void entry(Object self, int number) {
        check(number == 70000, "constant");
        depth++;
        count("entry");
    }

    public static void exit(Object self, int pc) {
        depth--;
        count("exit");
    }

    public static void threw(Object self, Object thrown) {
        check(thrown instanceof Throwable, "threw without a throwable");
        depth--;
        count("threw");
    }

    public static void beforeEnter(Object o) {
        check(o != null, "beforeEnter null");
        count("beforeEnter");
    }

    public static void afterEnter(Object o) {
        check(Thread.holdsLock(o), "afterEnter not held");
        held++;
        count("afterEnter");
    }

    public static void beforeLeave(Object o) {
        check(Thread.holdsLock(o), "beforeLeave not held");
        held--;
        count("beforeLeave");
    }

    public static void afterLeave(Object o) {
        check(o != null, "afterLeave null");
        count("afterLeave");
    }

    public static void lock(Object o, int point) {
        check(o != null && Thread.holdsLock(o), "synchronized not held");
        count("lock" + point);
    }

    public static void array(int number, Object array) {
        check(number == -7 && array.getClass().isArray(), "array");
        count("array");
    }

    static Object receiver;

    public static void beforeCall(int pc, Object o) {
        check(pc >= 0, "pc");
        receiver = o;
        count("beforeCall");
        if (o != null)
            count("receiver");
    }

    public static void afterCall(Object o, Object result) {
        check(o == null || o == receiver || !(o instanceof StringBuilder), "receiver after");
        check(!(o instanceof StringBuilder) || result == o, "result after");
        count("afterCall");
    }

    public static void callThrew(Object o, Object thrown) {
        check(thrown instanceof RuntimeException, "call threw");
        count("callThrew");
    }

    public static boolean equals(Object a, Object b) {
        count("equals");
        return a.equals(b);
    }

    public static Object mapGet(Map<?, ?> map, Object key) {
        count("mapGet");
        return map.get(key);
    }

    static void add(Object... values) {
        for (Object v : values)
            args.append(v instanceof String || v instanceof Number ? v : v == null ? "null" : "obj").append(' ');
        args.append("; ");
    }

    public static void args(Object self) { add(self); }
    public static void args(Object self, Object a) { add(self, a); }
    public static void args(Object self, int a, long b, double c, Object d) { add(self, a, b, c, d); }
    public static void args(Object self, int a, long b, double c, Object d, long result) { add(self, a, b, c, d, result); }
    public static void args(Object self, float a, Object b) { add(self, a, b); }
    public static void args(Object self, float a, Object b, Object result) { add(self, a, b, result); }
}
