import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;

/**
 * A heap to be dumped: says "ready", and ends with its standard input.
 *
 *   static List<Order> orders: 300 orders; number k has the customer "customer k" and k lines of 1000 bytes each,
 *       so that the last one retains most
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
        for (int i = 1; i <= 300; i++)
            orders.add(new Order(i));
        seen = new WeakReference<>(orders.get(299));
        System.out.println("ready");
        while (System.in.read() >= 0)
            ;
    }
}
