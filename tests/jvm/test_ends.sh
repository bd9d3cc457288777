# How programs end: the status is the program's, the trace is complete, or recovered when the JVM had no time.
. "$ROOT/tests/jvm/traced.sh"

# The one contention that the program is sure of.
check_contention() {
    events
    same "$(matching ' ends-blocked monitor_contended_enter .* class=Ends\$Lock ')" 1
    same "$(matching ' ends-blocked monitor_contended_entered .* class=Ends\$Lock ')" 1
}

# In good order: says so, and every thread that still runs is left alone.
ends() { # STATUS ENDS-ARGUMENT...
    run "$1" traced "" -Xmx48m -XX:+UseSerialGC Ends "${@:2}"
    has out contended
    no_crash
    good_trace complete
    check_contention
    same "$(matching ' recording_end$')" 1
}

test_return() { ends 0 return; }
test_exit() {
    ends 0 exit 0
    ends 7 exit 7
    ends 9 exit-thread 9
}
test_halt() { ends 8 halt 8; }
test_uncaught_exception() {
    ends 1 throw
    has err "java.lang.IllegalStateException: as asked"
    ends 0 throw-thread
    has err "java.lang.IllegalStateException: as asked"
}
test_shutdown_hook_is_recorded() {
    ends 4 hook 4
    same "$(matching ' hook-blocked monitor_contended_enter .* class=Ends\$Lock .* owner=hook ')" 1
}
test_out_of_memory() {
    ends 1 oom
    has err "java.lang.OutOfMemoryError: Java heap space"
    ends 0 oom-thread
    has err "java.lang.OutOfMemoryError: Java heap space"
    ends 0 oom-caught
    has out caught
    same "$(cat err)" ""
}
test_same_output_as_without_the_agent() {
    for how in "exit 3" throw oom; do
        # shellcheck disable=SC2086 # two words
        "$JAVA" -Xmx48m -XX:+UseSerialGC -cp "$CLASSES" Ends $how >plain.out 2>plain.err
        # shellcheck disable=SC2086
        run $? traced "" -Xmx48m -XX:+UseSerialGC Ends $how
        cmp plain.out out && cmp plain.err err || fail "$how: other output"
    done
}

# A program that is ended by one of its threads was not stuck, whoever else waited.
says_stuck() { # 1-OR-0
    run 0 "$ORCA" report "$TRACE"
    same "$(grep -c 'Stuck: every thread of the program (' out)" "$1"
}
test_ended_while_a_thread_waits() {
    local how ways="exit halt hook daemon"
    [ "$JDK_MAJOR" -lt 21 ] || ways="$ways virtual"
    for how in $ways; do
        run_traced 0 "" Exiting "$how"
        says_stuck 0
    done
}

# Whoever sends a signal is none of them: until then nobody could go on.
test_ended_by_a_signal() {
    launch_told Exiting "$(agent)" -- signal
    # Any moment may find all threads waiting: it has to last.
    wait_for 60 eval '"$ORCA" report "$TRACE" 2>/dev/null | grep -q "Stuck: every thread"'
    kill -TERM "$jvm"
    wait "$jvm"
    exec 9>&-
    good_trace complete
    says_stuck 1
}

# Without VMDeath: the next reader completes the trace, says so once, and leaves nothing behind.
dies() { # STATUS JVM-FLAG... Ends ENDS-ARGUMENT...
    ulimit -c 0
    run "$1" traced "" -Xmx48m -XX:+UseSerialGC "${@:2}"
    has out contended
    is_recovered
    check_contention
}
is_recovered() {
    good_trace recovered
    same "$(grep -c 'the JVM was killed; completed' info.err)" 1
    info
    same "$(value state)" recovered
    same "$(cat info.err)" ""
}

test_exit_on_out_of_memory() { dies 3 -XX:+ExitOnOutOfMemoryError Ends oom; }
test_crash_on_out_of_memory() {
    dies 134 -XX:+CrashOnOutOfMemoryError Ends oom
}
test_death_in_native_code() {
    ${CC:-cc} -shared -fPIC -O1 -pthread -I"$JNI_INCLUDE" -I"$JNI_INCLUDE/linux" -o libnative.so \
        "$ROOT/tests/jvm/native_threads.c" || fail "cannot build"
    dies 134 Ends die abort "$TMP/libnative.so"
    dies 7 Ends die _exit "$TMP/libnative.so"
    dies 134 Ends die segv "$TMP/libnative.so"
    dies 134 Ends die fatal "$TMP/libnative.so"
}
