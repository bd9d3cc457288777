# A JVM that is killed at any moment: what it had seen happen is in the trace.
# ORCA_LONG=1: more rounds.
# timeout: 300
. "$ROOT/tests/jvm/traced.sh"

KILLS=$(some 1 2 4 | tail -n 1)
[ "$LONG" = 0 ] || KILLS=20

# A repeatable series of numbers: each call gives the next one below LIMIT, in "random".
SEED=${ORCA_SEED:-42}
next_random() { # LIMIT
    SEED=$(((SEED * 1103515245 + 12345) % 2147483648))
    random=$((SEED / 65536 % $1))
}

# Start the program and wait until it contends.
start_killed() { # OPTIONS
    rm -f counts "$TRACE"
    start_traced "$1" -Xmx48m -XX:+UseSerialGC Killed counts
    wait_for 60 grep -q ready out
}

# FLOOR: a copy of the counts; where the JVM ends in good order its threads run on behind the recording's end.
check_counts() { # [TRACE [FLOOR]]
    "$ORCA" events "${1:-$TRACE}" >events 2>events.err || fail "orca events: $(cat events.err)"
    counts_agree "${2:-counts}"
}

test_sigkill() {
    local i
    for i in $(seq $KILLS); do
        start_killed ""
        next_random 5000 # wherever it is then
        wait_for 60 contended $random
        end_with KILL 137
        info
        same "$(value state) $(value lost_total) $(value damaged)" "recovered 0 0"
        same "$(grep -c 'completed' info.err)" 1
        no_rings "$(value pid)"
        check_counts
        # the second reader has nothing to do, and sees the same
        local total
        total=$(value events_total)
        cp "$TRACE" before
        info
        same "$(value events_total) $(value state)" "$total recovered"
        same "$(cat info.err)" ""
        cmp "$TRACE" before || fail "the second reader changed the trace"
    done
}

# Long before anything is flushed, and with rings that overflow into larger ones.
test_sigkill_with_small_rings() {
    start_killed ring=2k,full=block
    wait_for 60 contended 2000
    end_with KILL 137
    good_trace recovered
    check_counts
}

test_sigkill_of_a_flight_recorder() {
    start_killed maxsize=4m
    wait_for 60 contended 2000
    end_with KILL 137
    good_trace recovered
    check_counts
}

overwritten() {
    info
    [ "$(value evicted_total)" -gt 0 ]
}

# The recovered trace says the same as a live one: how much of the beginning is no longer there.
test_sigkill_of_a_flight_recorder_that_has_overwritten() {
    start_traced maxsize=4m,full=block -Xmx48m -XX:+UseSerialGC WaitStorm 4 100000000
    wait_for 60 test -s "$TRACE"
    wait_for 60 overwritten
    local live
    live=$(value evicted_total)
    same "$(value state)" recording
    end_with KILL 137
    good_trace recovered
    at_least "$(value evicted_total)" "$live" "overwritten events"
    "$ORCA" report --all "$TRACE" >report || fail "orca report"
    has report "older events were overwritten"
    events
    same "$(matching ' storm-[0-3] wait_(enter|exit) ')" "$(matching ' storm-[0-3] wait_(enter|exit) lock=[0-9]* class=WaitStorm\$')"
}

# While it starts, loads the agent, or makes its files: nothing stays in shared memory.
test_sigkill_at_the_start() {
    local i seen=0 began=${EPOCHREALTIME/[.,]/} most_ms
    for i in $(seq 1 $((KILLS * 8))); do
        start_traced "" -Xmx48m -XX:+UseSerialGC Ends wait
        if [ "$i" = 1 ]; then # as early as there is something to recover: the time that it takes here
            wait_for 60 test -s "$TRACE"
            most_ms=$(((${EPOCHREALTIME/[.,]/} - began) / 600))
        else
            next_random $((most_ms < 999 ? most_ms : 999))
            sleep 0.$(printf %03d $random)
        fi
        kill -KILL "$jvm"
        wait "$jvm" 2>/dev/null
        if [ -s "$TRACE" ]; then
            info
            same "$(value state) $(value lost_total) $(value damaged)" "recovered 0 0"
            seen=$((seen + 1))
        fi
        no_rings "$jvm"
        rm -f "$TRACE"
    done
    echo "traces: $seen"
    at_least "$seen" 1 "kills after the file was made"
}

# Recovery is killed before each of its changes of a file, one after the other; the last one completes it.
test_kill_of_the_recovery() {
    local i k status
    ${CC:-cc} -D_GNU_SOURCE -O1 -shared -fPIC -o dies_at.so "$ROOT/tests/jvm/dies_at.c" -ldl || fail "dies_at.c does not build"
    for i in $(seq $((KILLS / 2))); do
        start_killed ""
        wait_for 60 contended 4000
        end_with KILL 137
        k=0
        status=137
        while [ $status = 137 ]; do
            k=$((k + 1))
            { DIES_AT=$k LD_PRELOAD=$PWD/dies_at.so "$ORCA" info "$TRACE" >/dev/null; } 2>/dev/null
            status=$?
        done
        same $status 0
        at_least $k 4 "recoveries, the last of which was not killed"
        good_trace recovered
        check_counts
    done
}

# The copy takes the rings; the original stays readable, and says that it is unfinished.
test_copy_of_the_trace_of_a_killed_jvm() {
    start_killed ""
    wait_for 60 contended 2000
    end_with KILL 137
    mkdir copy
    cp "$TRACE" copy/copy.otrace
    info copy/copy.otrace
    same "$(value state) $(value lost_total) $(value damaged)" "recovered 0 0"
    no_rings "$(value pid)"
    check_counts copy/copy.otrace
    "$ORCA" info "$TRACE" >text || fail "the original cannot be read"
    has text unfinished
    # and a recovered trace needs nothing but itself
    mv copy/copy.otrace elsewhere.otrace
    check_counts elsewhere.otrace
}

# Of the running JVM's trace: what is in the file, every two seconds more.
flushed() { # EVENTS
    info
    same "$(value state) $(value damaged)" "recording 0"
    [ "$(value monitor_contended_enter)" -ge "$1" ]
}

# The rings are gone, too (a reboot): what is in the file can be read.
test_rings_are_gone() {
    start_killed ""
    wait_for 60 flushed 100
    end_with KILL 137
    rm -f /dev/shm/orca-"$jvm"-*
    info
    same "$(value state)" recording
    at_least "$(value monitor_contended_enter)" 100 "events that were flushed"
}

test_sigterm_and_sigint() {
    local i
    for i in $(seq $((KILLS / 2))); do
        start_killed ""
        next_random 3000
        wait_for 60 contended $random
        cp counts floor
        end_with TERM 143
        good_trace complete
        check_counts "$TRACE" floor
        start_killed ""
        cp counts floor
        end_with INT 130
        good_trace complete
        check_counts "$TRACE" floor
    done
}

# Readers of a trace that grows change nothing about it.
test_reading_while_it_is_recorded() {
    start_killed ""
    wait_for 60 flushed 100
    "$ORCA" events "$TRACE" >events || fail "orca events"
    cp counts floor
    end_with TERM 143
    good_trace complete
    check_counts "$TRACE" floor
}
