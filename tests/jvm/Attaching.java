import java.lang.reflect.Field;

/**
 * Holds the lock of Thread's map of ClassValues, in which the agent's no longer is, until a line comes: who allocates a
 * Thread until then would wait for it, and a native thread that is attached to the JVM allocates one.
 *
 * <p>Needs {@code --add-opens java.base/java.lang=ALL-UNNAMED}, and the group alloc.
 */
public final class Attaching {
    private Attaching() { }

    private static Object read(Class<?> c, String field, Object of) throws ReflectiveOperationException {
        Field f = c.getDeclaredField(field);
        f.setAccessible(true);
        return f.get(of);
    }

    public static void main(String[] args) throws Exception {
        ClassValue<?> kinds = (ClassValue<?>) read(Class.forName("java.lang.OrcaHeap"), "KINDS", null);
        kinds.get(Thread.class); // there is a map, then
        Object map = read(Class.class, "classValueMap", Thread.class);
        synchronized (map) {
            kinds.remove(Thread.class);
            System.out.println("ready");
            System.in.read();
        }
    }
}
