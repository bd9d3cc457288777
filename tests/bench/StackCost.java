/**
 * What an event's stack costs, by its depth: a notify at the end of a recursion, which nobody waits for.
 *
 * <p>The same stack again and again, then a descent to it before each event. Both are the fastest of many rounds.
 *
 * <pre>java -Xss4m StackCost.java FRAMES</pre>
 *
 * <p>Prints "same_ns X descent_ns X".
 */
public final class StackCost {
    private static final Object LOCK = new Object();
    private static final int ROUNDS = 60;
    private static final int EVENTS = 2000;

    private static int down(int frames, int events) {
        return frames == 0 ? notifies(events) : down(frames - 1, events) + 1;
    }

    private static int notifies(int events) {
        synchronized (LOCK) {
            for (int i = 0; i < events; i++) {
                LOCK.notify();
            }
        }
        return events;
    }

    private static double fastest(int frames, int descents, int events) {
        double least = Double.MAX_VALUE;
        for (int round = 0; round < ROUNDS; round++) {
            long began = System.nanoTime();
            for (int i = 0; i < descents; i++) {
                down(frames, events);
            }
            least = Math.min(least, (System.nanoTime() - began) / (double) (descents * events));
        }
        return least;
    }

    public static void main(String[] args) {
        int frames = Integer.parseInt(args[0]) - 4; // main, fastest, notifies and notify are frames, too
        for (int i = 0; i < 20_000; i++) {
            down(frames, 1);
        }
        System.out.printf("same_ns %.1f descent_ns %.1f%n", fastest(frames, 1, EVENTS), fastest(frames, EVENTS / 4, 1));
    }
}
