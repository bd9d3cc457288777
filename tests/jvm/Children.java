/* A JVM that starts two more of itself, one by ProcessBuilder, one by Runtime.exec, and waits for them:
 * Children JAVA JVM-ARGUMENT...; the children are started with these arguments.  Prints "child STATUS" twice. */
import java.util.ArrayList;
import java.util.List;

public class Children {
    static void contend() throws Exception {
        Object lock = new Object();
        Thread t = Sync.thread("blocker", () -> {
            synchronized (lock) {
                lock.hashCode();
            }
        });
        synchronized (lock) {
            t.start();
            Sync.blocked(t);
        }
        t.join();
    }

    public static void main(String[] args) throws Exception {
        contend();
        if (args.length == 0)
            return;
        List<String> command = new ArrayList<>(List.of(args));
        command.add("Children");
        System.out.println("child " + new ProcessBuilder(command).inheritIO().start().waitFor());
        System.out.println("child " + Runtime.getRuntime().exec(command.toArray(new String[0])).waitFor());
        contend();
    }
}
