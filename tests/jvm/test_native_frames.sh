# Frames of C: in signal handlers equal to glibc's backtrace(), without effect on the Java frames, down to
# each thread's first function; with names that are known, between and around callbacks into Java.
# ORCA_LONG=1: a minute each instead of seconds.
# timeout: 300

MS=2500
[ "${ORCA_LONG:-0}" = 0 ] || MS=60000

OWN=native
. "$ROOT/tests/jvm/agents.sh"
WITH=("${WALKER[@]}")

looks_right() {
    lacks out "not opened"
    grep -v '^native: ' out | head -n 150
}

check() {
    at_least signals 100
    at_most java_differ 0
    at_most top_differ 0
    at_most other_differ 0
    at_most ended_elsewhere 0
    at_least top_same 20
    at_least ended 20
    at_least other_same 20
    [ $(($(value cut) * 50)) -le "$(value java_signals)" ] || fail "$(value cut) cut of $(value java_signals)"
}

walking() { # JVM-FLAG...
    run_java signal=100 "$@" -- Walking "$MS"
    check
    has out done
}

test_known() {
    run_java none -- NativeFrames "$LIBRARY"
    has out done
    at_most known_wrong 0
    at_least known 6060 # two for each callback and each thread
}

test_known_interpreted() {
    run_java none -Xint -- NativeFrames "$LIBRARY"
    at_most known_wrong 0
    at_least known 6060
}

test_javac() {
    build_agent
    run 0 "$JDK/bin/javac" "-J-agentpath:$LIBRARY=signal=100" -J-Xmx256m -nowarn -d "$TMP/classes" "$ROOT"/tests/jvm/*.java
    grep -E '^native: ' out
    looks_right
    check
}

test_walking() { walking -XX:+UseG1GC; }
test_interpreted() { walking -Xint; }
test_c1() { walking -XX:TieredStopAtLevel=1 -XX:+UseSerialGC; }
test_c2() { walking -XX:-TieredCompilation -XX:+UseParallelGC; }
