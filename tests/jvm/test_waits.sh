# Object.wait: on what, how long, how it ended; waits and blocked threads at the end of the program.
. "$ROOT/tests/jvm/traced.sh"

# One wait of a thread: its object's class, its time-out, whether it timed out.
check_wait() { # THREAD CLASS TIMEOUT-MS TIMED-OUT
    same "$(awk -v t="$1" -v class="class=Waits\$$2" -v timeout="timeout_ms=$3" -v out="timed_out=$4" '
        $2 == t && $3 == "wait_enter" { at = $1; lock = $4; enters += $5 == class && $7 == timeout }
        $2 == t && $3 == "wait_exit" { exits += $5 == class && $7 == out && $4 == lock && $1 >= at }
        $2 == t && $3 ~ /^wait/ { all++ }
        END { print all, enters, exits }' events)" "2 1 1"
}

length_ms() { # THREAD
    awk -v t="$1" '$2 == t && $3 == "wait_enter" { at = $1 }
        $2 == t && $3 == "wait_exit" { printf "%d", ($1 - at) * 1000 }' events
}

# docs/reference/orca-text.md, calls that throw at once: JDK 17 and 21 tell of a wait before they look who owns the monitor.
test_not_owned() {
    run_traced 0 "" NotOwned
    same "$(cat out)" 10
    events
    local begins ends
    case $JDK_MAJOR in
    17) begins=5 ends=5 ;;
    21) begins=5 ends=0 ;;
    25) begins=0 ends=0 ;;
    *) skip "nobody has looked what JDK $JDK_MAJOR tells" ;;
    esac
    same "$(matching ' main wait_enter .*NotOwned.java') $(matching ' main wait_exit ') $(matching ' main notify ')" "$begins $ends 0"
}

test_every_way_to_end_a_wait() {
    run_traced 0 "" Waits
    same "$(cat out)" "interrupted 2"
    events
    check_wait timed-out TimedOut 50 1
    check_wait notified Notified 0 0
    check_wait in-time InTime 60000 0
    check_wait interrupted Interrupted 60000 0
    check_wait every-0 Everybody 0 0
    check_wait every-1 Everybody 0 0
    check_wait every-2 Everybody 0 0
    check_wait reacquire Reacquire 0 0
    check_wait forever Forever 9223372036854775807 0
    # wait(60000, 1) is rounded up to milliseconds by the JDK
    check_wait nested Nested 60001 0
    at_least "$(length_ms timed-out)" 49 "ms of wait(50)"
    at_least "$(length_ms reacquire)" 29 "ms until the monitor was free again"
    same "$(matching ' wait_open ' 'Waits')" 0
}

# An interrupt that was there before: the JVM posts an end at most, no begin that stays open.
test_interrupted_before() {
    run_traced 0 "" Waits
    events
    same "$(matching ' early wait_exit ')" "$(matching ' early wait_enter ')"
    same "$(matching ' early wait_open ')" 0
}

test_stack_of_a_wait() {
    run_traced 0 "" Waits
    events -s -t notified -k wait_enter
    same "$(matching '^    at ')" "$(sed -n 's/.* depth=\([0-9]*\) .*/\1/p' events)"
    same "$(matching '^    at java\.lang\.Object\.wait0?\(native\)$')" 1
    same "$(matching "^    at Waits\.lambda.waiter.[0-9]*\(Waits\.java:$(site Waits.java wait)\)")" 1
}

