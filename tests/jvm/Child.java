/* Starts a program that is not there, which the forked child tells its parent, then one that is, and waits for its
 * end: "missing", "child 3". */
import java.io.IOException;

public class Child {
    public static void main(String[] args) throws Exception {
        try {
            new ProcessBuilder("/no/such/program").start();
        } catch (IOException e) {
            System.out.println("missing");
        }
        System.out.println("child " + new ProcessBuilder("sh", "-c", "exit 3").start().waitFor());
    }
}
