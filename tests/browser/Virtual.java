/* Ten thousand virtual threads (their names "vt-0" ...) that meet on eight monitors and sleep; JDK 21 or later. */
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;

public class Virtual {
    public static void main(String[] args) throws Exception {
        Object[] locks = new Object[8];
        for (int i = 0; i < locks.length; i++)
            locks[i] = new Object();
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        Class<?> type = Class.forName("java.lang.Thread$Builder");
        Method name = type.getMethod("name", String.class, long.class);
        Object named = name.invoke(builder, "vt-", 0L);
        Method start = type.getMethod("start", Runnable.class);
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < 10000; i++) {
            int k = i;
            all.add((Thread) start.invoke(named, (Runnable) () -> {
                try {
                    Thread.sleep(20);
                    synchronized (locks[k % 8]) {
                        if (k % 64 == 0)
                            Thread.sleep(1);
                    }
                } catch (InterruptedException e) {
                    throw new RuntimeException(e);
                }
            }));
        }
        for (Thread t : all)
            t.join();
    }
}
