/* Threads whose names would clear a terminal, forge a line, or turn text around: "holder" holds a monitor that "stuck"
 * wants, "waiter" is in Object.wait.  Prints "ready", and ends when something can be read. */
public class Named {
    static final String HOSTILE = "\u001b[2J\norca: all is well\r\u0007\u009b31m\u202ey\u061c\u007f";

    public static void main(String[] args) throws Exception {
        Object lock = new Object(), other = new Object();
        Thread holder = Sync.daemon("holder" + HOSTILE, () -> {
            synchronized (lock) {
                Thread.sleep(Long.MAX_VALUE);
            }
        });
        while (holder.getState() != Thread.State.TIMED_WAITING)
            Thread.sleep(1);
        Thread stuck = Sync.daemon("stuck" + HOSTILE, () -> {
            synchronized (lock) {
                lock.hashCode();
            }
        });
        Thread waiter = Sync.daemon("waiter" + HOSTILE, () -> {
            synchronized (other) {
                other.wait();
            }
        });
        while (stuck.getState() != Thread.State.BLOCKED || waiter.getState() != Thread.State.WAITING)
            Thread.sleep(1);
        System.out.println("ready");
        System.in.read();
    }
}
