# Virtual threads that wait already when a recording begins, or without one: who waits for what, and who has it.
# timeout: 120
. "$ROOT/tests/jvm/traced.sh"
. "$ROOT/tests/jvm/circles.sh"

need_jdk 21

begin() { # JVM-OPTION... PROGRAM ARGUMENT...
    set -m
    : >java.out
    "$JAVA" -Xmx64m -XX:-UsePerfData -Djdk.virtualThreadScheduler.parallelism=20 -cp "$CLASSES" "$@" >java.out 2>&1 &
    jvm=$!
    wait_for 60 grep -q '^ready' java.out
}

# A recording that begins when they are deadlocked already: live and in the report.
attach_to() { # N KIND JVM-OPTION...
    local n=$1 kind=$2
    shift 2
    rm -f "$TRACE"
    begin "$@" Unmounted circle "$n" "$kind" "${crowd:-0}"
    run 0 "$ORCA" attach "$jvm" -o "$TRACE"
    live_circle "$n"
    run 0 "$ORCA" detach "$jvm"
    kill -KILL "$jvm"
    good_trace complete
    run 0 "$ORCA" report --json --deadlocks "$TRACE"
    same "$(jq '.deadlocks | length' out)" 1
    same "$(jq -r '[.deadlocks[0].members[].name] | sort | join(" ")' out)" "$(names "$n")"
    same "$(jq -r '[.deadlocks[0].behind[].name] | join(" ")' out)" behind
    same "$(jq -r '[.deadlocks[0].members[].stack | map(.class) | any(. == "Unmounted")] | all' out)" true
    same "$(jq .owners_unknown out)" 0
}
test_attach_to_deadlock() {
    attach_to 3 monitor -XX:+UseSerialGC
    attach_to 2 lock -XX:+UseG1GC
    attach_to 4 mixed -XX:+UseZGC
    attach_to 10 pinned -XX:+UseSerialGC
    attach_to 3 platform -XX:+UseSerialGC
}

# More than the attach asks: those that are stuck come first, and the rest is said to be unknown.
test_attach_to_deadlock_in_a_crowd() {
    local crowd=2500
    for kind in monitor lock; do
        attach_to 3 $kind -XX:+UseSerialGC
        "$ORCA" report "$TRACE" >text
        tr -s ' \n' ' ' <text | grep -q "LACKING of 25[0-9]* virtual threads Orca asked 2000, blocked ones first, what they had waited for before the attach: of the others it is unknown" ||
            fail "$(head -n 20 text)"
        same "$("$ORCA" events -k wait_found "$TRACE" | grep -c ' crowd-[0-9]* ')" $((2000 - 3 - 1))
    done
}

# A virtual thread is found at the object, a platform thread at its hash: one lock, and one finding.
test_attach_to_a_queue() {
    begin -XX:+UseSerialGC Unmounted straight 2
    for seconds in 1 3 9; do # the attach takes some of it
        rm -f "$TRACE"
        run 0 "$ORCA" attach "$jvm" -o "$TRACE" --for ${seconds}s
        run 0 "$ORCA" report --json "$TRACE"
        ! jq -r '.findings[].text' out | grep -q 'still blocked' || break
    done
    kill -KILL "$jvm"
    good_trace complete
    "$ORCA" events -k wait_found "$TRACE" >found
    same "$(sed -n 's/^[^ ]* \(behind\|beside\) wait_found .* lock=\([0-9]*\) .*owner=v-0 .*/\2/p' found | sort | uniq -c | awk '{ print $1 }')" 2
    run 0 "$ORCA" report --json "$TRACE" # v-0 as well, at the same place
    same "$(jq -r '[.findings[] | select(.text | contains("3 threads were still blocked when the recording ended"))] | length' out)" 1
    same "$(jq -r '[.findings[] | select(.text | contains("blocked"))] | length' out)" 1
}

# Without a recording; threads of an executor are among them.
test_query_alone() {
    begin -XX:+UseSerialGC Unmounted circle 4 mixed
    run 0 "$ORCA" query "$jvm" locks
    if [ "$JDK_MAJOR" -ge 25 ]; then
        same "$(head -n 1 out)" "DEADLOCK of 4 threads:"
    else # v-1, v-3 and "behind"
        has out "3 virtual threads are blocked on monitors that are not known"
        run 0 "$ORCA" query "$jvm" thread behind
        has out "waits for an unknown monitor"
    fi
    wait_for 60 eval "\"$ORCA\" query $jvm thread pooled | tee out | grep -q '^\"pooled\" #[0-9]* virtual, WAITING\$'"
    grep -q "^        at Unmounted\.lambda.circle.*($(basename Unmounted.java):$(site Unmounted.java pooled))\$" out || fail "$(cat out)"
    kill -KILL "$jvm"
}
