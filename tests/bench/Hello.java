/** The smallest program, for the start-up times. */
public final class Hello {
    public static void main(String[] args) {
        System.out.println("hello");
    }
}
