# What holds threads up: a lock is a lock, whether it is a monitor, a permit, a slot or an answer; who waits for work
# is idle.  The program knows how long its threads were parked at least, and how long the call took at most.
# timeout: 120
. "$ROOT/tests/jvm/traced.sh"

# number KEY: of each thread whose name begins with a word, added up.
of_threads() { # WORD KEY
    awk -v word="\"name\": \"$1-" -v key="\"$2\": " 'index($0, word) {
        at = index($0, key)
        n += substr($0, at + length(key)) + 0
    } END { printf "%.0f", n }' report
}

check_kind() { # KIND
    local kind=$1 threads least most held
    rm -f app.otrace
    run_traced 0 "" HeldUp "$kind"
    read -r _ _ threads least most < <(grep "^held $kind " out)
    "$ORCA" report --json "$TRACE" >report || fail report
    held=$(of_threads "$kind" held_up_ns)
    at_least "$held" "$least" "ns of $kind in which $threads threads were held up"
    # blocked they were before the call, when classes were loaded
    at_least "$most" $((held - $(of_threads "$kind" blocked_ns))) "ns of $kind in the call, those parked and held up among them"
    at_least "$(of_threads "$kind" held_up_count)" "$threads" "times, once for each thread"
    "$ORCA" report --all "$TRACE" >text || fail report
    lacks text "No contention was recorded"
    grep -E '"rule": "((dominant|contended)-lock|(exhausted|contended)-pool|slow-answer)".* waits? [0-9.]+ [mun]?s .*; wait in .* \(HeldUp\.java:' report >found ||
        fail "$kind: no finding with its place: $(grep '"rule"' report)"
}

test_permits_slots_and_locks() {
    for kind in permits slots full lock own; do
        check_kind $kind
    done
}

test_answers() {
    for kind in latch barrier future completed exchange; do
        check_kind $kind
    done
}

# The threads of the pool, of the common pool and the consumers were parked, none of them held up; main was, for the
# answers.
test_idle_threads_are_idle() {
    run_traced 0 "" HeldUp idle
    "$ORCA" report --json "$TRACE" >report || fail report
    for word in pool consumer-; do
        grep -F "\"name\": \"$word" report | grep -q '"parked_count": [1-9]' || fail "$word was not parked"
    done
    grep '"class": "java.util.concurrent.LinkedBlockingQueue", "objects"' report | grep -q '"held_up_count": 0,' ||
        fail "waiting for work is held up: $(grep LinkedBlockingQueue report)"
    lacks report ConditionObject # a condition is called by the queue that it is of
    grep -F '"class": "java.util.concurrent.ForkJoinPool"' report | grep -q '"held_up_count": [1-9]' &&
        fail "the common pool is held up"
    lacks report "LinkedBlockingQueue: "
}

# A server's main thread waits for its end like this: no thread blocks it.
test_an_answer_that_has_not_come() {
    start_traced "" HeldUp forever
    wait_for 60 grep -q '^waits' out
    end_with TERM 143
    "$ORCA" report --json "$TRACE" >report || fail report
    same "$(grep -c '"rule": "\(dominant\|contended\)-lock"' report)" 0
    grep -F '"class": "java.util.concurrent.CountDownLatch$Sync"' report | grep -q '"held_up_count": [1-9]' &&
        fail "main is held up"
    grep -F '"name": "main"' report | grep -q '"parked_count": [1-9]' || fail "main was not parked"
}
