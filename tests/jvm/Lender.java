package org.apache.lend;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** A pool as a library has it: so many things, taken and given back. */
public class Lender {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition given = lock.newCondition();
    private int free;

    public Lender(int things) {
        free = things;
    }

    public void take() throws InterruptedException {
        lock.lock();
        try {
            while (free == 0)
                given.await();
            free--;
        } finally {
            lock.unlock();
        }
    }

    public void give() {
        lock.lock();
        try {
            free++;
            given.signal();
        } finally {
            lock.unlock();
        }
    }
}
