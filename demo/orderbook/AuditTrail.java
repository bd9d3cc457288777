package orderbook;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * The record of everything that happened: each line is hashed together with the hash before it, so
 * that none can be changed later.
 *
 * <p>PROBLEM 3: a lock convoy. Every thread of the exchange appends here. Formatting and hashing a
 * line inside the lock is short, but when a page is full `audit` seals it under the same lock for
 * some milliseconds; then everybody stands in line, and they keep arriving in line afterwards.
 */
final class AuditTrail {
    private static final int PAGE_LINES = 100;
    private static final int LINE_ROUNDS = 30;
    private static final int SEAL_ROUNDS = 8_000;

    private final MessageDigest digest;
    private byte[] chain = new byte[32];
    private int lines;
    private long accepted;
    private boolean closed;

    AuditTrail() {
        try {
            digest = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    void accepted(Order order) {
        append("accepted", order);
    }

    void settled(Trade trade) {
        append("settled", trade);
    }

    private synchronized void append(String what, Object item) {
        String line = String.format("%-8s %s", what, item);
        digest.update(line.getBytes(StandardCharsets.UTF_8));
        extend(LINE_ROUNDS);
        if (item instanceof Order) {
            accepted++;
        }
        if (++lines == PAGE_LINES) {
            notify();
        }
    }

    /** The audit thread's life: seals page after page until closed. */
    synchronized void sealPages() throws InterruptedException {
        while (!closed) {
            while (lines < PAGE_LINES && !closed) {
                wait();
            }
            lines = 0;
            extend(SEAL_ROUNDS);
        }
    }

    private void extend(int rounds) {
        for (int i = 0; i < rounds; i++) {
            chain = digest.digest(chain);
        }
    }

    synchronized void close() {
        closed = true;
        notify();
    }

    synchronized long acceptedOrders() {
        return accepted;
    }
}
