# The first finding names what is scarce, who has it, what those do who have it, and the lines of the program, without any
# option: of a pool that no table knows, of a semaphore, of a full queue, of a pool of threads that waits for itself (Lent.java).
# timeout: 120
. "$ROOT/tests/jvm/traced.sh"

# The line with this remark.
line() { # REMARK
    grep -n "// $1\$" "$ROOT/tests/jvm/Lent.java" | cut -d: -f1
}

# The first finding: its rule, and answers of jq about it.
first() { # JQ
    jq -r ".findings[0] | $1" json
}

check() { # KIND RULE JQ EXPECTED
    same "$(first .rule)" "$2" || { jq -c '.findings[].text' json >&2; }
    same "$(first "$3")" "$4"
}

PLACE='"\(.class).\(.method):\(.line)"'

pool_of_input() {
    "$ORCA" report --json "$TRACE" >json || fail json
    check input exhausted-pool '"\(.resource.name) \(.resource.at_once as $n | $n >= 1 and $n <= 3) \(.waiters.threads > 6) \(.waiters.pool)"' "Lent.lender true true asker"
    same "$(first ".waiters.at | $PLACE")" "Lent.input:$(line 'waiter of input')"
    same "$(first '.holders[0] | "\(.does) \(.from) \(.share > 0.5)"')" "input recorded true"
    same "$(first ".holders[0].at | $PLACE")" "Lent.ask:$(line 'holder of input')"
    same "$(first '.share > 0.5')" true
    "$ORCA" report --findings "$TRACE" >text || fail text
    tr -s ' \n' ' ' <text >flat
    has flat "1 Lent.lender (pool or limit): at least "
    has flat " in use at once waits: "
    has flat " threads of asker wait "
    has flat " held by "
    has flat " of the time waiting for input from 127.0.0.1:"
    has flat "Lent.ask (Lent.java:$(line 'holder of input'))"
}

test_pool() {
    run_traced 0 "" Lent input 2
    pool_of_input
}

test_pool_attached() {
    "$JAVA" -XX:-UsePerfData -cp "$CLASSES" Lent input 60 >java.out 2>java.err &
    jvm=$!
    wait_for 60 grep -q '^ready' java.out
    "$ORCA" attach "$jvm" -o "$TRACE" --for 3s >attach.out 2>&1 || fail "$(cat attach.out)"
    kill -TERM "$jvm"
    pool_of_input
}

test_semaphore() {
    run_traced 0 "" Lent permits 2
    "$ORCA" report --json "$TRACE" >json || fail json
    check permits exhausted-pool '"\(.resource.at_once) \(.waiters.threads > 6)"' "3 true"
    same "$(first ".waiters.at | $PLACE")" "Lent.permit:$(line 'waiter of permits')"
    same "$(first '.holders[0] | "\(.does) \(.from) \(.share > 0.5)"')" "sleeps recorded true"
    same "$(first ".holders[0].at | $PLACE")" "Lent.permit:$(line 'holder of permits')"
}

test_full_queue() {
    run_traced 0 "" Lent queue 2
    "$ORCA" report --json "$TRACE" >json || fail json
    check queue exhausted-pool '"\(.resource.role) \(.waiters.threads > 2) \(.holder_name)"' "full queue true writer"
    same "$(first '.holders[0] | "\(.does) \(.at.class).\(.at.method) \(.share > 0.5)"')" "computes Lent.compute true"
}

test_starved_pool() {
    run_traced 0 "" Lent starved 2
    "$ORCA" report --json "$TRACE" >json || fail json
    check starved starved-pool '"\(.waiters.pool)"' own
    same "$(first ".waiters.at | $PLACE")" "Lent.nested:$(line 'waiter of starved')"
    # who should run the tasks waits there, too, until its patience ends
    same "$(first '.holders[0] | "\(.does) \(.share > 0.5)"')" "answer true"
    same "$(first '.waiters | .timed_out > 0 and .timed_out <= .count')" true
    same "$(first ".holders[0].at | $PLACE")" "Lent.nested:$(line 'waiter of starved')"
}

# Threads that wait for work are not a finding.
test_idle() {
    run_traced 0 "" Lent idle 2
    "$ORCA" report --json "$TRACE" >json || fail json
    # but for what main does itself: it sleeps, and is alone until there are others
    same "$(jq -r '[.findings[].rule | select(. != "serial-phase" and . != "sleep-on-path")] | join(" ")' json)" ""
}

# A thread whose answers wait for others' answers is not the cause: the end of the chain is.
test_chain() {
    run_traced 0 "" Lent chain 2
    "$ORCA" report --json "$TRACE" >json || fail json
    same "$(jq -r '[.findings[] | select(.rule == "slow-answer") | .resource.name] | join(" ")' json)" back
    same "$(first '.holders[0] | "\(.does) \(.at.class).\(.at.method)"')" "computes Lent.compute"
}

# A lock of each request's own: one resource, not some hundred.
test_crowd() {
    run_traced 0 "" Lent crowd 2
    "$ORCA" report --json "$TRACE" >json || fail json
    check crowd dominant-lock '"\(.resource.role) \(.waiters.threads > 6)"' "lock true"
    same "$(first ".waiters.at | $PLACE")" "Lent.row:$(line 'waiter of crowd')"
    same "$(first '.holders[0] | "\(.does) \(.share > 0.5)"')" "sleeps true"
}

# Nobody in this JVM has to wait for an event loop that waits in a handler: its clients do.
test_blocked_loop() {
    run_traced 0 "" Lent loop 4
    "$ORCA" report --json "$TRACE" >json || fail json
    jq '[.findings[] | select(.rule == "blocked-loop")] | {findings: .}' json >loops
    mv loops json
    same "$(first '"\(.resource.role) \(.resource.name)"')" "event loop loop-1"
    same "$(first '.holders[0] | "\(.does) \(.from) \(.share > 0.5)"')" "input recorded true"
    same "$(first ".holders[0].at | $PLACE")" "Lent.ask:$(line 'holder of input')"
}
