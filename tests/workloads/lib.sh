# shellcheck shell=sh disable=SC2034 # variables for the scripts that source this
# lib.sh - what the workload scripts share.  Sourced by them, never run:
#
#     . "${0%/*}/lib.sh"
#     workload "$@"             # JDK_HOME OUTDIR [--short] [--plain | --recorded] [--gc=NAME]
#                               #     [--events=GROUPS] [--options=KEY=VALUE,...]
#
# Without an option a workload runs without the agent, then recorded by $ORCA (default:
# build/release/orca), and compares.  --plain runs only the first (no agent needed), --recorded only
# the second, both for tests/bench/run.  --short does less work.  --gc=G1 (Z, Parallel, ...) is the
# collector, for the workloads that pass $gc_option to their JVM.  --events=threads+alloc: record these
# groups; --options=allocby=jvm: with these options of the agent (docs/reference/agent-options.md).  A workload
# that sets $groups is recorded with these groups of events by default; one that sets
# $bare passes the agent to its JVMs itself.
#
# OUTDIR keeps, per run R (plain or recorded), R.out, R.err, R.status and R.measure ("KEY NUMBER"
# lines, seconds and cpu_seconds first: what the benchmark compares), and recorded.otrace; all else
# is in a temporary directory, $tmp, that goes away.  A workload that finds a fault says why on its
# last line and exits with 1; one that cannot run here says "SKIP why" and exits with 77.

here=$(cd "${0%/*}" && pwd)
ORCA=${ORCA:-${here%/tests/workloads}/build/release/orca}

workload() {
    [ $# -ge 2 ] || usage
    jdk=$1
    out=$2
    shift 2
    short=no
    groups=
    given=
    options=
    bare=
    gc_option=
    runs='plain recorded'
    for option; do
        case $option in
        --gc=*) gc_option=-XX:+Use${option#--gc=}GC ;;
        --events=*) given=${option#--events=} ;;
        --options=*) options=${option#--options=} ;;
        --short) short=yes ;;
        --plain) runs=plain ;;
        --recorded) runs=recorded ;;
        *) usage ;;
        esac
    done
    [ -x "$jdk/bin/java" ] || fail "no bin/java in $jdk"
    case $runs in
    *recorded*) [ -x "$ORCA" ] || fail "no such command: $ORCA" ;;
    esac
    mkdir -p "$out" || exit 1
    out=$(cd "$out" && pwd)
    tmp=$(mktemp -d "${TMPDIR:-/tmp}/orca-workload.XXXXXX") || exit 1
    child=
    trap 'stop_child; rm -rf "$tmp"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    unset JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS JDK_JAVAC_OPTIONS _JAVA_OPTIONS
    export LC_ALL=C.UTF-8
}

usage() {
    echo "usage: ${0##*/} JDK_HOME OUTDIR [--short] [--plain | --recorded] [--gc=NAME]" \
        "[--events=GROUPS] [--options=KEY=VALUE,...]" >&2
    exit 2
}

fail() {
    echo "$*"
    exit 1
}

skip() {
    echo "SKIP $*"
    exit 77
}

# Ends the program under test, if the script is left while it runs.
stop_child() {
    [ -n "$child" ] || return 0
    kill -TERM "$child" 2>/dev/null
    sleep 1
    kill -KILL "$child" 2>/dev/null
    wait "$child" 2>/dev/null
}

# Starts COMMAND as run R in the background: $child.  SECONDS bounds it.
start() { # R SECONDS COMMAND...
    run=$1
    limit=$2
    shift 2
    case $run$bare in
    recorded)
        rm -f "$out/recorded.otrace"
        with=${given:+ringmem=1g${options:+,}}$options
        chosen=${given:-$groups}
        set -- "$ORCA" record ${chosen:+-e "$chosen"} ${with:+--options "$with"} \
            -o "$out/recorded.otrace" -- "$@"
        ;;
    esac
    # Here, not in the background: who watches the log must not find that of an older run.
    : >"$out/$run.out"
    : >"$out/$run.err"
    began=$(date +%s%N)
    timeout -k 5 "$limit" "$@" >"$out/$run.out" 2>"$out/$run.err" </dev/null &
    child=$!
}

# Seconds of processor time of the children waited for so far, into $cpu.
children_cpu() {
    times >"$tmp/times"
    cpu=$(sed -e 1d -e 's/[ms]/ /g' "$tmp/times" | awk '{ print $1 * 60 + $2 + $3 * 60 + $4 }')
}

# Waits for it: $status, and the time it took, by the clock and of the processors, as measures.
finish() {
    children_cpu
    before=$cpu
    wait "$child"
    status=$?
    child=
    children_cpu
    measure seconds "$(($(date +%s%N) - began))e-9"
    measure cpu_seconds "$(echo "$cpu $before" | awk '{ print $1 - $2 }')"
    echo "$status" >"$out/$run.status"
    case $status in
    124 | 137) fail "$run: still running after $limit s (or killed): $out/$run.err" ;;
    esac
}

run() {
    start "$@"
    finish
}

# Notes a figure about the current run; the first one of a key replaces an older run's file.
measure() { # KEY NUMBER
    [ "$1" != seconds ] || : >"$out/$run.measure"
    echo "$1 $2" | awk '{ printf "%s %.6g\n", $1, $2 }' >>"$out/$run.measure"
}

# Standard error without what the JVM and orca say about being recorded.
own_errors() { # R
    grep -v -e '^Picked up JAVA_TOOL_OPTIONS: ' -e '^orca: ' "$out/$1.err"
}

