package orderbook;

import java.util.ArrayDeque;
import java.util.List;

/**
 * The mailbox between the exchange and those who watch it: `ticker` takes trades, the surveillance
 * threads take large orders. Both kinds wait on the same monitor.
 *
 * <p>PROBLEM 2: a starving consumer. publish() says notify() where it has to say notifyAll(): the
 * signal for a batch of trades goes to whoever waits longest, most often a surveillance thread,
 * which finds nothing for itself and waits again. The ticker sleeps on with trades in the box
 * until its time-out, which somebody added because "it got stuck now and then".
 */
final class MarketFeed {
    private static final long PATIENCE_MS = 40;

    private final ArrayDeque<Trade> trades = new ArrayDeque<>();
    private final ArrayDeque<Order> largeOrders = new ArrayDeque<>();
    private boolean closed;

    synchronized void publish(List<Trade> batch) {
        trades.addAll(batch);
        notify();
    }

    synchronized void publish(Order large) {
        largeOrders.addLast(large);
        notify();
    }

    synchronized void close() {
        closed = true;
        notifyAll();
    }

    /** The next trade, or null at the end of the day. */
    Trade takeTrade() throws InterruptedException {
        return take(trades);
    }

    /** The next large order, or null at the end of the day. */
    Order takeLargeOrder() throws InterruptedException {
        return take(largeOrders);
    }

    private synchronized <T> T take(ArrayDeque<T> box) throws InterruptedException {
        while (box.isEmpty() && !closed) {
            wait(PATIENCE_MS);
        }
        return box.pollFirst();
    }
}
