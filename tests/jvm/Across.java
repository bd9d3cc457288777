/* "stuck" is blocked on a lock that main holds to the end; "early" has ended before: Across [MS]
 * Prints "blocked" then, and waits for a signal, or MS milliseconds. */
public class Across {
    public static void main(String[] args) throws Exception {
        Thread early = new Thread(() -> { }, "early");
        early.start();
        early.join();
        Object lock = new Object();
        synchronized (lock) {
            Thread stuck = Sync.daemon("stuck", () -> {
                synchronized (lock) {
                    System.out.println("never");
                }
            });
            Sync.state(Thread.State.BLOCKED, stuck);
            System.out.println("blocked");
            Thread.sleep(args.length > 0 ? Long.parseLong(args[0]) : 600_000);
            System.exit(0);
        }
    }
}
