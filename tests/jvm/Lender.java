package org.apache.lend;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** A pool as a library has it: a number of things, taken and given back. */
public class Lender {
    /** Fair: else who gives takes again before those who wait are awake, and beside other programs the same few have all for seconds. */
    private final ReentrantLock lock = new ReentrantLock(true);
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
