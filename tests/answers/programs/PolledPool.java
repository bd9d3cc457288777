package scans;

import common.Case;
import common.Case.Measure;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.commons.pool2.BasePooledObjectFactory;
import org.apache.commons.pool2.PooledObject;
import org.apache.commons.pool2.impl.DefaultPooledObject;
import org.apache.commons.pool2.impl.GenericObjectPool;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;

/** Pages are scanned with sessions of a device from a pool; a scan is waited for while the session is held (or after it is given back). */
public class PolledPool {
    public static void main(String[] args) throws Exception {
        Case it = Case.of(args);
        GenericObjectPoolConfig<Session> config = new GenericObjectPoolConfig<>();
        config.setMaxTotal(2);
        config.setJmxNamePrefix("scanners");
        GenericObjectPool<Session> pool = new GenericObjectPool<>(new Sessions(), config);
        Measure measure = new Measure();
        Scanner scanner = new Scanner(pool, it.planted());
        int workers = it.strength(16, 5);
        ExecutorService scans = Executors.newFixedThreadPool(workers, named("scan"));
        for (int i = 0; i < workers; i++) {
            scans.execute(() -> {
                for (;;) {
                    long start = System.nanoTime();
                    scanner.page("letter");
                    measure.since(start);
                }
            });
        }
        mailRoom();
    }

    /** A pool that is busy now and then, and has nothing to do else: no harm. */
    private static void mailRoom() throws InterruptedException {
        LinkedBlockingQueue<String> letters = new LinkedBlockingQueue<>();
        ExecutorService mail = Executors.newFixedThreadPool(8, named("mail"));
        for (int i = 0; i < 8; i++) {
            mail.execute(() -> {
                for (;;) {
                    try {
                        letters.take();
                    } catch (InterruptedException e) {
                        return;
                    }
                }
            });
        }
        for (;;) {
            TimeUnit.MILLISECONDS.sleep(20);
            for (int i = 0; i < 4; i++) letters.add("letter " + i);
        }
    }

    private static java.util.concurrent.ThreadFactory named(String name) {
        var count = new java.util.concurrent.atomic.AtomicInteger();
        return task -> new Thread(task, name + "-" + count.incrementAndGet());
    }
}

class Scanner {
    private final GenericObjectPool<Session> pool;
    private final boolean holding;

    Scanner(GenericObjectPool<Session> pool, boolean holding) {
        this.pool = pool;
        this.holding = holding;
    }

    String page(String name) {
        try {
            Session session = pool.borrowObject();
            Job job;
            try {
                job = session.begin(name);
                if (holding) await(job);
            } finally {
                pool.returnObject(session);
            }
            if (!holding) await(job);
            return job.name;
        } catch (Exception e) {
            throw new IllegalStateException("no page: " + name, e);
        }
    }

    private void await(Job job) throws InterruptedException {
        while (!job.isDone()) {
            Thread.sleep(5); // holder
        }
    }
}

class Job {
    final String name;
    private final long done = System.nanoTime() + 40_000_000;

    Job(String name) {
        this.name = name;
    }

    boolean isDone() {
        return System.nanoTime() >= done;
    }
}

class Session {
    Job begin(String page) {
        return new Job(page);
    }
}

class Sessions extends BasePooledObjectFactory<Session> {
    @Override
    public Session create() {
        return new Session();
    }

    @Override
    public PooledObject<Session> wrap(Session session) {
        return new DefaultPooledObject<>(session);
    }
}
