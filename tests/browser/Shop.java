import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;

/**
 * A heap to be dumped: says "ready", and ends with its standard input.
 *
 *   static List<Order> orders: 300 orders, or as many as the first argument says; number k has the customer
 *       "customer k", k lines of 1000 bytes each, so that the last one retains most, an empty list of notes with
 *       room for 50, and a remark of its own, "as usual" (a String that is not the constant)
 *   a local variable of main: a byte[] of 200,000
 *   static int version = 42
 *   static WeakReference<Order> seen: to the last one
 */
public class Shop {
    static final class Line {
        final byte[] text = new byte[1000];
    }

    static final class Order {
        final int number;
        final String customer;
        final double price = 0.1;
        final char grade = 'A';
        final Line[] lines;
        final List<String> notes = new ArrayList<>(50);
        final String remark = new String("as usual".toCharArray());

        Order(int number) {
            this.number = number;
            customer = "customer " + number;
            lines = new Line[number];
            for (int i = 0; i < number; i++)
                lines[i] = new Line();
        }
    }

    static final List<Order> orders = new ArrayList<>();
    static int version = 42;
    static WeakReference<Order> seen;

    public static void main(String[] args) throws Exception {
        int n = args.length > 0 ? Integer.parseInt(args[0]) : 300;
        byte[] held = new byte[200_000];
        for (int i = 1; i <= n; i++)
            orders.add(new Order(i));
        seen = new WeakReference<>(orders.get(n - 1));
        System.out.println("ready");
        while (System.in.read() >= 0)
            ;
        System.out.println(held.length);
    }
}