# wait_open once for each thread that still waits, with what began it and when; no other thread of ours.
check_open() {
    events
    for t in waits-0 waits-1; do
        same "$(matching " $t wait_open kind=wait_enter .* class=OpenEnd\\\$Waited ")" 1
    done
    for t in dead-0 dead-1; do
        same "$(matching " $t wait_open kind=monitor_contended_enter .* class=OpenEnd\\\$Dead ")" 1
    done
    same "$(matching " queued wait_open kind=monitor_contended_enter .* class=OpenEnd\\\$Held ")" 1
    # by class: they may meet in the initialization of a class as well (int[])
    same "$(matching ' dead-0 monitor_contended_enter .* class=OpenEnd.Dead .* owner=dead-1 ')" 1
    same "$(matching ' dead-1 monitor_contended_enter .* class=OpenEnd.Dead .* owner=dead-0 ')" 1
    same "$(matching ' queued monitor_contended_enter .* class=OpenEnd.Held .* owner=main ')" 1
    same "$(matching ' wait_open kind=(wait|monitor)' 'OpenEnd')" 5
    same "$(matching ' was-waiting wait_(enter|exit) ')" 2
    # JDK 17 announces a wait that throws, and its end; JDK 21 not its end
    same "$(matching ' illegal wait_open kind=wait_enter ')" 0
    [ "$JDK_MAJOR" = 21 ] || same "$(matching ' illegal wait_enter ')" "$(matching ' illegal wait_exit ')"
    # "since" is the time of the event that began it; only waits-1 has said how long it waits at most
    same "$(awk '$3 == "wait_enter" || $3 == "monitor_contended_enter" { at[$2] = $1 }
        $3 == "wait_open" && /OpenEnd/ { if (!index($0 " ", " since=" at[$2] " limit=" ($2 == "waits-1" ? 2 : 1) " ")) print }' events)" ""
    same "$(matching ' recording_end$')" 1
    same "$(tail -n 1 events | cut -d ' ' -f 3)" recording_end
}

test_open_when_main_returns() {
    run_traced 0 "" OpenEnd return
    # main has released its lock: the queued thread may have got it before the end
    events
    same "$(matching ' (waits-[01]|dead-[01]) wait_open ')" 4
    same "$(matching ' (was-waiting|illegal) wait_open kind=wait_enter ')" 0
}
test_open_at_exit() {
    run_traced 5 "" OpenEnd exit
    check_open
}
test_open_at_halt() {
    run_traced 6 "" OpenEnd halt
    check_open
}

test_filtered_waits() {
    run_traced 0 'exclude=Waits$*' Waits
    events
    same "$(matching 'class=Waits')" 0
    run_traced 0 events=monitors OpenEnd return
    events
    same "$(matching ' wait_(enter|exit) ')" 0
}

# An InterruptedException counts in the thread that throws it; one that is only made is not an interrupt.
interrupted_are_thrown() { # JVM-OPTION...
    run_traced 0 "" "$@" Interrupted
    events -k interrupted
    same "$(awk '/^thread / { print $2, $3 }' out | grep -c '')" 16
    same "$(awk '/^thread / { print $2, $3 }' out | while read -r name n; do
        [ "$(matching " $name interrupted ")" = "$n" ] || echo "$name $(matching " $name interrupted ") instead of $n"
    done)" ""
}
test_interrupted_is_thrown() {
    interrupted_are_thrown
}
test_interrupted_is_thrown_in_compiled_code() {
    interrupted_are_thrown -Xcomp -XX:CompileCommand=quiet -XX:CompileCommand=compileonly,'Interrupted*::*'
}

# --- taking the monitor again ---------------------------------------------------------------------

report() { # JQ-FILTER
    run 0 "$ORCA" report --json "$TRACE"
    jq -r "$1" out
}

# Who notified and keeps the monitor holds up whom it woke: in owners, pairs, the lock's row and the findings.
# If who notifies asks for the monitor before the waiter has left it, the JVM may end the wait at once (docs/concepts/analysis.md): not that here.
test_who_notified_keeps_the_monitor() {
    local tries
    for tries in 1 2 3 4 5; do
        run_traced 0 "" Retaken keeps
        [ "$(report '[.owners[] | select(.owner_name == "waiter")] | length')" = 0 ] || continue
        report '.findings[].text' >texts
        ! grep -q "% of the time computing" texts || break # beside other programs there are fewer looks
    done
    same "$(report '.owners[] | select(.class == "java.lang.Object") |
        "\(.owner_name) \(.held_up_count) \(.reacquiring_count) \(.held_up_ns >= 290000000)"')" \
        "notifier 1 1 true
other 1 0 false"
    same "$(report '.pairs[] | select(.owner_name == "notifier") | "\(.waiter_name) \(.held_up_ns >= 290000000)"')" "waiter true"
    same "$(report '.queues | map(select(.class == "java.lang.Object")) | "\(length) \(.[0].queue_ns >= 290000000)"')" "1 true"
    same "$(report '.pool_waits[] | select(.from == "waiter" and .to == "notifier") | .ns >= 290000000')" true
    report '.findings[].text' >texts
    # For a moment the other one held it, and may have waited for a processor then.
    grep -qE "; held by notifier( \([7-9][0-9] %\))?, " texts || fail "$(cat texts)"
    grep -qE "% of the time computing.*; Retaken.spin \(Retaken.java:" texts || fail "$(cat texts)"
}

