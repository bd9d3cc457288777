import java.util.ArrayList;
import java.util.List;

/**
 * Keeps objects whose references are known: "Heaped [MB]", with MB megabytes of small objects beside them.
 *
 *   static Holder root -> Holder "outer" -> Holder "inner" -> Leaf { int[3] {7, 8, 9}, name "leaf", self }
 *   static Object[] row: 0 the Leaf, 1 null, 2 a String with what JSON and terminals do not take
 *   static Trouble.last: an exception whose field "why" is the Holder "inner"
 *   static Holder dropped: a Holder, until "d" is read from the standard input ("dropped")
 *   static Object late: a Late, allocated when "a" is read ("allocated")
 *
 * Says "ready", does what the words on its standard input say, and ends with it.
 */
public class Heaped {
    interface Named { Object CONSTANT = new Object[0]; }
    static class Base implements Named { long number = 1234567890123L; Object of; }
    static class Holder extends Base { final String name; Holder(String name) { this.name = name; } }
    static final class Leaf extends Base {
        static Object shared;
        boolean flag = true;
        char letter = '"';
        double ratio = 0.5;
        float half = Float.NaN;
        byte small = -1;
        int[] numbers = {7, 8, 9};
        String name = "leaf";
        Leaf self = this;
    }

    static class Trouble extends RuntimeException {
        private static final long serialVersionUID = 1;
        static Object last;
        final Object why;
        Trouble(Object why) { super("in trouble", null, true, false); this.why = why; last = this; }
    }

    static class Late { Object of = root; }
    static Object late;
    static Holder root, dropped;
    static Object[] row;
    static final List<Object> filling = new ArrayList<>();

    private static Leaf makeLeaf() {
        return new Leaf(); // site: leaf
    }

    public static void main(String[] args) throws Exception {
        int mb = args.length > 0 ? Integer.parseInt(args[0]) : 0;
        for (int i = 0; i < 100 && mb > 0; i++) { // the first sample of a thread may be half a MiB away, whatever was asked for
            filling.add(new byte[100_000]);
            filling.clear();
        }
        for (int i = 0; i < mb * 1024; i++)
            filling.add(new byte[1000]);
        Leaf leaf = makeLeaf();
        Holder inner = new Holder("inner");
        inner.of = leaf;
        Holder outer = new Holder("outer");
        outer.of = inner;
        root = outer;
        row = new Object[] {leaf, null, "a\"b\\c\n\u00e9\ud83d\ude00\ud800"};
        Leaf.shared = inner;
        dropped = new Holder("dropped");
        new Trouble(inner);
        leaf = null;
        inner = outer = null;
        System.out.println("ready");
        for (int c; (c = System.in.read()) >= 0;)
            if (c == 'a') {
                late = new Late();
                System.out.println("allocated");
            } else if (c == 'd') {
                dropped = null;
                System.out.println("dropped");
            }
    }
}
