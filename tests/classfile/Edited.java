import java.util.HashMap;
import java.util.Map;

/** What Facts.java knows about; this class and Base are edited. */
class Base {
    final int value;

    Base(int value) {
        this.value = value;
    }
}

class Edited extends Base {
    final Object lock = new Object();
    static int sink;

    /** Arguments of super(...) with a branch and a `new` in them. */
    Edited(int n) {
        super(n > 100 ? new int[n].length : n);
        if (n < 0)
            throw new IllegalArgumentException();
    }

    Edited(String s) {
        super(parse(s));
    }

    static int parse(String s) {
        return Integer.parseInt(s);
    }

    void plain() {
    }

    void loop() {
        do {
            sink++;
        } while (sink % 10 != 0);
    }

    long two(boolean b) {
        if (b)
            return 1;
        return 2;
    }

    void fails() {
        throw new IllegalStateException();
    }

    int catches() {
        try {
            fails();
        } catch (IllegalStateException e) {
            return 1;
        }
        return 2;
    }

    int withFinally(int n) {
        try {
            return n / sink;
        } catch (ArithmeticException e) {
            n = 0;
        } finally {
            sink += n;
        }
        return n;
    }

    void monitor() {
        synchronized (lock) {
            sink++;
        }
    }

    void monitorThrows() {
        synchronized (lock) {
            throw new IllegalStateException();
        }
    }

    int nested() {
        synchronized (lock) {
            synchronized (this) {
                return sink;
            }
        }
    }

    void arrays() {
        Object[] all = {new int[1], new String[2], new long[2][3]};
        sink += all.length;
    }

    String calls(String s) {
        StringBuilder b = new StringBuilder();
        return b.append(s).append("x".concat(s)).toString();
    }

    String staticCall() {
        return String.valueOf((Object) lock);
    }

    int callThrows() {
        Map<Object, Object> m = Map.of();
        int kept = sink;
        try {
            m.put(1, 2);
        } catch (UnsupportedOperationException e) {
            return kept;
        }
        return -1;
    }

    Object callThrowsOut() {
        Map<Object, Object> m = Map.of();
        return m.put(1, 2);
    }

    long params(int a, long b, double c, String d) {
        a = 7;
        b = a + b;
        d = null;
        for (int i = 0; i < 3; i++)
            c += i;
        return 42;
    }

    static String paramsStatic(float a, String b) {
        String kept = b.trim();
        a = 3;
        b = null;
        return kept + "!";
    }

    synchronized void locked(boolean fail) {
        if (fail)
            throw new IllegalStateException();
    }

    static synchronized int lockedStatic() {
        return sink;
    }

    String replaced() {
        Map<String, String> m = new HashMap<>();
        m.put("k", "v");
        Object k = "k";
        return m.get(k) + " " + k.equals("k");
    }
}
