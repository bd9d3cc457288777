/* Two threads, first and second, that take a Left and a Right in opposite orders, never at the same time: LockOrder MODE
 *
 *     inverted    at different times, by a volatile flag
 *     gate        the same, each under the one Gate
 *     joined      second is started after first was joined
 *     ordered     second waits (Object.wait) until first tells it (notify) that it is done
 *     locks       with ReentrantLocks
 *     readers     with the read locks of two ReentrantReadWriteLocks
 *     again       Left within Left within Right, in both threads: one order
 *     many        as inverted, 500 times with other objects
 *     contended   each is blocked on its second lock while a third thread is blocked on its first
 */
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

public class LockOrder {
    static final class Left { }

    static final class Right { }

    static final class Gate { }

    static volatile int turn;
    static int sum;

    static void await(int wanted) throws InterruptedException {
        while (turn < wanted)
            Sync.pause(1);
    }

    static void forward(Left left, Right right) {
        synchronized (left) {
            synchronized (right) { // site: forward
                sum++;
            } // site: forward-end
        } // site: forward-first
    }

    static void backward(Left left, Right right) {
        synchronized (right) {
            synchronized (left) { // site: backward
                sum++;
            } // site: backward-end
        }
    }

    static void nested(Left left, Right right) {
        synchronized (right) {
            synchronized (left) {
                synchronized (left) {
                    synchronized (right) {
                        sum++;
                    }
                }
            }
        }
    }

    static void both(Lock outer, Lock inner) {
        outer.lock();
        try {
            inner.lock();
            sum++;
            inner.unlock();
        } finally {
            outer.unlock();
        }
    }

    /** One after the other, both alive all the time. */
    static void inTurn(Sync.Body a, Sync.Body b) throws Exception {
        Thread first = Sync.start("first", () -> {
            a.run();
            turn = 1;
            await(2);
        });
        Thread second = Sync.start("second", () -> {
            await(1);
            b.run();
            turn = 2;
        });
        first.join();
        second.join();
    }

    static void ordered(Left left, Right right) throws Exception {
        Gate told = new Gate();
        boolean[] done = new boolean[1];
        Thread second = Sync.start("second", () -> {
            synchronized (told) {
                while (!done[0])
                    told.wait();
            }
            backward(left, right);
            turn = 2;
        });
        Sync.waiting(second);
        Thread first = Sync.start("first", () -> {
            forward(left, right);
            synchronized (told) {
                done[0] = true;
                told.notify();
            }
            await(2);
        });
        first.join();
        second.join();
    }

    /** `who` wants a lock that main has, while it has another, which `other` wants. */
    static void contend(Thread who, Thread other, Object wanted, int step) throws Exception {
        synchronized (wanted) {
            turn = step;
            Sync.blocked(who);
            turn = step + 1;
            Sync.blocked(other);
            Sync.pause(5);
        }
        turn = step + 2;
    }

    static void contended(Left left, Right right) throws Exception {
        Thread first = Sync.start("first", () -> {
            await(1);
            forward(left, right);
            await(10);
        });
        Thread one = Sync.start("one", () -> {
            await(2);
            synchronized (left) {
                sum++;
            }
            await(10);
        });
        Thread second = Sync.start("second", () -> {
            await(5);
            backward(left, right);
            await(10);
        });
        Thread two = Sync.start("two", () -> {
            await(6);
            synchronized (right) {
                sum++;
            }
            await(10);
        });
        contend(first, one, right, 1);
        Sync.state(Thread.State.TIMED_WAITING, first, one);
        contend(second, two, left, 5);
        Sync.state(Thread.State.TIMED_WAITING, second, two);
        turn = 10;
        for (Thread t : new Thread[] {first, one, second, two})
            t.join();
    }

    static void run(String mode) throws Exception {
        Left left = new Left();
        Right right = new Right();
        Gate gate = new Gate();
        Lock a = new ReentrantLock(), b = new ReentrantLock();
        ReentrantReadWriteLock c = new ReentrantReadWriteLock(), d = new ReentrantReadWriteLock();
        switch (mode) {
        case "inverted":
            inTurn(() -> forward(left, right), () -> backward(left, right));
            break;
        case "gate":
            inTurn(() -> {
                synchronized (gate) {
                    forward(left, right);
                }
            }, () -> {
                synchronized (gate) {
                    backward(left, right);
                }
            });
            break;
        case "joined":
            Sync.start("first", () -> forward(left, right)).join();
            Sync.start("second", () -> backward(left, right)).join();
            break;
        case "ordered":
            ordered(left, right);
            break;
        case "locks":
            inTurn(() -> both(a, b), () -> both(b, a));
            break;
        case "readers":
            inTurn(() -> both(c.readLock(), d.readLock()), () -> both(d.readLock(), c.readLock()));
            break;
        case "again":
            inTurn(() -> nested(left, right), () -> nested(left, right));
            break;
        case "many":
            Left[] lefts = new Left[500];
            Right[] rights = new Right[500];
            for (int i = 0; i < lefts.length; i++) {
                lefts[i] = new Left();
                rights[i] = new Right();
            }
            inTurn(() -> {
                for (int i = 0; i < lefts.length; i++)
                    forward(lefts[i], rights[i]);
            }, () -> {
                for (int i = 0; i < lefts.length; i++)
                    backward(lefts[i], rights[i]);
            });
            break;
        case "contended":
            contended(left, right);
            break;
        default:
            throw new IllegalArgumentException(mode);
        }
    }

    public static void main(String[] args) throws Exception {
        run(args[0]);
        System.out.println("sum " + sum);
    }
}
