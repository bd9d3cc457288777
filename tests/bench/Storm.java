/**
 * As many monitor events as a few threads can make, to find out what a recorder keeps up with.
 *
 * <ul>
 *   <li>wait: each thread calls Object.wait with its interrupt pending. That posts the wait and the
 *       waited event without ever blocking, so it is the densest stream there is: two events for
 *       about the price of one exception.
 *   <li>pingpong: pairs of threads (THREADS is rounded up to even) pass a ball by wait and
 *       notify, so every event is next to a real context switch.
 *   <li>contend: all threads fight for one monitor and hold it for 20 us, too long to win by spinning.
 * </ul>
 *
 * <pre>java Storm.java wait|pingpong|contend THREADS SECONDS [WAITS_PER_SECOND]</pre>
 *
 * <p>WAITS_PER_SECOND, of all threads together, holds the wait storm back; without it there is no limit.
 *
 * <p>Prints "waits N enters N seconds X": the calls of Object.wait and the synchronized blocks
 * entered. A recording without loss has exactly that many waits, and no more enters than that.
 */
public final class Storm {
    private static final long HOLD_NS = 20_000;

    private static volatile boolean stop;
    private static final Object SHARED = new Object();

    /** One thread's part; counts for itself, so that counting costs nothing. */
    private abstract static class Part extends Thread {
        long waits;
        long enters;

        Part(int number) {
            super("storm-" + number);
        }
    }

    private static final class Waiter extends Part {
        private static final int BURST = 64;
        private final double nsPerWait;

        Waiter(int number, double nsPerWait) {
            super(number);
            this.nsPerWait = nsPerWait;
        }

        @Override
        public void run() {
            Object monitor = new Object();
            long began = System.nanoTime();
            synchronized (monitor) {
                enters++;
                while (!stop) {
                    try {
                        if (nsPerWait > 0 && waits % BURST == 0) {
                            holdBack(began + (long) (waits * nsPerWait) - System.nanoTime());
                        }
                        interrupt();
                        waits++;
                        monitor.wait();
                    } catch (InterruptedException expected) {
                        continue;
                    }
                }
            }
        }
    }

    private static void holdBack(long ns) throws InterruptedException {
        if (ns > 1_000_000) {
            Thread.sleep(ns / 1_000_000);
        }
    }

    private static final class Player extends Part {
        private final int[] turn;
        private final int side;

        Player(int number, int[] turn) {
            super(number);
            this.turn = turn;
            this.side = number & 1;
        }

        @Override
        public void run() {
            synchronized (turn) {
                enters++;
                while (!stop) {
                    while (turn[0] != side && !stop) {
                        try {
                            waits++;
                            turn.wait(100);
                        } catch (InterruptedException e) {
                            throw new AssertionError(e);
                        }
                    }
                    turn[0] = 1 - side;
                    turn.notify();
                }
            }
        }
    }

    private static final class Fighter extends Part {
        Fighter(int number) {
            super(number);
        }

        @Override
        public void run() {
            while (!stop) {
                synchronized (SHARED) {
                    enters++;
                    spin();
                }
                spin();
            }
        }

        private static void spin() {
            long until = System.nanoTime() + HOLD_NS;
            while (System.nanoTime() < until) {
                Thread.onSpinWait();
            }
        }
    }

    private static Part[] parts(String kind, int threads, double nsPerWait) {
        int n = kind.equals("pingpong") ? threads + threads % 2 : threads;
        Part[] parts = new Part[n];
        int[] turn = null;
        for (int i = 0; i < n; i++) {
            turn = i % 2 == 0 ? new int[1] : turn;
            parts[i] = switch (kind) {
                case "wait" -> new Waiter(i, nsPerWait);
                case "pingpong" -> new Player(i, turn);
                default -> new Fighter(i);
            };
        }
        return parts;
    }

    public static void main(String[] args) throws InterruptedException {
        if (args.length < 3 || args.length > 4 || !args[0].matches("wait|pingpong|contend")) {
            System.err.println(
                    "usage: Storm wait|pingpong|contend THREADS SECONDS [WAITS_PER_SECOND]");
            System.exit(2);
        }
        int threads = Integer.parseInt(args[1]);
        double nsPerWait = args.length > 3 ? threads * 1e9 / Double.parseDouble(args[3]) : 0;
        Part[] parts = parts(args[0], threads, nsPerWait);
        long began = System.nanoTime();
        for (Part part : parts) {
            part.start();
        }
        Thread.sleep((long) (Double.parseDouble(args[2]) * 1000));
        stop = true;
        long waits = 0;
        long enters = 0;
        for (Part part : parts) {
            part.join();
            waits += part.waits;
            enters += part.enters;
        }
        System.out.printf("waits %d enters %d seconds %.3f%n", waits, enters,
                (System.nanoTime() - began) / 1e9);
    }
}
