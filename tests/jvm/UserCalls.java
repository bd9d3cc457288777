/* Known numbers of calls of methods that a table names, each of one kind: overloads, constructors, overrides,
 * inherited methods, interfaces, static methods, exceptions, lambdas, and a class whose loader delegates
 * nothing but java.*, as OSGi's do.
 *
 * "isolated" as argument runs the part with that loader only. */
import java.io.InputStream;
import java.util.ArrayList;

public class UserCalls {
    static class Order {
        final int n;

        Order(int n) {
            this.n = n;
        }

        Order() {
            this(7);
        }

        boolean place(String who) {
            return n % 2 == 0;
        }

        int place(int a, int b) {
            return a + b;
        }
    }

    static class Rush extends Order {
        Rush() {
            super(2);
        }

        @Override
        boolean place(String who) {
            return n == 2;
        }
    }

    static class Base {
        void work(Object what) { }
    }

    static class Mine extends Base { }

    static class Other extends Base { }

    interface Task {
        int run(int n);

        default int twice(int n) {
            return run(n) + run(n);
        }
    }

    static class Doubler implements Task {
        public int run(int n) {
            return 2 * n;
        }
    }

    static class Half {
        public int run(int n) {
            return n / 2;
        }
    }

    static class HalfTask extends Half implements Task { }

    static class Thrower {
        static void boom() {
            throw new IllegalStateException();
        }
    }

    static class Words extends ArrayList<String> { }

    static class Gate {
        synchronized void pass(Order o) throws InterruptedException {
            wait(1); // inside a tracked call
        }
    }

    /** In a loader of its own. */
    public static class Plugin implements Runnable {
        public void run() {
            for (int i = 0; i < 9; i++)
                step();
        }

        void step() { }
    }

    static class Isolated extends ClassLoader {
        Isolated() {
            super(null);
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (name.startsWith("java."))
                return super.loadClass(name, resolve);
            if (!name.equals("UserCalls$Plugin"))
                throw new ClassNotFoundException(name);
            Class<?> c = findLoadedClass(name);
            if (c != null)
                return c;
            try (InputStream in = UserCalls.class.getResourceAsStream("UserCalls$Plugin.class")) {
                byte[] bytes = in.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (java.io.IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    static int calls() throws Exception {
        int sum = 0;
        for (int i = 0; i < 10; i++)
            sum += new Order(i).place("x") ? 1 : 0; // site: place
        sum += new Order().place(1, 2);
        for (int i = 0; i < 5; i++)
            sum += new Rush().place("r") ? 1 : 0;
        for (int i = 0; i < 3; i++) {
            new Mine().work("o");
            new Other().work("p");
        }
        Task doubler = new Doubler(), half = new HalfTask(), lambda = n -> n + 1;
        for (int i = 0; i < 4; i++)
            sum += doubler.run(i) + half.run(i) + lambda.run(i) + doubler.twice(i);
        for (int i = 0; i < 2; i++)
            try {
                Thrower.boom();
            } catch (IllegalStateException e) {
                sum++;
            }
        Words words = new Words();
        for (int i = 0; i < 6; i++)
            words.add("z");
        new ArrayList<String>().add("q");
        Gate gate = new Gate();
        for (int i = 0; i < 3; i++)
            gate.pass(new Order(i));
        return sum;
    }

    public static void main(String[] args) throws Exception {
        if (args.length == 0)
            System.out.println("sum " + calls());
        Class<?> plugin = new Isolated().loadClass("UserCalls$Plugin");
        ((Runnable) plugin.getDeclaredConstructor().newInstance()).run();
        System.out.println("done");
    }
}
