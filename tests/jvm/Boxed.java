/* A loop that calls routines of the JVM's own, and boxes what it has computed: Boxed TIMES
 *
 * C2 inlines the boxing last, and describes by its place what has none of its own. */
import java.util.TreeMap;

public class Boxed {
    static final TreeMap<Integer, Long> lines = new TreeMap<>();

    static void put(int key, long value) {
        lines.put(key, value);
    }

    static void compute(int zones) {
        for (int kg = 0; kg < 20; kg++) {
            double cost = 0;
            for (int zone = 1; zone < zones; zone++)
                cost += Math.pow(zone, 0.37) * Math.cos(zone + kg); // computes
            put(kg, (long) cost);
        }
    }

    public static void main(String[] args) throws Exception {
        Thread t = new Thread(() -> {
            for (int i = Integer.parseInt(args[0]); i > 0; i--)
                compute(4000);
        }, "computing");
        t.start();
        t.join();
    }
}
