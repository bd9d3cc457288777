/* What the programs of this folder share: threads of the kind that is asked for, the certainty that they sleep,
 * and the lines that say what is true:
 *
 *     truth QUESTION KEY=VALUE... is=ANSWER          the answer is this word; A|B: one of these
 *     truth QUESTION KEY=VALUE... from=N to=N        the answer is a number from there to there (ns, or a count)
 *
 * Questions and keys are listed in questions.mjs.  Only main says truths, and only about what is over, or certain
 * to last.  Nobody here knows that a tool is looking.
 *
 *     platform    platform threads
 *     mounted     virtual threads with a native frame below, so that they stay on their carrier when they wait
 *     unmounted   virtual threads that leave their carrier when they wait, also when they hold monitors */
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;

final class Known {
    enum Mode { PLATFORM, MOUNTED, UNMOUNTED }

    private static Mode mode = Mode.PLATFORM;
    private static final StringBuilder lines = new StringBuilder();

    private Known() { }

    static void mode(String[] args) {
        mode = Mode.valueOf(args[0].toUpperCase());
    }

    static boolean is(Mode m) {
        return mode == m;
    }

    /* --- threads -------------------------------------------------------------------------------- */

    /** Not started; the name has at most 15 letters, and is the only one of its kind. */
    static Thread thread(String name, Sync.Body body) throws Exception {
        return switch (mode) {
            case PLATFORM -> Sync.thread(name, body);
            case UNMOUNTED -> Sync.virtual(name, body);
            case MOUNTED -> Sync.virtual(name, () -> pinned(body));
        };
    }

    static Thread start(String name, Sync.Body body) throws Exception {
        Thread t = thread(name, body);
        t.start();
        return t;
    }

    /* A class loader is called by the JVM: that frame does not leave the carrier. */
    private static void pinned(Sync.Body body) {
        ClassLoader called = new ClassLoader() {
            @Override public Class<?> loadClass(String name) throws ClassNotFoundException {
                try {
                    body.run();
                } catch (Exception e) {
                    e.printStackTrace();
                    System.exit(99);
                }
                throw new ClassNotFoundException(name);
            }
        };
        try {
            Class.forName("Nothing", false, called);
        } catch (ClassNotFoundException e) {
            return; // as meant
        }
    }

    /** The thread is blocked at a place of the program's own, not while a class is loaded for it; from when on that is certain. */
    static long blocked(Thread t) throws Exception {
        do
            Sync.state(Thread.State.BLOCKED, t);
        while (t.getStackTrace()[0].getModuleName() != null);
        return asleep(t);
    }

    /** The threads wait, in whatever way but for a monitor. */
    static long waiting(Thread... threads) throws Exception {
        for (Thread t : threads)
            while (t.getState() != Thread.State.WAITING && t.getState() != Thread.State.TIMED_WAITING)
                Thread.sleep(1);
        return asleep(threads);
    }

    /** Each of them waits or is blocked, and has said so to whom it may concern; the time from which on that is certain. */
    static long asleep(Thread... threads) throws Exception {
        for (Thread t : threads)
            while (!waits(t))
                Thread.sleep(1);
        if (mode == Mode.PLATFORM)
            Sync.asleep(threads);
        else if (mode == Mode.MOUNTED)
            carriersAsleep();
        return System.nanoTime();
    }

    private static boolean waits(Thread t) {
        boolean off = switch (t.getState()) {
            case BLOCKED, WAITING, TIMED_WAITING -> true;
            default -> false;
        };
        return off && (mode != Mode.UNMOUNTED || !t.toString().contains("@"));
    }

    private static void carriersAsleep() throws IOException, InterruptedException {
        for (int quiet = 0; quiet < 3;) {
            quiet++;
            try (DirectoryStream<Path> all = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
                for (Path task : all)
                    if (!asleep(task))
                        quiet = 0;
            }
            Thread.sleep(1);
        }
    }

    private static boolean asleep(Path task) {
        try {
            String stat = Files.readString(task.resolve("stat"));
            return !stat.contains("(ForkJoi") || stat.charAt(stat.lastIndexOf(')') + 2) == 'S';
        } catch (IOException e) {
            return true; // it has ended
        }
    }

    /** The innermost frame of the program's own that a thread executes. */
    static StackTraceElement frame(Thread t) {
        return frame(t, 0);
    }

    private static StackTraceElement frame(Thread t, int skipped) {
        int i = 0;
        for (StackTraceElement e : t.getStackTrace())
            if (e.getModuleName() == null && !e.getMethodName().equals("frame") && i++ == skipped)
                return e;
        throw new IllegalStateException(t + " is nowhere");
    }

    /** So many lines below the one that calls this. */
    static String lineBelow(int lines) {
        StackTraceElement e = frame(Thread.currentThread(), 1);
        return e.getFileName() + ":" + (e.getLineNumber() + lines);
    }

    static String at(Thread t) {
        StackTraceElement e = frame(t);
        return e.getFileName() + ":" + e.getLineNumber();
    }

    static String methodOf(Thread t) {
        StackTraceElement e = frame(t);
        return e.getClassName() + "." + e.getMethodName();
    }

    /* --- what is true --------------------------------------------------------------------------- */

    static void is(String question, String about, Object answer) {
        lines.append("truth ").append(question).append(' ').append(about).append(" is=").append(answer).append('\n');
    }

    static void between(String question, String about, long from, long to) {
        lines.append("truth ").append(question).append(' ').append(about).append(" from=").append(from).append(" to=")
                .append(to).append('\n');
    }

    static String names(List<Thread> threads) {
        TreeSet<String> names = new TreeSet<>();
        for (Thread t : threads)
            names.add(t.getName());
        return String.join(",", names);
    }

    static void noDeadlock() {
        is("deadlock-count", "of=all", 0);
    }

    /** What is true until now, and a word. */
    static void say(String word) {
        System.out.print(lines);
        System.out.println(word);
        System.out.flush();
        lines.setLength(0);
    }

    static void print() {
        say("done");
    }
}
