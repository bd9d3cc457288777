/* A program that measures its own holds: Holds MODE [COUNT]
 *
 * After the end of its threads it prints, for each hold in the order in which its thread ended them:
 *
 *     hold THREAD HASH MODE INNER OUTER
 *
 * HASH of the object that stands for the lock (a ReentrantLock's Sync), MODE as in the event, and the least and
 * the most that the hold can have lasted, ns.  Needs --add-opens java.base/java.util.concurrent.locks=ALL-UNNAMED.
 *
 *     each      every way to take a lock, once in each of two threads
 *     storm     COUNT short holds each in four threads, on shared locks of all kinds
 *     virtual   as each, in virtual threads
 *     wait      commands come by standard input: "work" does `each` again and prints its lines, "end" ends;
 *               with a second word: "late" runs a class that was loaded at the beginning and is linked only then
 */
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;

public class Holds {
    static final class Failed extends Exception {
        private static final long serialVersionUID = 1;
    }

    /** What one thread has done. */
    final List<String> lines = new ArrayList<>();
    long before, taken, giving;
    int sum;

    static int hash(Object lock) throws Exception {
        if (lock instanceof ReentrantLock || lock instanceof ReentrantReadWriteLock) {
            Field f = lock.getClass().getDeclaredField("sync");
            f.setAccessible(true);
            return System.identityHashCode(f.get(lock));
        }
        return System.identityHashCode(lock);
    }

    void begin() {
        before = System.nanoTime();
    }

    void held() {
        taken = System.nanoTime();
    }

    void end() {
        giving = System.nanoTime();
    }

    void done(Object lock, int mode) throws Exception {
        note(hash(lock), mode, giving - taken, System.nanoTime() - before);
    }

    void note(int hash, int mode, long inner, long outer) {
        lines.add(String.format("%08X %d %d %d", hash, mode, inner, outer));
    }

    static void spin(long us) {
        long until = System.nanoTime() + us * 1000;
        while (System.nanoTime() < until)
            Thread.onSpinWait();
    }

    // --- monitors -----------------------------------------------------------------------------------

    void block(Object lock) throws Exception {
        begin();
        synchronized (lock) {
            held();
            spin(200);
            synchronized (lock) { // no hold of its own
                spin(20);
            }
            end();
        }
        done(lock, 0);
    }

    void nested(Object a, Object b) throws Exception {
        long t0 = System.nanoTime(), t1, t2;
        synchronized (a) {
            t1 = System.nanoTime();
            block(b);
            t2 = System.nanoTime();
        }
        note(hash(a), 0, t2 - t1, System.nanoTime() - t0);
    }

    void thrown(Object lock) throws Exception {
        begin();
        try {
            synchronized (lock) {
                held();
                spin(50);
                end();
                throw new Failed();
            }
        } catch (Failed f) {
            done(lock, 0);
        }
    }

    synchronized void method(Object unused) {
        held();
        again();
        spin(100);
        end();
    }

    synchronized void again() {
        spin(50);
    }

    static synchronized void ofClass(Holds h) {
        h.held();
        spin(50);
        h.end();
    }

    synchronized void throwing() throws Failed {
        held();
        spin(50);
        end();
        throw new Failed();
    }

    synchronized int manyReturns(int way) {
        held();
        spin(20);
        end();
        if (way == 0)
            return 1;
        if (way == 1)
            return 2;
        throw new IllegalStateException();
    }

    /** The time waited is within the hold's two ends. */
    void waits(Object lock) throws Exception {
        begin();
        synchronized (lock) {
            held();
            spin(50);
            lock.wait(20);
            spin(50);
            end();
        }
        done(lock, 0);
    }

    void monitors() throws Exception {
        Object a = new Object(), b = new Object();
        block(a);
        nested(a, b);
        thrown(a);
        begin();
        method(null);
        done(this, 0);
        begin();
        ofClass(this);
        done(Holds.class, 0);
        begin();
        try {
            throwing();
        } catch (Failed f) {
            done(this, 0);
        }
        for (int way = 0; way < 3; way++) {
            begin();
            try {
                manyReturns(way);
            } catch (IllegalStateException e) {
                sum++;
            }
            done(this, 0);
        }
        waits(a);
    }

    // --- java.util.concurrent.locks -----------------------------------------------------------------

    interface Take {
        boolean take() throws Exception;
    }

    void reentrant(ReentrantLock lock, Take take) throws Exception {
        begin();
        if (!take.take())
            throw new IllegalStateException();
        held();
        lock.lock();
        spin(50);
        lock.unlock();
        spin(50);
        end();
        lock.unlock();
        done(lock, 1);
    }

    /** await gives the lock back: two holds. */
    void condition(ReentrantLock lock) throws Exception {
        Condition c = lock.newCondition();
        begin();
        lock.lock();
        lock.lock();
        held();
        spin(100);
        end();
        c.await(20, TimeUnit.MILLISECONDS);
        long back = System.nanoTime();
        note(hash(lock), 1, giving - taken, back - before);
        before = giving;
        taken = back;
        spin(50);
        end();
        lock.unlock();
        lock.unlock();
        done(lock, 1);
    }

