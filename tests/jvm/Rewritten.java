/* One long call of a method that allocates and waits all the time, while its code is rewritten: the frame goes on in the
 * old code, what it calls is new.  "ready" when it goes round; ends when something can be read. */
public class Rewritten {
    static Object sink;

    static void inner(int i) throws InterruptedException {
        Object lock = new Object();
        synchronized (lock) {
            lock.wait(1); // site: wait
        }
        sink = new int[i % 10];
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; System.in.available() == 0; i++) {
            sink = new Object();
            if (i == 10)
                System.out.println("ready");
            inner(i); // site: call
            sink = new String[3];
        }
    }
}
