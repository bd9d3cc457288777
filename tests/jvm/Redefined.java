/* The test compiles a second version of this file, with ten more lines before the class. */
public class Redefined {
    static int entered;

    static void work(Object lock) {
        synchronized (lock) {
            entered++;
        }
        after();
    }

    /* A long-running method that sees the redefinition happen: from then on it is obsolete. */
    static void twice(Object first, Sync.Body between, Object second) throws Exception {
        middle(first); // site: before
        between.run();
        middle(second); // site: between
    }

    static synchronized void middle(Object lock) {
        synchronized (lock) {
            entered++;
        }
    }

    static synchronized void after() {
        entered++; // site: after
    }
}
