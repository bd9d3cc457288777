/** Waits in selects of a native library (selects.c): Selects LIBRARY prints what each call has returned. */
public class Selects {
    static native int pwait();

    static native int pwait2();

    public static void main(String[] args) throws Exception {
        System.load(args[0]);
        System.out.println("pwait " + pwait());
        System.out.println("pwait2 " + pwait2());
    }
}
