package orca.probe;

import java.lang.management.LockInfo;
import java.util.ArrayList;
import java.util.List;

/** A lock in an answer of Query: who owns it, who waits for it. */
final class QueryLock {
    final LockInfo info;
    final boolean monitor;
    final List<QueryThread> waiting = new ArrayList<>();
    QueryThread owner; // with what it executes, if it was seen to hold the lock
    StackTraceElement taken;
    long ownerId = -1; // what a waiting thread says
    String ownerName;

    QueryLock(LockInfo info, boolean monitor) {
        this.info = info;
        this.monitor = monitor;
    }
}
