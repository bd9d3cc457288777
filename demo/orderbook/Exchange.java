package orderbook;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The exchange: its parts and the threads that run them.
 *
 * <pre>
 *   gateway-N --submit--> OrderBook --match--> matcher-N --queue--> settler-N --> Accounts
 *       |                                          |                    |
 *       +--large orders------> MarketFeed <--trades+                    |
 *       +--accepted----------> AuditTrail <---------------settled-------+
 * </pre>
 *
 * <p>PROBLEM 5: an idle pool. Eight report threads wait for a job that comes a few times a second.
 */
final class Exchange {
    static final int GATEWAYS = 12;
    private static final int SETTLERS = 3;
    private static final int WATCHERS = 3;
    private static final int REPORTERS = 8;
    private static final int ACCOUNTS = 6;
    private static final int FEED_BATCH = 40;
    private static final int REPORT_EVERY = 150;
    private static final Trade NO_MORE = new Trade(0, 0, 0, 0);

    final List<OrderBook> books;
    final Accounts accounts = new Accounts(ACCOUNTS);
    final AuditTrail audit = new AuditTrail();
    final AtomicLong submitted = new AtomicLong();
    final AtomicLong largeSubmitted = new AtomicLong();
    final AtomicLong largeSeen = new AtomicLong();
    final AtomicLong volumeSeen = new AtomicLong();
    final AtomicLong volumeSettled = new AtomicLong();
    final AtomicLong reports = new AtomicLong();

    private final MarketFeed feed = new MarketFeed();
    private final BlockingQueue<Trade> toSettle = new LinkedBlockingQueue<>();
    private final AtomicInteger reporterNumber = new AtomicInteger();
    private final ExecutorService reporters = Executors.newFixedThreadPool(REPORTERS,
            job -> new Thread(job, "report-" + reporterNumber.incrementAndGet()));

    /** Something a thread does until it is done or interrupted. */
    private interface Task {
        void run() throws InterruptedException;
    }

    Exchange(boolean fixRebalance) {
        books = List.of(new OrderBook("ACME", fixRebalance), new OrderBook("ZINC", fixRebalance));
    }

    /** Opens, takes `ordersPerGateway` orders from each gateway, works off everything, closes. */
    void runDay(long seed, int ordersPerGateway) throws InterruptedException {
        List<Thread> matchers = new ArrayList<>();
        for (OrderBook book : books) {
            matchers.add(start("matcher-" + (matchers.size() + 1), () -> match(book)));
        }
        List<Thread> settlers = startAll("settler-", SETTLERS, i -> this::settle);
        List<Thread> watchers = startAll("surveillance-", WATCHERS, i -> this::watch);
        watchers.add(start("ticker", this::tick));
        Thread auditor = start("audit", audit::sealPages);
        List<Thread> gateways = startAll("gateway-", GATEWAYS,
                i -> () -> trade(new Random(seed * 1000 + i), ordersPerGateway));

        joinAll(gateways);
        books.forEach(OrderBook::close);
        joinAll(matchers);
        settlers.forEach(s -> toSettle.add(NO_MORE));
        joinAll(settlers);
        feed.close();
        joinAll(watchers);
        audit.close();
        auditor.join();
        reporters.shutdown();
        if (!reporters.awaitTermination(60, TimeUnit.SECONDS)) {
            throw new IllegalStateException("the report pool does not end");
        }
    }

    /** gateway-N: thinks, looks at the book, sends an order, has it recorded. Most orders are for the first book. */
    private void trade(Random random, int orders) throws InterruptedException {
        for (int i = 0; i < orders; i++) {
            Thread.sleep(2 + random.nextInt(5));
            OrderBook book = books.get(random.nextInt(100) < 85 ? 0 : 1);
            boolean buy = random.nextBoolean();
            int price = Order.near(book.best(buy), buy, random.nextInt(5) - 2);
            Order order = new Order(submitted.incrementAndGet(), random.nextInt(ACCOUNTS), buy,
                    price, 1 + random.nextInt(1000));
            book.submit(order);
            if (order.large()) {
                largeSubmitted.incrementAndGet();
                feed.publish(order);
            }
            audit.accepted(order);
            if (order.id() % REPORT_EVERY == 0) {
                reporters.execute(() -> report(book));
            }
        }
    }

    /** matcher-N: works one book's orders and passes the trades on, to the feed in batches. */
    private void match(OrderBook book) throws InterruptedException {
        List<Trade> batch = new ArrayList<>();
        for (List<Trade> trades = book.match(); trades != null; trades = book.match()) {
            toSettle.addAll(trades);
            batch.addAll(trades);
            if (batch.size() >= FEED_BATCH) {
                feed.publish(batch);
                batch.clear();
            }
        }
        feed.publish(batch);
    }

    /** settler-N: moves the money of each trade. */
    private void settle() throws InterruptedException {
        for (Trade trade = toSettle.take(); trade != NO_MORE; trade = toSettle.take()) {
            accounts.settle(trade);
            audit.settled(trade);
            volumeSettled.addAndGet(trade.quantity());
        }
    }

    /** ticker: publishes each trade. */
    private void tick() throws InterruptedException {
        for (Trade trade = feed.takeTrade(); trade != null; trade = feed.takeTrade()) {
            volumeSeen.addAndGet(trade.quantity());
        }
    }

    /** surveillance-N: looks at each large order. */
    private void watch() throws InterruptedException {
        while (feed.takeLargeOrder() != null) {
            largeSeen.incrementAndGet();
        }
    }

    /** report-N: one line about one book for somebody's screen. */
    private void report(OrderBook book) {
        if (book.depth().length > 0) {
            reports.incrementAndGet();
        }
    }

    private interface TaskOf {
        Task number(int i);
    }

    private static List<Thread> startAll(String name, int count, TaskOf tasks) {
        List<Thread> threads = new ArrayList<>();
        for (int i = 1; i <= count; i++) {
            threads.add(start(name + i, tasks.number(i)));
        }
        return threads;
    }

    private static Thread start(String name, Task task) {
        Thread thread = new Thread(() -> {
            try {
                task.run();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }, name);
        thread.start();
        return thread;
    }

    private static void joinAll(List<Thread> threads) throws InterruptedException {
        for (Thread thread : threads) {
            thread.join();
        }
    }
}
