# Virtual threads: their events carry them, not their carriers; owners among them; a million of them.
# timeout: 120
. "$ROOT/tests/jvm/traced.sh"

need_jdk 21

test_contention_and_waits() {
    run_traced 0 "" Virtual facts
    owners_are_right out 0 '^v-waits$'
    same "$(matching ' v-[0-4] monitor_contended_enter .* class=Virtual\$ByPlatform .* owner=plat-holder .* at=Virtual\.pass\(')" 5
    events
    same "$(matching ' v-waits wait_enter .* class=Virtual\$Waited .* timeout_ms=0 ')" 1
    same "$(matching ' v-waits wait_exit .* timed_out=0$')" 1
    same "$(matching ' v-times wait_enter .* timeout_ms=40 ')" 1
    same "$(matching ' v-times wait_exit .* timed_out=1$')" 1
    same "$(matching 'ForkJoinPool.* (monitor|wait)_.*class=Virtual')" 0
    same "$(matching ' v-[0-5] thread_end$')" 6
    "$ORCA" report --json --threads "$TRACE" >report || fail report
    for t in v-0 v-5 v-waits v-times; do
        grep -F "\"name\": \"$t\"" report | grep -q '"virtual": true' || fail "$t is not virtual"
    done
    for t in p-0 plat-holder main; do
        grep -F "\"name\": \"$t\"" report | grep -q '"virtual": false' || fail "$t is virtual"
    done
}

# "v-spins" owns what others block on and has no event of its own.
test_name_of_an_owner_without_events() {
    run_traced 0 "" Virtual facts
    events
    same "$(matching ' p-[01] monitor_contended_enter .* class=Virtual\$ByMounted .* owner=v-spins ')" 2
    same "$(matching 'owner=#')" 0
}

test_ten_thousand_on_one_lock() {
    run_traced 0 "" -Xmx256m Virtual crowd 10000
    same "$(tail -n 1 out)" "sum 10000"
    check_owners out
    echo "owners: $(cat owners)"
    read -r _ _ _ _ _ _ _ others _ wrong _ _ _ pairs _ <owners
    same "$wrong wrong, $pairs unpaired" "0 wrong, 0 unpaired"
    at_least "$others" $((JDK_MAJOR < 24 ? 10 : 1000)) contentions
}

# Memory: what a tenth of them needed is what all of them need.
bounded() { # SUM SLACK-KIB
    same "$(tail -n 1 out)" "sum $1"
    local first last
    first=$(grep '^rss' out | head -n 1 | cut -d ' ' -f 2)
    last=$(grep '^rss' out | tail -n 1 | cut -d ' ' -f 2)
    echo "resident: $first KiB, then $last KiB"
    [ $((last - first)) -lt "$2" ] || fail "memory grows: $first KiB, then $last KiB"
}

test_many_over_a_synchronous_queue() {
    local n=100000
    [ "$LONG" = 0 ] || n=500000
    run_traced 0 "" -Xmx64m -XX:+UseSerialGC Virtual relay $n
    bounded $((n * (n + 1) / 2)) 50000
}

test_many_that_contend() {
    local n=100000
    [ "$LONG" = 0 ] || n=1000000
    run_traced 0 "" -Xmx64m -XX:+UseSerialGC Virtual storm $n
    bounded $n 50000
    events -k monitor_contended_enter,monitor_contended_entered
    # of the program's lock; the JDK's own tables of threads are another matter
    same "$(matching ' monitor_contended_enter .*class=Virtual' 'owner=main ')" 0
}

# Threads that are gone while their start is still being recorded: each has one start and one end.
test_many_that_come_and_go() {
    [ "$JDK_MAJOR" -ge 21 ] || skip "needs JDK 21"
    run_traced 0 events=all,full=block -Xmx256m ManyVirtual 100000
    same "$(cat out)" "sum 4999950000"
    # one id each, also behind its end, when many others may have ended since
    "$ORCA" events -k thread_start,unmount "$TRACE" |
        awk '$3 == "thread_start" { started[$2] } $3 == "unmount" && !($2 in started)' >strange
    same "$(head -n 3 strange)" ""
    events -k thread_start,thread_end,thread_start_called
    same "$(awk '$2 ~ /^#/ { n[$3]++ } $3 == "thread_start_called" && $4 ~ /^target=#/ { called++ }
        END { print n["thread_start"], n["thread_end"], called }' events)" "100000 100000 100000"
    same "$(awk '$2 ~ /^#/ && $3 == "thread_start" && seen[$2]++ { print "twice: " $0 }' events | head -n 3)" ""
    "$ORCA" report --all "$TRACE" >report || fail "orca report"
}

# A thread that ended before the recording began does not belong to it, though another unparks it; a live thread without an event does.
test_who_had_ended_before() {
    launch_told Virtual -- gone
    run 0 "$ORCA" attach "$jvm" -o "$TRACE"
    say wake woken
    run 0 "$ORCA" detach "$jvm"
    events
    same "$(matching ' main unpark target=\? ')" 1
    same "$(matching ' main unpark target=stays ')" 1
    run 0 "$ORCA" report --json --threads "$TRACE"
    same "$(jq -r '[.threads[].name | select(. == "gone" or . == "stays")] | join(" ")' out)" stays
    echo >&9
    wait "$jvm" || fail "$(cat java.err)"
}
finish() {
    leave_no_jvm
}
