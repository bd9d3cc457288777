# Virtual threads that block while a frame pins them to their carrier (Pinned.java): natively and in a static initialiser on
# every JDK, in a synchronized block up to 23.
# timeout: 120
. "$ROOT/tests/jvm/traced.sh"

check() { # HOW [JVM-OPTION...]
    local how=$1
    shift
    need_jdk 21
    run 0 traced "${OPTIONS:-}" -Xmx64m -Djdk.reflect.useNativeAccessorOnly=true "$@" Pinned "$how"
    run 0 "$ORCA" report --json --findings "$TRACE"
    jq -r '.findings[] | select(.rule == "pinned") | .text' out >text
    jq -r '.findings[] | select(.rule == "few-carriers") | .text' out >few
    good_trace complete
    events
}
# Each wait by itself: a sleep that wakes early parks again.
pinned_threads() {
    grep ' pinned ' events | cut -d' ' -f2 | sort -u | wc -l
}
monitors_pin() {
    [ "$JDK_MAJOR" -lt 24 ]
}
test_native() {
    check native
    same "$(pinned_threads)" 10
    grep -qE '^Pinned at .*NativeAccessor.invoke0 \(native\): 10 waits, [0-9.]+ s; 10 virtual threads kept a carrier' text || fail "$(cat text)"
    has text 'wait in Pinned.nap (Pinned.java:'
    lacks text 'try'
}
test_initialiser() {
    check init
    same "$(pinned_threads)" 1
    grep -qE '^Pinned at Pinned.Slow.<clinit> \(Pinned.java:[0-9]+\), a static initialiser: 1 wait, [0-9]+ ms; 1 virtual thread kept a carrier' text || fail "$(cat text)"
    has text 'try: do this outside the static initialiser'
}
test_monitor() {
    check monitor
    if ! monitors_pin; then
        same "$(pinned_threads)" 0
        same "$(cat text)" ""
        return
    fi
    same "$(pinned_threads)" 10
    # the innermost of the two frames that hold one, and its monitor
    grep -qE '^Pinned at Pinned.Table.lookup \(Pinned.java:[0-9]+\), synchronized: 10 waits, [0-9.]+ s; 10 virtual threads kept a carrier' text || fail "$(cat text)"
    has text 'try: use a ReentrantLock instead of synchronized, or JDK 24 or later'
    grep -q ' pinned .* class=java.lang.Object' events || fail "$(grep ' pinned ' events)"
}
test_free() {
    check free
    same "$(pinned_threads)" 0
    same "$(cat text)" ""
}
starved() { # HOW
    check "starved-$1" -Djdk.virtualThreadScheduler.parallelism=2 -Djdk.virtualThreadScheduler.maxPoolSize=2
    if [ "$1" = monitor ] && ! monitors_pin; then
        same "$(cat text)" ""
        return
    fi
    same "$(pinned_threads)" 2
    grep -qE ': [0-9]+ waits, [0-9.]+ m?s; 2 virtual threads kept a carrier; .*; 8 virtual threads waited for a carrier in that time, [0-9.]+ m?s; wait in Pinned.rest' text ||
        fail "$(cat text)"
    # neither are the carriers running in that time, nor those who wait for one (how long they run before and after is the machine's)
    local pinned life
    pinned=$(awk '$3 == "pinned" { since[$2] = $1 } $3 == "park_exit" && $2 in since { ns += ($1 - since[$2]) * 1e9; delete since[$2] }
        END { printf "%d", ns }' events)
    run 0 "$ORCA" report --json "$TRACE"
    life=$(jq '.pools[] | select(.pool | startswith("ForkJoinPool-1-worker")) | .life_ns' out)
    run 0 "$ORCA" report "$TRACE"
    grep -q '^threads by pool .* no carrier$' out || fail "$(cat out)"
    awk -v share="$((100 * pinned / life))" '/^ForkJoinPool-1-worker/ { n++; if ($7 < share - 1 || $3 > 101 - share) n += 9 } END { exit n != 1 }' out ||
        fail "the carriers were pinned for $pinned of $life ns: $(cat out)"
}
test_starved_natively() {
    starved native
    same "$(cat few)" ""
}
busy() { # OPTIONS
    OPTIONS=$1
    check busy -Djdk.virtualThreadScheduler.parallelism=2 -Djdk.virtualThreadScheduler.maxPoolSize=2
    same "$(cat text)" ""
    # those that compute may have waited for one, too, when they started
    grep -qE '^(8|9|10) virtual threads waited for a carrier: [0-9]+ times, [0-9.]+ s in total, [0-9.]+ on average; ' few || fail "$(cat few)"
    grep -qE 'try: (if virtual threads compute for long: )?run long computations in a pool of platform threads' few || fail "$(cat few)"
    run 0 "$ORCA" report --json --threads "$TRACE"
    same "$(jq '[.threads[] | select(.virtual and .no_carrier_ns > 100000000)] | length' out)" 8
}
test_starved_by_computing() {
    busy events=all
    grep -qE '; on the carriers: threads without a name (9[0-9]|100) %' few || fail "$(cat few)"
    has few 'try: run '
}
# Threads that compute and do not wait are then not known.
test_starved_by_unknown() {
    busy ""
}
test_starved_by_monitors() {
    starved monitor
}

# The hang that stopped servers on JDK 21: recorded from the start, or attached to when nothing moves.
hang() { # HOW WHERE
    local how=$1
    local vm=(-Xmx64m -Djdk.reflect.useNativeAccessorOnly=true -Djdk.virtualThreadScheduler.parallelism=2
        -Djdk.virtualThreadScheduler.maxPoolSize=2)
    rm -f "$TRACE"
    set -m
    : >java.out
    if [ "$2" = start ]; then
        start_traced "" "${vm[@]}" Pinned "hang-$how"
        wait_for 60 grep -q '^ready' out
    else
        "$JAVA" "${vm[@]}" -XX:-UsePerfData -cp "$CLASSES" Pinned "hang-$how" >java.out 2>&1 &
        jvm=$!
        wait_for 60 grep -q '^ready' java.out
        run 0 "$ORCA" attach "$jvm" -o "$TRACE"
    fi
    wait_for 60 eval "\"$ORCA\" report --json --findings \"$TRACE\" 2>report.err | jq -r '.findings[0].text' | tee text | grep -q '^No carrier was free'"
    kill -KILL "$jvm"
    grep -qE '^No carrier was free for the last [0-9.]+ s: 2 pinned virtual threads keep all of them; ' text || fail "$(cat text)"
    has text 'handler-0 waits for '
    has text 'handler-1 waits for '
}
test_hang() {
    need_jdk 21
    local how=native
    ! monitors_pin || how=monitor
    hang "$how" start
    has text '; first was unparked by main for '
    has text ' and waits for a carrier, '
    ! monitors_pin || has text ', synchronized; '
}
test_hang_attached() {
    need_jdk 21
    local how=native
    ! monitors_pin || how=monitor
    hang "$how" attached
    has text '; no other virtual thread can run'
    ! monitors_pin || has text ', pinned at Pinned$Table.outer (Pinned.java:'
}
