/* A JVM to attach to: prints "ready" and sleeps, until it is killed or ten minutes are over. */
public class AttachIdle {
    public static void main(String[] args) throws Exception {
        System.out.println("ready");
        Thread.sleep(600_000);
    }
}