    void readWrite(ReentrantReadWriteLock lock) throws Exception {
        begin();
        lock.readLock().lock();
        held();
        lock.readLock().lock();
        spin(50);
        lock.readLock().unlock();
        end();
        lock.readLock().unlock();
        done(lock, 2);
        // A writer that becomes a reader.
        long t0 = System.nanoTime();
        lock.writeLock().lock();
        long t1 = System.nanoTime();
        spin(50);
        begin();
        lock.readLock().lock();
        held();
        long t2 = System.nanoTime();
        lock.writeLock().unlock();
        note(hash(lock), 1, t2 - t1, System.nanoTime() - t0);
        spin(50);
        end();
        lock.readLock().unlock();
        done(lock, 2);
        begin();
        if (!lock.writeLock().tryLock())
            throw new IllegalStateException();
        held();
        end();
        lock.writeLock().unlock();
        done(lock, 1);
    }

    void stamped(StampedLock lock) throws Exception {
        begin();
        long stamp = lock.writeLock();
        held();
        spin(50);
        end();
        lock.unlockWrite(stamp);
        done(lock, 1);
        begin();
        stamp = lock.readLock();
        held();
        spin(50);
        end();
        lock.unlock(stamp);
        done(lock, 2);
        begin();
        lock.asWriteLock().lock();
        held();
        spin(10);
        end();
        lock.asWriteLock().unlock();
        done(lock, 1);
        begin();
        stamp = lock.tryReadLock();
        held();
        spin(50);
        end();
        long converted = lock.tryConvertToWriteLock(stamp);
        done(lock, 2);
        before = giving;
        held();
        spin(50);
        end();
        if (converted == 0)
            throw new IllegalStateException();
        lock.unlock(converted);
        done(lock, 1);
        // A stamp of that kind already: the same hold goes on.
        begin();
        stamp = lock.writeLock();
        held();
        spin(50);
        if (lock.tryConvertToWriteLock(stamp) != stamp)
            throw new IllegalStateException();
        spin(10);
        end();
        lock.unlockWrite(stamp);
        done(lock, 1);
        begin();
        stamp = lock.readLock();
        held();
        spin(50);
        stamp = lock.tryConvertToReadLock(stamp);
        end();
        lock.unlockRead(stamp);
        done(lock, 2);
        // Given back by somebody else: that hold's end is not known, but the next one's is.
        long handed = lock.writeLock();
        start("other", false, () -> lock.unlockWrite(handed)).join();
        begin();
        stamp = lock.writeLock();
        held();
        spin(10);
        end();
        lock.unlockWrite(stamp);
        done(lock, 1);
    }

    void locks() throws Exception {
        ReentrantLock lock = new ReentrantLock(), fair = new ReentrantLock(true);
        for (ReentrantLock l : new ReentrantLock[] {lock, fair}) {
            reentrant(l, () -> {
                l.lock();
                return true;
            });
            reentrant(l, l::tryLock);
            reentrant(l, () -> l.tryLock(1, TimeUnit.SECONDS));
            reentrant(l, () -> {
                l.lockInterruptibly();
                return true;
            });
        }
        condition(lock);
        readWrite(new ReentrantReadWriteLock());
        readWrite(new ReentrantReadWriteLock(true));
        stamped(new StampedLock());
    }

    void each() throws Exception {
        monitors();
        locks();
    }

    // --- storm --------------------------------------------------------------------------------------

    static final Object shared = new Object();
    static final ReentrantLock sharedLock = new ReentrantLock(), sharedFair = new ReentrantLock(true);

    void storm(int count) throws Exception {
        for (int i = 0; i < count; i++)
            if (i % 3 == 0) {
                begin();
                synchronized (shared) {
                    held();
                    sum++;
                    end();
                }
                done(shared, 0);
            } else {
                ReentrantLock lock = i % 3 == 1 ? sharedLock : sharedFair;
                begin();
                lock.lock();
                held();
                sum++;
                end();
                lock.unlock();
                done(lock, 1);
            }
    }

    static final class Late implements Runnable {
        @Override
        public void run() {
            synchronized (this) {
                spin(10);
            }
        }
    }

    // --- threads ------------------------------------------------------------------------------------

    static Thread start(String name, boolean virtual, Sync.Body body) throws Exception {
        Thread t = virtual ? Sync.virtual(name, body) : Sync.thread(name, body);
        t.start();
        return t;
    }

    static void run(int threads, boolean virtual, int count) throws Exception {
        Holds[] of = new Holds[threads];
        Thread[] t = new Thread[threads];
        for (int i = 0; i < threads; i++) {
            Holds h = of[i] = new Holds();
            t[i] = start("t-" + i, virtual, count > 0 ? () -> h.storm(count) : h::each);
        }
        for (int i = 0; i < threads; i++) {
            t[i].join();
            for (String line : of[i].lines)
                System.out.println("hold t-" + i + " " + line);
        }
    }

    public static void main(String[] args) throws Exception {
        if (args[0].equals("storm"))
            run(4, false, Integer.parseInt(args[1]));
        else
            run(2, args[0].equals("virtual"), 0);
        if (!args[0].equals("wait"))
            return;
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        Class<?> late = args.length > 1 ? Class.forName("Holds$Late", false, Holds.class.getClassLoader()) : null;
        System.out.println("ready");
        for (String word = in.readLine(); word != null && !word.equals("end"); word = in.readLine()) {
            if (late != null) {
                ((Runnable) late.getDeclaredConstructor().newInstance()).run();
                System.out.println("late");
                continue;
            }
            run(2, false, 0);
            System.out.println("worked");
        }
    }
}
