import java.util.HashMap;
import java.util.Map;
import orca.test.Probe;

/**
 * Facts about itself under the edits "all", "synchronized", "replace" and "params": prints one line "FACT expected got" per difference, and
 * "facts N wrong N".  The unedited program is not meant to run.
 */
public class Facts {
    static int facts, wrong;

    static void same(String name, Object expected, Object got) {
        facts++;
        if (!expected.equals(got)) {
            wrong++;
            System.out.println(name + ": expected " + expected + ", got " + got);
        }
    }

    /** The classes below are edited; this one is not (see tests/classfile/run). */
    interface Work { void run() throws Exception; }

    /** How often each probe was called by the work. */
    static void during(String name, Work work, Object... expected) {
        Map<String, Integer> before = new HashMap<>(Probe.counts);
        int depth = Probe.depth, held = Probe.held;
        Probe.wrong = null;
        String thrown = "none";
        try {
            work.run();
        } catch (Throwable t) {
            thrown = t.getClass().getSimpleName();
        }
        for (int i = 0; i < expected.length; i += 2) {
            String key = (String) expected[i];
            if (key.equals("thrown"))
                same(name + " thrown", expected[i + 1], thrown);
            else
                same(name + " " + key, expected[i + 1], Probe.get(key) - before.getOrDefault(key, 0));
        }
        same(name + " depth", depth, Probe.depth);
        same(name + " held", held, Probe.held);
        same(name + " checks", "ok", Probe.wrong == null ? "ok" : Probe.wrong);
    }

    static void all() {
        Edited e = new Edited(1);
        during("plain", () -> e.plain(), "entry", 1, "exit", 1, "threw", 0);
        during("loop at the first instruction", () -> e.loop(), "entry", 1, "exit", 1);
        during("two returns", () -> { e.two(true); e.two(false); }, "entry", 2, "exit", 2);
        during("throws", () -> e.fails(), "entry", 1, "exit", 0, "threw", 1, "thrown", "IllegalStateException");
        during("caught inside", () -> e.catches(), "entry", 2, "exit", 1, "threw", 1);
        during("finally", () -> e.withFinally(3), "entry", 1, "exit", 1);
        during("constructor", () -> new Edited(2), "entry", 2, "exit", 2);
        during("constructor that fails", () -> new Edited(-1), "entry", 2, "exit", 1, "threw", 1);
        during("constructor that fails before super", () -> {
            try {
                new Edited("x");
            } finally {
                Probe.depth--; // the constructor itself: nothing is called before super(...)
            }
        }, "threw", 1, "thrown", "NumberFormatException", "entry", 2, "exit", 0);
        during("monitor", () -> e.monitor(), "beforeEnter", 1, "afterEnter", 1, "beforeLeave", 1, "afterLeave", 1);
        during("monitor and exception", () -> e.monitorThrows(), "beforeEnter", 1, "afterEnter", 1, "beforeLeave", 1, "afterLeave", 1,
               "threw", 1);
        during("nested monitors", () -> e.nested(), "afterEnter", 2, "beforeLeave", 2);
        during("arrays", () -> e.arrays(), "array", 4);
        during("calls", () -> e.calls("a"), "beforeCall", 2, "afterCall", 2, "callThrew", 0, "receiver", 2);
        during("static call", () -> e.staticCall(), "beforeCall", 1, "afterCall", 1, "receiver", 0);
        during("call that throws", () -> e.callThrows(), "beforeCall", 1, "afterCall", 0, "callThrew", 1, "receiver", 1, "threw", 0);
        during("call that throws, uncaught", () -> e.callThrowsOut(), "callThrew", 1, "threw", 1);
        during("exit probe that fails", () -> { Probe.fail = "exit"; e.plain(); }, "exit", 1, "threw", 0, "thrown", "StackOverflowError");
        during("entry probe that fails", () -> {
            Probe.fail = "entry";
            Probe.depth--;
            e.loop();
        }, "entry", 1, "exit", 0, "threw", 0, "thrown", "StackOverflowError");
        Object lock = e.lock;
        for (String probe : new String[] {"beforeEnter", "afterEnter", "beforeLeave", "afterLeave"}) {
            Probe.fail = probe;
            try {
                e.monitor();
                same("failing " + probe, "thrown", "nothing");
            } catch (StackOverflowError x) {
                same("failing " + probe + ": locked", false, Thread.holdsLock(lock));
            }
        }
    }

    static void params() {
        Edited e = new Edited(1);
        e.params(1, 2, 3.5, "s");
        same("params", "obj 1 2 3.5 s ; obj 1 2 3.5 s 42 ; ", Probe.args.toString());
        Probe.args.setLength(0);
        Edited.paramsStatic(1.5f, "x");
        same("static params", "null 1.5 x ; null 1.5 x x! ; ", Probe.args.toString());
        Probe.args.setLength(0);
        try {
            Edited.paramsStatic(0, null);
        } catch (NullPointerException x) {
            same("params of a method that throws", "null 0.0 null ; null 0.0 null ; ", Probe.args.toString());
        }
    }

    static void locks() {
        Edited e = new Edited(1);
        during("synchronized", () -> e.locked(false), "lock0", 1, "lock1", 1, "lock2", 0);
        during("synchronized, throws", () -> e.locked(true), "lock0", 1, "lock1", 0, "lock2", 1);
        during("static synchronized", () -> Edited.lockedStatic(), "lock0", 1, "lock1", 1);
    }

    static void replace() {
        Edited e = new Edited(1);
        during("replaced", () -> same("result", "v true", e.replaced()), "equals", 1, "mapGet", 1);
    }

    /** The class Monitors of handmade.c: a monitor with javac's handler, and one without any. */
    static void bare() throws Exception {
        Object lock = new Object();
        for (String method : new String[] {"covered", "bare"}) {
            var m = Class.forName("Monitors").getMethod(method, Object.class);
            during(method, () -> m.invoke(null, lock), "afterEnter", 1, "beforeLeave", 1, "thrown", "none");
            for (String probe : new String[] {"beforeEnter", "afterEnter", "beforeLeave", "afterLeave"}) {
                Probe.fail = probe;
                try {
                    m.invoke(null, lock);
                    same(method + " failing " + probe, "thrown", "nothing");
                } catch (java.lang.reflect.InvocationTargetException x) {
                    same(method + " failing " + probe, "java.lang.StackOverflowError: probe " + probe, x.getCause().toString());
                    same(method + " failing " + probe + ": locked", false, Thread.holdsLock(lock));
                }
            }
        }
    }

    public static void main(String[] a) throws Exception {
        switch (a[0]) {
        case "monitor": bare(); break;
        case "all": all(); break;
        case "params": params(); break;
        case "synchronized": locks(); break;
        default: replace();
        }
        System.out.println("facts " + facts + " wrong " + wrong);
        System.exit(wrong == 0 && facts > 0 ? 0 : 1);
    }
}
