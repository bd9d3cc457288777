import java.util.Scanner;

/**
 * Makes sessions, and keeps the newest of them: "Sessions KEPT MADE" makes MADE, of which KEPT live at any time from then
 * on, and prints "ready". For each line "more" it makes MADE more, and prints "made".
 */
public class Sessions {
    static final class Session { long user, since; Session next; }

    static Session[] newest;

    static void make(long n) {
        for (long i = 0; i < n; i++) newest[(int) (i % newest.length)] = new Session();
    }

    public static void main(String[] args) {
        newest = new Session[Integer.parseInt(args[0])];
        make(Long.parseLong(args[1]));
        System.out.println("ready");
        for (Scanner in = new Scanner(System.in); in.hasNextLine(); System.out.println("made"))
            if (in.nextLine().equals("more")) make(Long.parseLong(args[1]));
    }
}
