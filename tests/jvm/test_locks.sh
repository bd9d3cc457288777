# The group "locks": calls of java.util.concurrent, against a program that knows its numbers (LockCalls.java).
. "$ROOT/tests/jvm/traced.sh"

calls() { # THREAD KIND CALL
    matching "^[^ ]* $1 $2 call=$3 "
}

test_calls_are_counted() {
    run_traced 0 events=all LockCalls
    same "$(cat out)" "sum 2708"
    events
    same "$(calls 'locker-.' call_enter ReentrantLock.lock)" 300
    same "$(calls 'locker-.' call_exit ReentrantLock.lock)" 300
    same "$(calls 'locker-.' call ReentrantLock.unlock)" 300
    same "$(matching ' locker-. call_exit call=ReentrantLock.tryLock .* failed=1')" 3
    same "$(matching " locker-. call_enter call=ReentrantLock.lock .* at=LockCalls\..*\(LockCalls\.java:$(site LockCalls.java lock)\)")" 300
    same "$(calls main call_enter ArrayBlockingQueue.put) $(calls main call_exit ArrayBlockingQueue.put)" "50 50"
    same "$(calls taker call_enter ArrayBlockingQueue.take) $(calls taker call_exit ArrayBlockingQueue.take)" "50 50"
    same "$(calls main call ThreadPoolExecutor.execute)" 20
    same "$(calls main call_exit FutureTask.get)" 20
    same "$(matching ' main call_exit call=FutureTask.get .* failed=1')" 1
    same "$(calls 'pool-1-thread-.' call_enter FutureTask.run) $(calls 'pool-1-thread-.' call_exit FutureTask.run)" "20 20"
    same "$(matching ' call(_enter|_exit)? .*(orca\.probe|call=\?)')" 0 # a sample of an allocation may be Orca's
}

# Each task goes from the thread that submits it to the one that runs it: one object, in this order.
test_from_submit_to_run() {
    run_traced 0 events=locks LockCalls
    events
    same "$(awk '$3 == "call" && $4 == "call=ThreadPoolExecutor.execute" { submitted[$5] = $2 }
        $3 == "call" && $4 == "call=ThreadPoolExecutor.beforeExecute" { if ($5 in submitted) handed[$5] = $2 }
        $3 == "call_enter" && $4 == "call=FutureTask.run" && handed[$5] == $2 && submitted[$5] == "main" { edges++ }
        END { print edges }' events)" 20
}

# Not unless it was asked for.
test_off_by_default() {
    run_traced 0 "" LockCalls
    events
    same "$(matching ' call(_enter|_exit)? ')" 0
}
