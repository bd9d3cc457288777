# What threads do that are in no recorded wait: who waits for input is never said to run, wherever it is said.
. "$ROOT/tests/jvm/traced.sh"

# A query of the report, of a thread by its name.
of_thread() { # FILTER
    jq -r "$1" all
}

reports() { # HOW: platform or virtual [OPTIONS]
    run_traced 0 "${2:-}" -Xmx64m EventLoop "$1"
    run 0 "$ORCA" report --json "$TRACE"
    cp out all
}

waits_for_input() { # LOOKS TEXT: at least this number of looks show it, for each
    local name
    # The three that wait for input hardly run, by the table of threads and the bottle graph; the loop may be ready to for long
    # on a machine that has much to do.
    for name in loop:3 acceptor:2 pipe:2; do
        same "$(of_thread ".threads[] | select(.name == \"${name%:*}\") |
            .io_ns * ${name#*:} > .life_ns and .io_looks >= $1 and .running_ns + .io_ns <= .life_ns")" true
        same "$(of_thread "[.bottle_graph.threads[] | select(.name == \"${name%:*}\") | .running_ns][0] ==
            [.threads[] | select(.name == \"${name%:*}\") | .running_ns][0]")" true
    done
    # The worker, which computes, runs.
    same "$(of_thread '.threads[] | select(.name == "worker") | .running_ns * 2 > .life_ns and .io_ns * 10 < .life_ns')" true
    # What they do adds up to their lives.
    same "$(of_thread '[.threads[] | .life_ns == .blocked_ns + .waited_ns + .reacquired_ns + .parked_ns + .joined_ns + .slept_ns +
        .unknown_ns + .io_ns + .ready_ns + .stopped_ns + .off_ns + .running_ns] | all')" true
    # Nobody of them is called the one that ran alone.
    same "$(of_thread '[.findings[] | select(.rule == "serial-phase") | .text | test("loop|acceptor|pipe")] | any')" false
    # The path to the loop's end goes through its select, not through its running.
    run 0 "$ORCA" report --json --path --follow pipe "$TRACE"
    same "$(jq --slurpfile all all '.critical_path.kinds.io * 2 > ($all[0].threads[] | select(.name == "pipe") | .life_ns)' out)" true
    run 0 "$ORCA" report --path --follow pipe "$TRACE"
    has out "in input or output"
    run 0 "$ORCA" report --threads "$TRACE"
    grep -qE "^I/O: in input or output, as recorded$2" out || fail "$(cat out)"
    # The first screen's pools: idle where no code of the program reads, waiting where it does.
    run 0 "$ORCA" report "$TRACE"
    same "$(awk '$1 == "loop" || $1 == "acceptor" { print ($3 < 60) }' out | sort -u)" 1
}

test_platform() {
    reports platform
    waits_for_input 0 ""
}

test_virtual() {
    need_jdk 21
    reports virtual
    waits_for_input 0 ""
}

# The same without records.
test_by_looks() {
    reports platform events=threads+monitors+waits+parks+sleeps+joins+interrupts+semaphores+gc+looks
    waits_for_input 2 " or sampled \\([0-9]+ looks\\)"
}

# A program that is stopped has no end that matters: it is not stuck, and what led to its end is shown to who asks.
stopped() { # JAVA-ARGUMENT...
    start_traced "" -Xmx64m "$@"
    wait_for 60 grep -q '^ready' out
    end_with TERM 143
    run 0 "$ORCA" report --json "$TRACE"
    cp out all
    same "$(jq '.critical_path' all)" null
    same "$(jq -c '[.findings[].rule | select(. == "stuck" or . == "sleep-on-path")]' all)" "[]"
    same "$(jq '[.findings[].card.lines[] | select(.label == "path")] | length' all)" 0
}

test_stopped_server() {
    stopped EventLoop platform stopped
    run 0 "$ORCA" report "$TRACE"
    has out "stopped by SIGTERM"
    run 0 "$ORCA" report --path "$TRACE"
    has out "Critical path to "
    run 0 "$ORCA" report --json --path "$TRACE"
    same "$(jq '.critical_path.ns > 0' out)" true
}

test_stopped_by_hooks() {
    stopped Stopped hooks
}

test_stopped_while_it_accepts() {
    need_jdk 21
    stopped Stopped accept
}

# A signal that the program handles by itself stops nothing.
test_handled() {
    start_traced "" -Xmx64m Stopped handled
    wait_for 60 grep -q '^ready' out
    end_with TERM 0
    run 0 "$ORCA" report "$TRACE"
    lacks out "stopped by"
    run 0 "$ORCA" report --json "$TRACE"
    same "$(jq '.critical_path.ns > 0' out)" true
}
