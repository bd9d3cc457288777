# What threads do that are in no recorded wait: who waits for input is never said to run, wherever it is said.
. "$ROOT/tests/jvm/traced.sh"

# A query of the report, of a thread by its name.
of_thread() { # FILTER
    jq -r "$1" all
}

reports() { # HOW: platform or virtual
    run_traced 0 "" -Xmx64m EventLoop "$1"
    run 0 "$ORCA" report --json "$TRACE"
    cp out all
}

waits_for_input() {
    local name
    # The three that wait for input hardly run, by the table of threads and the bottle graph; the loop may be ready to for long
    # on a machine that has much to do.
    for name in loop:3 acceptor:2 pipe:2; do
        same "$(of_thread ".threads[] | select(.name == \"${name%:*}\") |
            .io_ns * ${name#*:} > .life_ns and .io_looks >= 2 and .running_ns + .io_ns <= .life_ns")" true
        same "$(of_thread "[.bottle_graph.threads[] | select(.name == \"${name%:*}\") | .running_ns][0] ==
            [.threads[] | select(.name == \"${name%:*}\") | .running_ns][0]")" true
    done
    # The worker, which computes, runs.
    same "$(of_thread '.threads[] | select(.name == "worker") | .running_ns * 2 > .life_ns and .io_ns * 10 < .life_ns')" true
    # What they do adds up to their lives.
    same "$(of_thread '[.threads[] | .life_ns == .blocked_ns + .waited_ns + .reacquired_ns + .parked_ns + .joined_ns + .slept_ns +
        .unknown_ns + .io_ns + .running_ns] | all')" true
    # Nobody of them is called the one that ran alone.
    same "$(of_thread '[.findings[] | select(.rule == "serial-phase") | .text | test("loop|acceptor|pipe")] | any')" false
    # The path to the loop's end goes through its select, not through its running.
    run 0 "$ORCA" report --json --path --follow pipe "$TRACE"
    same "$(jq '.critical_path.kinds.io * 2 > .critical_path.ns' out)" true
    run 0 "$ORCA" report --path --follow pipe "$TRACE"
    has out "in input or output"
    run 0 "$ORCA" report --threads "$TRACE"
    grep -qE '^I/O: in a native method of input or output, by [0-9,]+ looks' out || fail "$(cat out)"
    # The first screen's pools: idle where no code of the program reads, waiting where it does.
    run 0 "$ORCA" report "$TRACE"
    same "$(awk '$1 == "loop" || $1 == "acceptor" { print ($3 < 60) }' out | sort -u)" 1
}

test_platform() {
    reports platform
    waits_for_input
}

test_virtual() {
    need_jdk 21
    reports virtual
    waits_for_input
}
