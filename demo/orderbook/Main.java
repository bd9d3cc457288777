package orderbook;

/**
 * A small stock exchange with contention problems, for a profiler to find; demo/README.md lists
 * them. The amount of work is fixed by the seed, so standard output is the same in every run.
 *
 * <pre>java orderbook.Main [--seconds N] [--fix-rebalance]</pre>
 *
 * <p>Exit: 0 the books balance, 1 they do not, 2 usage.
 */
public final class Main {
    private static final long SEED = 42;
    private static final int DEFAULT_SECONDS = 7;
    private static final int ORDERS_PER_GATEWAY_SECOND = 130;

    private Main() {
    }

    public static void main(String[] args) throws InterruptedException {
        int seconds = DEFAULT_SECONDS;
        boolean fixRebalance = false;
        for (int i = 0; i < args.length; i++) {
            if (args[i].equals("--fix-rebalance")) {
                fixRebalance = true;
            } else if (args[i].equals("--seconds") && i + 1 < args.length
                    && args[i + 1].matches("[1-9][0-9]{0,3}")) {
                seconds = Integer.parseInt(args[++i]);
            } else {
                System.err.println("usage: orderbook.Main [--seconds N] [--fix-rebalance]");
                System.exit(2);
            }
        }
        long start = System.nanoTime();
        Exchange exchange = new Exchange(fixRebalance);
        int orders = seconds * ORDERS_PER_GATEWAY_SECOND;
        exchange.runDay(SEED, orders);
        System.err.printf("took %.1f s%n", (System.nanoTime() - start) / 1e9);
        System.exit(summary(exchange, (long) orders * Exchange.GATEWAYS) ? 0 : 1);
    }

    /** Prints what was traded. True when every part of the exchange saw the same. */
    private static boolean summary(Exchange x, long orders) {
        long traded = 0;
        boolean balanced = x.accounts.balanced();
        for (OrderBook book : x.books) {
            traded += book.traded();
            balanced &= book.balanced();
            System.out.printf("%s      volume %d, traded %d, resting %d%n", book.symbol,
                    book.volume(), book.traded(), book.resting());
        }
        System.out.printf("orders    %d, audited %d%n", orders, x.audit.acceptedOrders());
        System.out.printf("settled   %d, shown on the ticker %d%n", x.volumeSettled.get(),
                x.volumeSeen.get());
        System.out.printf("large     %d, seen by surveillance %d%n", x.largeSubmitted.get(),
                x.largeSeen.get());
        System.out.printf("reports   %d%n", x.reports.get());
        boolean ok = balanced && x.submitted.get() == orders && x.audit.acceptedOrders() == orders
                && x.volumeSettled.get() == traded && x.volumeSeen.get() == traded
                && x.largeSeen.get() == x.largeSubmitted.get();
        System.out.println(ok ? "the books balance" : "THE BOOKS DO NOT BALANCE");
        return ok;
    }
}
