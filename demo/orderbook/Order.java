package orderbook;

/**
 * A limit order. Buys bid MID or more and sells ask MID or less, so any buy crosses any sell and
 * the volume a book trades is min(bought, sold), whatever order the threads come in.
 */
record Order(long id, int account, boolean buy, int price, int quantity) {
    static final int MID = 100;
    static final int LARGE = 990;
    private static final int RANGE = 10;

    /** A price `step` away from the best one, inside the range allowed to that side. */
    static int near(int best, boolean buy, int step) {
        int low = buy ? MID : MID - RANGE;
        return Math.max(low, Math.min(low + RANGE, best + step));
    }

    boolean large() {
        return quantity >= LARGE;
    }
}
