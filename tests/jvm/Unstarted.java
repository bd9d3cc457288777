/* main joins a thread that was not started, which returns at once, and again when it was started and has ended.
 * Prints "HASH", the thread's identity hash. */
public class Unstarted {
    public static void main(String[] args) throws Exception {
        Thread late = new Thread(() -> { }, "late");
        late.join();
        late.start();
        late.join();
        System.out.printf("%08X%n", System.identityHashCode(late));
    }
}
