/* Three threads want one lock, each to compute under it: BusyHolder ROUNDS
 *
 * The lines that compute are marked. */
public class BusyHolder {
    static final int STEPS = 400_000;
    private final double[] spread = {0.9, 1.1, 1.05, 0.97};

    synchronized double quote(String pair) {
        double rate = 1 + pair.hashCode() % 7;
        double sum = 0;
        for (int path = 0; path < STEPS; path++) { // from
            double step = Math.sin(rate + path * 1e-4);
            sum += Math.exp(step / 3) * spread[path & 3]; // to
        }
        return sum / STEPS;
    }

    public static void main(String[] args) throws Exception {
        int rounds = Integer.parseInt(args[0]);
        BusyHolder it = new BusyHolder();
        Thread[] all = new Thread[3];
        for (int i = 0; i < all.length; i++) {
            String pair = "pair" + i;
            all[i] = new Thread(() -> {
                for (int k = 0; k < rounds; k++)
                    it.quote(pair);
            }, "asker-" + i);
            all[i].start();
        }
        for (Thread t : all)
            t.join();
    }
}
