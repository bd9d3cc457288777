package orderbook;

import java.util.Arrays;

/**
 * The members' cash.
 *
 * <p>PROBLEM 4, or rather none: a transfer needs two account locks at once, always the lower number
 * first. The inner lock is contended, the outer one is held during that and so delays others, but the
 * order is the same everywhere: this never deadlocks, and no tool should say that it could.
 */
final class Accounts {
    private static final long OPENING_CASH = 1_000_000_000L;
    private static final int CREDIT_STEPS = 60_000;

    private static final class Account {
        private long cash = OPENING_CASH;
        private long worstCheck;
    }

    private final Account[] accounts;

    Accounts(int count) {
        accounts = new Account[count];
        Arrays.setAll(accounts, i -> new Account());
    }

    void settle(Trade trade) {
        Account buyer = accounts[trade.buyer()];
        Account seller = accounts[trade.seller()];
        boolean buyerFirst = trade.buyer() <= trade.seller();
        synchronized (buyerFirst ? buyer : seller) {
            synchronized (buyerFirst ? seller : buyer) {
                checkCredit(buyer);
                buyer.cash -= trade.cash();
                seller.cash += trade.cash();
            }
        }
    }

    private static void checkCredit(Account buyer) {
        buyer.worstCheck = Math.min(buyer.worstCheck, Risk.worstLoss(buyer.cash, CREDIT_STEPS));
    }

    /** True when money moved and none was made or lost. Call when all settlers have ended. */
    boolean balanced() {
        long sum = 0;
        boolean moved = false;
        for (Account account : accounts) {
            sum += account.cash;
            moved |= account.cash != OPENING_CASH;
        }
        return moved && sum == OPENING_CASH * accounts.length;
    }
}
