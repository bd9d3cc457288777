# Attach, detach, switch, query and dump at random, in a JVM where threads and classes come and go (Soak.java).
# timeout: 3600
#
# ORCA_SOAK: seconds for each JVM (8, always the same steps); with it others each time, which ORCA_SOAK_SEED repeats, and
# 100,000 virtual threads that live instead of 1,000.
. "$ROOT/tests/jvm/traced.sh"

finish() {
    leave_no_jvm
}

rss() {
    awk '/^VmRSS/ { print $2 }' "/proc/$jvm/status"
}

alive() {
    kill -0 "$jvm" 2>/dev/null && return
    no_crash
    fail "the JVM has ended: $(tail -n 5 java.err)"
}

# A trace that was closed: whole, and what it lost is counted.
check() { # TRACE
    info "$1"
    same "$(value state) $(value damaged)" "complete 0"
    "$ORCA" events "$1" >events 2>events.err || fail "orca events: $(cat events.err)"
    awk -v attached=1 -f "$ROOT/tests/workloads/possible.awk" events >impossible || fail "impossible: $(head -n 3 impossible)"
    rm -f "$1"
}

# All files of the recording: the first as any trace; a later one begins in the middle of what goes on.
check_all() {
    local part
    for part in "${recorded%.otrace}".0*.otrace; do
        [ ! -e "$part" ] || check_part "$part"
    done
    check "$recorded"
    recorded=
}

check_part() { # TRACE
    info "$1"
    same "$(value state) $(value damaged)" "complete 0"
    "$ORCA" report --all "$1" >report 2>report.err || fail "orca report: $(cat report.err)"
    rm "$1"
}

detach() {
    run 0 "$ORCA" detach "$jvm"
    check_all
}

attach() { # NUMBER
    local groups=${GROUPS_OF[$((RANDOM % 3))]} options=${OPTIONS[$((RANDOM % 6))]}
    [[ $options != *holdsample* ]] || groups+=+holds
    recorded=$TMP/soak-$1.otrace
    run 0 "$ORCA" attach "$jvm" -o "$recorded" -e "$groups" --options "$options"
}

step() { # NUMBER
    case $((RANDOM % 10)) in
    0 | 1) if [ -n "$recorded" ]; then detach; else attach "$1"; fi ;;
    2) [ -z "$recorded" ] || run 0 "$ORCA" attach "$jvm" --on "${SOME[$((RANDOM % 6))]}" ;;
    3) [ -z "$recorded" ] || run 0 "$ORCA" attach "$jvm" --off "${SOME[$((RANDOM % 6))]}" ;;
    4)
        [ -n "$recorded" ] || return 0
        run 0 "$ORCA" dump "$jvm" -o dump.otrace
        check_part dump.otrace
        ;;
    5) run 0 "$ORCA" query "$jvm" locks --held ;;
    6) run 0 "$ORCA" query "$jvm" thread worker ;;
    7) run 0 "$ORCA" status "$jvm" ;;
    8) [ -z "$recorded" ] || run 0 "$ORCA" dump "$jvm" --rotate ;;
    9) [ -z "$recorded" ] || run 0 "$ORCA" top "$jvm" --batch -n 1 --delay 0.2s ;;
    esac
}

soak() { # SECONDS HEAP LIVING JVM-OPTION...
    local seconds=$1 heap=$2 living=$3 end n=0 warm=
    shift 3
    local seed=${ORCA_SOAK_SEED:-${ORCA_SOAK:+$$}}
    RANDOM=${seed:-1}
    echo "ORCA_SOAK_SEED=${seed:-1}"
    GROUPS_OF=(all threads+monitors+waits+parks+joins threads+virtual+locks+semaphores)
    SOME=(parks locks monitors+waits semaphores+joins+interrupts virtual+mounts holds)
    OPTIONS=(maxsize=4m depth=7 depth=30 ownerstacks=all ownerstacks=all,holdsample=10 ownerstacks=none,every=1s)
    recorded=
    mkfifo in
    set -m
    # The heap is there from the start: it must not look like growth (ZGC of JDK 17 maps it three times).
    : >java.out
    "$JAVA" "$@" -Xms"$heap" -Xmx"$heap" -XX:+AlwaysPreTouch -XX:-UsePerfData -XX:ErrorFile="$TMP/hs_err" -cp "$CLASSES" Soak "$living" <in >java.out 2>java.err &
    jvm=$!
    exec 9>in
    wait_for 60 grep -q '^ready' java.out
    end=$((SECONDS + seconds))
    while [ $SECONDS -lt $end ]; do
        n=$((n + 1))
        step $n
        echo "$SECONDS $(rss)" >>sizes
        alive
        [ -n "$warm" ] || [ $SECONDS -lt $((end - seconds / 2)) ] || warm=$(rss)
    done
    [ -z "$recorded" ] || detach
    echo "$n steps, $(rss) kB at the end, $warm kB half-way"
    # Half of the time is warm-up; after that only what is recorded at the moment may differ.
    [ "$(rss)" -lt $((warm + 80000)) ] || fail "the JVM has grown from $warm to $(rss) kB"
    exec 9>&-
    wait "$jvm" || fail "the program ended with $?: $(tail -n 5 java.err)"
    no_crash
    tail -n 1 java.out
    same "$(awk '/^tasks/ { print $4 == $6 }' java.out)" 1
    no_rings "$jvm"
}

test_g1() {
    soak "${ORCA_SOAK:-8}" 128m 0 -XX:+UseG1GC
}

test_z() {
    soak "${ORCA_SOAK:-8}" 128m 0 -XX:+UseZGC
}

living() { # JVM-OPTION
    local n=1000
    need_jdk 21
    [ -z "${ORCA_SOAK:-}" ] || n=100000
    soak "${ORCA_SOAK:-8}" 512m $n "$1"
}

test_living_g1() {
    living -XX:+UseG1GC
}

test_living_z() {
    living -XX:+UseZGC
}

test_living_parallel() {
    living -XX:+UseParallelGC
}
