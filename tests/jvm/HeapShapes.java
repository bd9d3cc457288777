import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A heap that does not change: 5,000 lists in a static map, a list of 100,000 entries, 1,000 strings. */
public class HeapShapes {
    static class Entry {
        Entry next;
        long value;
        boolean odd;
    }

    static class Small extends Entry {
        byte more;
        short less;
    }

    static final Map<String, List<Integer>> LISTS = new HashMap<>();
    static Entry chain;
    static double[] doubles = new double[12345];
    static Object[] mixed = {new Small(), new int[3][5], new char[7], "text", Thread.currentThread()};

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 100_000; i++) {
            LISTS.computeIfAbsent("key " + i % 5000, k -> new ArrayList<>()).add(i);
            Entry e = new Entry();
            e.next = chain;
            chain = e;
        }
        System.gc();
        System.out.println("ready");
        System.out.flush();
        Thread.sleep(600_000);
    }
}
