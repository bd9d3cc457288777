package orderbook;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

/**
 * One instrument's book. Every gateway submits to it, its matcher works it, reports read it, and
 * all of them use the one lock, which is the book itself.
 *
 * <p>PROBLEM 1: a hot lock held too long. match() re-computes the margins inside the lock, some
 * milliseconds at a time, although it needs the lock only for the copy it starts from. With
 * --fix-rebalance it computes on that copy after leaving the lock; the results are the same.
 */
final class OrderBook {
    private static final int REBALANCE_EVERY = 32;
    private static final int SCENARIOS = 40;
    private static final int SCENARIO_STEPS = 180_000;
    private static final int LEVELS = 64;

    final String symbol;
    private final boolean fixed;
    private final ArrayDeque<Order> pending = new ArrayDeque<>();
    private final PriorityQueue<Order> bids =
            new PriorityQueue<>(Comparator.comparingInt(o -> -o.price()));
    private final PriorityQueue<Order> asks =
            new PriorityQueue<>(Comparator.comparingInt(Order::price));
    private int sinceRebalance;
    private long margin;
    private boolean closed;
    private long bought;
    private long sold;
    private long traded;

    OrderBook(String symbol, boolean fixed) {
        this.symbol = symbol;
        this.fixed = fixed;
    }

    /** A gateway's side: less than a microsecond of work, if only the lock were free. */
    synchronized void submit(Order order) {
        pending.addLast(order);
        notify();
    }

    /** The best price on one side, where the next order of that side wants to stand. */
    synchronized int best(boolean buy) {
        Order order = (buy ? bids : asks).peek();
        return order == null ? Order.MID : order.price();
    }

    synchronized void close() {
        closed = true;
        notify();
    }

    /** Waits for orders and works one batch of them. Null when closed and empty. */
    List<Trade> match() throws InterruptedException {
        int[] due;
        List<Trade> trades = new ArrayList<>();
        synchronized (this) {
            while (pending.isEmpty() && !closed) {
                wait();
            }
            if (pending.isEmpty()) {
                return null;
            }
            while (!pending.isEmpty() && sinceRebalance < REBALANCE_EVERY) {
                execute(pending.pollFirst(), trades);
                sinceRebalance++;
            }
            if (sinceRebalance < REBALANCE_EVERY) {
                return trades;
            }
            sinceRebalance = 0;
            due = depth();
            if (!fixed) {
                rebalance(due);
            }
        }
        if (fixed) {
            rebalance(due);
        }
        return trades;
    }

    /** The margin under many price scenarios, from the book's depth: the slow part. */
    private void rebalance(int[] depth) {
        long worst = 0;
        for (int scenario = 0; scenario < SCENARIOS; scenario++) {
            int level = depth[scenario % depth.length];
            worst = Math.min(worst, Risk.worstLoss(scenario * 31L + level, SCENARIO_STEPS));
        }
        margin = worst;
    }

    private void execute(Order order, List<Trade> trades) {
        if (order.buy()) {
            bought += order.quantity();
        } else {
            sold += order.quantity();
        }
        PriorityQueue<Order> others = order.buy() ? asks : bids;
        int left = order.quantity();
        while (left > 0 && !others.isEmpty()) {
            Order other = others.poll();
            int quantity = Math.min(left, other.quantity());
            left -= quantity;
            traded += quantity;
            trades.add(order.buy()
                    ? new Trade(order.account(), other.account(), other.price(), quantity)
                    : new Trade(other.account(), order.account(), other.price(), quantity));
            if (quantity < other.quantity()) {
                others.add(rest(other, other.quantity() - quantity));
            }
        }
        if (left > 0) {
            (order.buy() ? bids : asks).add(rest(order, left));
        }
    }

    private static Order rest(Order order, int left) {
        return new Order(order.id(), order.account(), order.buy(), order.price(), left);
    }

    /** Open quantity by price level. */
    synchronized int[] depth() {
        int[] levels = new int[LEVELS];
        for (Order o : bids) {
            levels[o.price() % LEVELS] += o.quantity();
        }
        for (Order o : asks) {
            levels[o.price() % LEVELS] += o.quantity();
        }
        return levels;
    }

    synchronized long resting() {
        long sum = 0;
        for (int quantity : depth()) {
            sum += quantity;
        }
        return sum;
    }

    synchronized long traded() {
        return traded;
    }

    synchronized long volume() {
        return bought + sold;
    }

    /** True when nothing was lost or traded twice, and a margin was computed. */
    synchronized boolean balanced() {
        return traded == Math.min(bought, sold) && bought + sold == 2 * traded + resting()
                && margin < 0;
    }
}