# The last thing run R said, for a complaint about it.
last_words() { # R
    { cat "$out/$1.out"; own_errors "$1"; } | grep -v '^ *$' | tail -n 1 | cut -c 1-200
}

# The number called KEY in `orca info --json`; 0 when there is none.
trace_number() { # KEY
    number=$(tr -d ' \n' <"$out/info.json" | grep -o "\"$1\":[0-9]*" | head -n 1 | cut -d : -f 2)
    echo "${number:-0}"
}

# Is the trace complete, readable, and about a program with THREADS threads or more?
check_trace() { # THREADS
    trace=$out/recorded.otrace
    [ -s "$trace" ] || fail "recorded: no trace: $(grep '^orca: ' "$out/recorded.err" | tail -n 1)"
    for command in info report; do
        timeout 300 "$ORCA" $command "$trace" >"$out/$command.txt" 2>"$out/$command.err" ||
            fail "orca $command failed: $(head -n 1 "$out/$command.err")"
        [ -s "$out/$command.txt" ] || fail "orca $command printed nothing"
    done
    timeout 300 "$ORCA" info --json "$trace" >"$out/info.json" 2>"$out/info.err" ||
        fail "orca info --json failed: $(head -n 1 "$out/info.err")"
    grep -q '"state": "complete"' "$out/info.json" ||
        fail "the trace is not complete: $out/info.txt"
    [ "$(trace_number damaged)" = 0 ] || fail "the trace is damaged: $out/info.txt"
    [ "$(trace_number lost_total)" = 0 ] || fail "events were lost: $out/info.txt"
    [ "$(trace_number threads)" -ge "$1" ] || fail "too few threads in the trace: $out/info.txt"
    case $given in
    *alloc*) check_alloc_reports ;;
    esac
}

# Each report about the heap has something to say.
check_alloc_reports() {
    for section in alloc live gc; do
        timeout 600 "$ORCA" report --$section "$trace" >"$out/$section.txt" 2>"$out/$section.err" ||
            fail "orca report --$section failed: $(head -n 1 "$out/$section.err")"
        [ -s "$out/$section.txt" ] || fail "orca report --$section printed nothing"
    done
    [ "$(allocated_bytes)" -gt 0 ] || fail "nothing was allocated: $out/alloc.txt"
}

# Bytes that the threads of these names allocated, all without NAMES.
allocated_bytes() { # [NAMES]
    timeout 600 "$ORCA" report --alloc --json --top 1 ${1:+--thread "$1"} "$trace" \
        >"$tmp/alloc.json" 2>"$out/alloc.err" ||
        fail "orca report --alloc --json failed: $(head -n 1 "$out/alloc.err")"
    number=$(tr -d '\n' <"$tmp/alloc.json" |
        sed -n 's/.*"allocations": {[^{]*"allocated": {"bytes": \([0-9]*\).*/\1/p')
    echo "${number:-0}"
}

# Where allocations are recorded: what the threads of these names allocated is what the JVM says
# ("NAME BYTES" lines in FILE).  3 % may be between where every object is counted: the JVM also counts
# what it allocates for itself (docs/concepts/allocation.md), and what the agent's Java code does.  Of samples there
# are 100 and more: half and double are six deviations away.
check_allocated() { # NAMES FILE
    case $given in
    *sampled-alloc*) part=0.5 ;;
    *alloc*) part=0.97 ;;
    *) return 0 ;;
    esac
    jvm=$(awk '{ n += $2 } END { printf "%d\n", n }' "$2")
    ours=$(allocated_bytes "$1")
    measure allocated "$ours"
    measure allocated_jvm "$jvm"
    awk -v a="$ours" -v b="$jvm" -v part=$part 'BEGIN { exit !(a > part * b && a < b / part) }' ||
        fail "recorded: $1 allocated $ours bytes, the JVM says $jvm"
}

# For a complaint, in one line.
first_differences() { # FILE FILE
    diff "$1" "$2" | head -n 5 | tr '\n' ' '
}

# The two runs printed the same; nothing to compare when only one was asked for.
same_output() {
    [ "$runs" = 'plain recorded' ] || return 0
    cmp -s "$out/plain.out" "$out/recorded.out" ||
        fail "the output differs: $(first_differences "$out/plain.out" "$out/recorded.out")"
    own_errors plain >"$tmp/plain.err"
    own_errors recorded >"$tmp/recorded.err"
    cmp -s "$tmp/plain.err" "$tmp/recorded.err" ||
        fail "the messages differ: $(first_differences "$tmp/plain.err" "$tmp/recorded.err")"
}

# Every reader and every export takes the trace, and no event says what cannot be (possible.awk).
check_readers() {
    trace=$out/recorded.otrace
    timeout 600 "$ORCA" events "$trace" >"$tmp/events" 2>"$out/events.err" ||
        fail "orca events failed: $(head -n 1 "$out/events.err")"
    impossible=$(awk -f "$here/possible.awk" "$tmp/events") || fail "impossible events: $impossible"
    for format in orca orca-1.1 tptp; do
        timeout 900 "$ORCA" export --to $format -o "$tmp/export" "$trace" >"$out/export.err" 2>&1 ||
            fail "orca export --to $format failed: $(head -n 1 "$out/export.err")"
    done
    ! command -v xmllint >/dev/null ||
        xmllint --huge --stream --noout "$tmp/export.trcxml" 2>"$out/export.err" ||
        fail "the exported XML is not well-formed: $(head -n 1 "$out/export.err")"
}
