# HeldIn: what is waited for is called by the field that holds it, as the code around the wait says.
# timeout: 300
. "$ROOT/tests/jvm/traced.sh"

# "FIELD NAME" of the first finding that is about a resource.
held() { # CASE [OPTIONS]
    rm -f "$TRACE"
    run 0 traced "${2:-}" -Xmx64m HeldIn "$1"
    run 0 "$ORCA" report --json "$TRACE"
    jq -r '[.findings[] | select(.resource)][0].resource | "\(.field) \(.name)"' out
}

test_monitors() {
    same "$(held static)" "HeldIn.GUARD HeldIn.GUARD"
    same "$(held instance)" "HeldIn.door HeldIn.door"
    same "$(held class)" "HeldIn.class HeldIn.class"
    same "$(held inner)" "HeldIn.door HeldIn.door"
}

# A class of its own says more than the field; the JDK's frames between a method reference and the method hide who holds it.
test_this() {
    same "$(held called)" 'HeldIn.room HeldIn$Room'
    same "$(held this)" 'null HeldIn$Room'
}

test_what_callers_hand_over() {
    same "$(held parameter)" "HeldIn.door HeldIn.door"
    same "$(held element)" "HeldIn.stripes[] HeldIn.stripes[]"
    same "$(held getter)" "HeldIn.stripe() HeldIn.stripe()"
}

test_locks_and_permits() {
    same "$(held lock)" "HeldIn.lock HeldIn.lock"
    same "$(held semaphore)" "HeldIn.permits HeldIn.permits"
    same "$(held queue)" "HeldIn.tokens HeldIn.tokens"
}

# A place in the code is read once, however often threads come by; the JDK's places never are.
test_once_a_place() {
    for times in 5 500; do
        rm -f "$TRACE"
        run 0 traced "" -Xmx64m HeldIn lock $times
        run 0 "$ORCA" info --json "$TRACE"
        n=$(jq '.definitions["call sites"]' out)
        [ "$n" -ge 2 ] && [ "$n" -le 12 ] || fail "$n places in $times rounds"
    done
}

# A JVM that goes on has them in a copy of its recording, too: the control thread reads them.
test_while_it_runs() {
    start_traced "" -Xmx64m HeldIn semaphore 1000000
    wait_for 60 test -s "$TRACE"
    named() {
        "$ORCA" dump "$jvm" -o copy.otrace >dump.out && rm -f last.otrace && mv copy.otrace last.otrace &&
            "$ORCA" report --json last.otrace | jq -e '.findings[0].resource.field == "HeldIn.permits"' >jq.out
    }
    wait_for 60 named
    end_with KILL 137
}
