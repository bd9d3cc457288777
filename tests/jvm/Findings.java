import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Small programs, each with one thing wrong (and one with nothing): Findings PROGRAM.
 *
 * <p>Time passes in LockSupport.parkNanos where it is to be nobody's fault, in Thread.sleep where that is the
 * fault, and in busy loops where a thread is to run.
 */
public class Findings {
    interface Body {
        void run() throws Exception;
    }

    static Thread start(String name, Body body) {
        Thread t = new Thread(() -> {
            try {
                body.run();
            } catch (Exception e) {
                throw new RuntimeException(e);
            }
        }, name);
        t.start();
        return t;
    }

    static void joinAll(List<Thread> threads) throws Exception {
        for (Thread t : threads)
            t.join();
    }

    static void pass(long millis) {
        for (long until = System.nanoTime() + millis * 1_000_000, left; (left = until - System.nanoTime()) > 0; )
            LockSupport.parkNanos(left);
    }

    static void run(long millis) {
        long until = System.nanoTime() + millis * 1_000_000;
        while (System.nanoTime() < until)
            Thread.onSpinWait();
    }

    /** Four workers fed by a queue. */
    static void healthy() throws Exception {
        LinkedBlockingQueue<Integer> queue = new LinkedBlockingQueue<>(); // main never waits for room in it
        List<Thread> workers = new ArrayList<>();
        for (int i = 0; i < 4; i++)
            workers.add(start("worker-" + i, () -> {
                for (int task; (task = queue.take()) >= 0; )
                    pass(1 + task % 3);
            }));
        for (int i = 0; i < 1000; i++)
            queue.put(i);
        for (int i = 0; i < 4; i++)
            queue.put(-1);
        joinAll(workers);
    }

    static class Fork {
    }

    /** Five philosophers, each with one fork in the hand; a sixth who only looks on. */
    static void philosophers() throws Exception {
        Fork[] forks = {new Fork(), new Fork(), new Fork(), new Fork(), new Fork()};
        CyclicBarrier served = new CyclicBarrier(6);
        for (int i = 0; i < 5; i++) {
            Fork left = forks[i], right = forks[(i + 1) % 5];
            start("philosopher-" + i, () -> {
                synchronized (left) {
                    served.await();
                    synchronized (right) {
                        throw new Error("eaten");
                    }
                }
            });
        }
        served.await();
        Thread guest = start("guest", () -> {
            synchronized (forks[0]) {
                throw new Error("eaten");
            }
        });
        guest.join(500);
        System.out.println("ready");
        Runtime.getRuntime().halt(0);
    }

    static class Mailbox {
        boolean full;
    }

    /** The consumer does not look whether the letter is there already. */
    static void lostSignal() throws Exception {
        Mailbox mailbox = new Mailbox();
        CountDownLatch delivered = new CountDownLatch(1);
        Thread producer = start("producer", () -> {
            synchronized (mailbox) {
                mailbox.full = true;
                mailbox.notify();
            }
            delivered.countDown();
        });
        Thread consumer = start("consumer", () -> {
            delivered.await();
            synchronized (mailbox) {
                mailbox.wait();
            }
        });
        producer.join();
        start("stopper", () -> {
            while (consumer.getState() != Thread.State.WAITING)
                pass(1);
            System.out.println("ready");
        }).join();
        consumer.join();
    }

    static class Ledger {
    }

    /** Now and then one holds for long what all need for a moment. */
    static void convoy() throws Exception {
        Ledger ledger = new Ledger();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            int first = i * 3;
            threads.add(start("clerk-" + i, () -> {
                pass(first);
                for (int k = 0; k < 64; k++) {
                    synchronized (ledger) {
                        run(1);
                    }
                    pass(80);
                }
            }));
        }
        threads.add(start("auditor", () -> {
            for (int k = 0; k < 2; k++) {
                pass(2500);
                synchronized (ledger) {
                    run(90);
                }
            }
        }));
        joinAll(threads);
    }

    static void joins() throws Exception {
        pass(1); // what that loads is not for the threads to wait for
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            int millis = i == 2 ? 900 : 200;
            threads.add(start("part-" + i, () -> pass(millis)));
        }
        joinAll(threads);
    }

    static class Turn {
        int whose = -1;
    }

    /** Each waits for its turn, and everybody is woken for every one. */
    static void storm() throws Exception {
        int n = 8;
        Turn turn = new Turn();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            int me = i;
            threads.add(start("player-" + i, () -> {
                for (int k = 0; k < 40; k++)
                    synchronized (turn) {
                        while (turn.whose != me)
                            turn.wait();
                        turn.whose = -1;
                    }
            }));
        }
        for (int i = 0; i < 40 * n; i++) {
            synchronized (turn) {
                turn.whose = i % n;
                turn.notifyAll();
            }
            for (boolean taken = false; !taken; )
                synchronized (turn) {
                    taken = turn.whose < 0;
                    if (!taken)
                        turn.wait(1);
                }
            pass(3);
        }
        joinAll(threads);
    }

    static class Till {
    }

    /** Sleeping with the lock in the hand, for most of the recording: on a busy machine the JVM takes long to begin. */
    static void held() throws Exception {
        Till till = new Till();
        long now = System.currentTimeMillis();
        long until = now + 2 * (now - ProcessHandle.current().info().startInstant().get().toEpochMilli());
        Thread owner = start("sleeper", () -> {
            for (int i = 0; i < 10 || System.currentTimeMillis() < until; i++) {
                synchronized (till) {
                    Thread.sleep(80);
                }
                pass(10);
            }
        });
        Thread other = start("customer", () -> {
            while (owner.isAlive()) {
                synchronized (till) {
                    pass(1);
                }
                pass(2);
            }
        });
        owner.join();
        other.join();
    }

    /** Waiting for somebody to connect, with the lock in the hand. */
    static void io() throws Exception {
        Till till = new Till();
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Thread owner = start("listener", () -> {
                for (int i = 0; i < 10; i++) {
                    synchronized (till) {
                        server.accept().close();
                    }
                    pass(5);
                }
            });
            Thread other = start("customer", () -> {
                while (owner.isAlive()) {
                    synchronized (till) {
                        pass(1);
                    }
                    pass(2);
                }
            });
            for (int i = 0; i < 10; i++) {
                pass(60);
                new Socket(server.getInetAddress(), server.getLocalPort()).close();
            }
            owner.join();
            other.join();
        }
    }

    static void serial() throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++)
            threads.add(start("part-" + i, () -> run(150)));
        joinAll(threads);
        start("collector", () -> run(1500)).join();
    }

    static void pool() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        for (int i = 0; i < 100; i++)
            pool.execute(() -> pass(10));
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
    }

    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "healthy" -> healthy();
            case "philosophers" -> philosophers();
            case "lost-signal" -> lostSignal();
            case "convoy" -> convoy();
            case "joins" -> joins();
            case "storm" -> storm();
            case "held" -> held();
            case "io" -> io();
            case "serial" -> serial();
            case "pool" -> pool();
            default -> throw new IllegalArgumentException(args[0]);
        }
    }
}
