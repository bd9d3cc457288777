package orderbook;

/** The arithmetic behind margins and credit checks: a seeded random walk of prices, pure CPU. */
final class Risk {
    private Risk() {
    }

    /** The worst loss met in `steps` steps of a price path. About 1 ns a step once compiled. */
    static long worstLoss(long seed, int steps) {
        long state = seed * 2 + 1;
        long price = 0;
        long worst = 0;
        for (int i = 0; i < steps; i++) {
            state ^= state << 13;
            state ^= state >>> 7;
            state ^= state << 17;
            price += (state & 7) - 3;
            worst = Math.min(worst, price);
        }
        return worst;
    }
}