test_deadlock_with_a_monitor_taken_again() {
    run_traced 0 "" Retaken deadlock
    same "$(report '.deadlocks | length')" 1
    same "$(report '[.deadlocks[0].members[] | "\(.name) \(.state) \(.on_name)"] | sort | join(", ")')" \
        "notifier blocked waiter, waiter reacquiring notifier"
    same "$(report '.deadlocks[0].sure')" true
    same "$(report '[.open_waits[] | select(.name == "waiter") | "\(.state) \(.other_name)"] | join(", ")')" "reacquiring notifier"
}

# What a call is that throws at once, or returns so, in the trace and in the text (docs/reference/orca-text.md).
test_calls_that_are_over_at_once() {
    local wait_mon=""
    run 0 "$JAVA" "-agentpath:$AGENT=quiet,file=app.otrace,format=otrace+orca" -XX:-UsePerfData -Xmx64m -cp "$CLASSES" AtOnce
    same "$(awk '$2 != "returned" { print $1, $2 }' out | tr '\n' ';')" "sleep-arg IllegalArgumentException;sleep-intr InterruptedException;join-arg IllegalArgumentException;join-intr InterruptedException;wait-arg IllegalArgumentException;wait-intr InterruptedException;wait-mon IllegalMonitorStateException;wait-mon-timed IllegalMonitorStateException;notify-mon IllegalMonitorStateException;start-twice IllegalThreadStateException;"
    run 0 "$ORCA" events app.otrace
    [ "$JDK_MAJOR" -gt 17 ] || wait_mon="wait_enter wait_exit"
    [ "$JDK_MAJOR" != 21 ] || wait_mon=wait_enter
    kinds() { # THREAD
        awk -v thread="$1" '$2 == thread && $3 ~ /^(sleep|join|wait|interrupted|notify|thread_start_called)/ { printf "%s%s", n++ ? " " : "", $3 }' out
    }
    same "$(kinds sleep-arg)" ""
    same "$(kinds sleep-intr)" "sleep_enter interrupted sleep_exit"
    same "$(kinds sleep-zero)" "sleep_enter sleep_exit"
    same "$(kinds join-arg)" "join_enter join_exit"
    same "$(kinds join-intr)" "join_enter wait_enter wait_exit interrupted join_exit"
    same "$(kinds join-timed)" "join_enter wait_enter wait_exit join_exit"
    same "$(kinds join-unstarted)" "join_enter join_exit"
    same "$(kinds join-ended)" "thread_start_called join_enter join_exit"
    same "$(kinds wait-arg)" ""
    same "$(kinds wait-intr)" "wait_enter wait_exit interrupted"
    same "$(kinds wait-mon)" "$wait_mon"
    same "$(kinds wait-mon-timed)" "$wait_mon"
    same "$(kinds notify-mon)" ""
    same "$(kinds start-twice)" ""

    # The text has the same calls, of each the outermost; the report the same joins of both, and the one that timed out.
    words() { # WORD
        grep -c "^[0-9.]*,$1," app.orca
    }
    # 14 threads and their joins by main
    same "$(words ThreadSleep) $(words ThreadSlept) $(words ThreadJoin) $(words ThreadJoined) $(words ObjectNotify)" "2 2 19 19 0"
    for file in app.otrace app.orca; do
        run 0 "$ORCA" report --json --threads "$file"
        same "$(jq -r '[.threads[] | select(.name | startswith("join-")) | .joined_count] | join(" ")' out)" "1 1 1 1 1"
        at_least "$(jq -r '.threads[] | select(.name == "join-timed") | .joined_ns' out)" 50000000 "ns of the join that timed out"
        same "$(jq -r '[.threads[] | select(.name == "sleep-arg" or .name == "wait-arg" or .name == "notify-mon") | .slept_count + .waited_count] | add' out)" 0
    done
}
