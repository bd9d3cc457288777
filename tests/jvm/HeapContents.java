import java.util.*;
import java.util.concurrent.*;

/**
 * A heap of which the contents are known. Prints "ready", and for each line of input adds 1,000 Entry and prints it
 * again.
 *
 * Strings: 500 of "a duplicate of a name", each with an array of its own, held by Owner.name, and the literal; 40 of
 * three characters that need two bytes, and the literal.
 *
 * Collections: in Owner.some 200 empty ArrayList with an array of 8 and 100 with one element in an array of 64; 300
 * empty HashMap, and 50 HashSet with one element in a table of 2,048. 20 long[1000] of zeros.
 *
 * Threads: "holder" sleeps, called by Holder.inner, which holds an int[250000]; its caller Holder.run holds a Marker.
 *
 * Most of the heap is 20,000 Entry of more than 100 bytes in the ArrayList LEAK.
 */
public final class HeapContents {
    static final int OWNERS = 500, ENTRIES = 20000, MORE = 1000;

    static final class Owner {
        String name;
        Object some;
    }

    static final class Entry {
        final byte[] data = new byte[100];

        Entry(int i) {
            data[0] = (byte) (i | 1);
        }
    }

    static final class Marker {
        int value;
    }

    static final class Holder extends Thread {
        final CountDownLatch held = new CountDownLatch(1);

        Holder() {
            super("holder");
            setDaemon(true);
        }

        @Override
        public void run() {
            Marker marker = new Marker();
            marker.value = inner(marker);
        }

        int inner(Marker marker) {
            int[] big = new int[250000];
            big[1] = 1;
            held.countDown();
            while (marker.value == 0) {
                try {
                    Thread.sleep(3600 * 1000);
                } catch (InterruptedException e) {
                    return big[1];
                }
            }
            return big[0] + marker.value;
        }
    }

    static final List<Owner> OWNER_LIST = new ArrayList<>();
    static final List<Entry> LEAK = new ArrayList<>();
    static final Object[] WIDE = new Object[40];
    static final long[][] ZEROS = new long[20][];

    static String copy(String text) {
        return new String(text.toCharArray());
    }

    static Object some(int i) {
        if (i < 200)
            return new ArrayList<Object>(8);
        if (i < 300) {
            List<Object> list = new ArrayList<>(64);
            list.add(WIDE);
            return list;
        }
        return null;
    }

    static void fill() {
        for (int i = 0; i < OWNERS; i++) {
            Owner o = new Owner();
            o.name = copy("a duplicate of a name");
            o.some = some(i);
            OWNER_LIST.add(o);
        }
        for (int i = 0; i < WIDE.length; i++)
            WIDE[i] = copy("\u4e2d\u6587\u5b57");
        for (int i = 0; i < ZEROS.length; i++)
            ZEROS[i] = new long[1000];
    }

    static final List<Object> MAPS = new ArrayList<>();

    static void maps() {
        for (int i = 0; i < 300; i++)
            MAPS.add(new HashMap<Object, Object>());
        for (int i = 0; i < 50; i++) {
            HashSet<Object> set = new HashSet<>(1000);
            set.add(WIDE);
            MAPS.add(set);
        }
    }

    static void leak(int n) {
        for (int i = 0; i < n; i++)
            LEAK.add(new Entry(i));
    }

    public static void main(String[] args) throws Exception {
        fill();
        maps();
        leak(ENTRIES);
        Holder holder = new Holder();
        holder.start();
        holder.held.await();
        System.out.println("ready");
        while (System.in.read() == '\n') {
            leak(MORE);
            System.out.println("ready");
        }
    }
}
