# The stack walker against HotSpot's own: in callbacks equal to GetStackTrace, frame by frame; in signal
# handlers at arbitrary instructions usable at least as often as AsyncGetCallTrace; and, against a
# program that knows its own stack, never wrong where it says that it is sure.
# ORCA_LONG=1: a minute each instead of seconds.
# timeout: 300

MS=2500
[ "${ORCA_LONG:-0}" = 0 ] || MS=60000

OWN=walk
. "$ROOT/tests/jvm/agents.sh"
WITH=("${WALKER[@]}")

looks_right() {
    lacks out "not opened"
    has out done
}

# Both at once: the signals hit callbacks and walks under way, too.
walking() { # JVM-FLAG...
    run_java sync,signal=100,show=-5 "$@" -- Walking "$MS"
    grep -v '^walk: ' out | head -n 60
    at_least sync_same 1000
    at_most sync_differ 0
    at_most sync_failed 0
    local walks=$(($(value both) + $(value walk_only))) theirs=$(($(value both) + $(value agct_only)))
    [ "$walks" -ge "$theirs" ] || fail "$walks walks, AsyncGetCallTrace has $theirs"
    [ $(($(value agct_only) * 100)) -le "$theirs" ] ||
        fail "$(value agct_only) of $theirs only by AsyncGetCallTrace: $(grep -E '^walk: (walk|agct)_error' out) $(grep -A 6 '^signal: error' out | head -n 14)"
    at_least described $((walks * 99 / 100))
}

truth() { # JVM-FLAG...
    truth_counted "$@"
    at_most truth_wrong 0
}

truth_counted() { # JVM-FLAG...
    run_java signal=50 "$@" -- Truth "$MS" 3 "$LIBRARY"
    grep -v '^walk: ' out | head -n 60
    at_least truth_right 20
    [ $(($(value truth_near_wrong) * 20)) -le "$(value truth_near)" ] ||
        fail "$(value truth_near_wrong) of $(value truth_near) wrong between described places"
}

test_g1() { walking -XX:+UseG1GC; }
test_parallel() { walking -XX:+UseParallelGC; }
test_serial() { walking -XX:+UseSerialGC; }
test_z() {
    need_flag -XX:+UseZGC
    walking -XX:+UseZGC
}
test_interpreted() { walking -Xint; }
test_c1() { walking -XX:TieredStopAtLevel=1; }
test_c2() { walking -XX:-TieredCompilation; }
test_compiled_at_once() { walking -Xcomp; }
test_small_code_cache() { walking -XX:ReservedCodeCacheSize=16m; }

# Without the methods inlined at a place that is not described, never wrong at all.
test_truth_only_certain() {
    local ms
    for ms in "$MS" $((MS * 3)) $((MS * 9)); do # beside other programs there are fewer signals
        run_java signal=50,certain -- Truth "$ms" 3 "$LIBRARY"
        [ "$(value truth_near)" -lt 3 ] || break
    done
    at_least truth_near 3
    at_most truth_wrong 0
    at_most truth_near_wrong 0
}

test_truth() { truth -XX:+UseParallelGC; }
test_truth_interpreted() { truth -Xint; }
test_truth_c1() { truth -XX:TieredStopAtLevel=1; }
test_truth_c2() { truth -XX:-TieredCompilation; }

# Where the compilers describe every place, the next description is right, but for single instructions: one stack in 1,000.
test_truth_described() {
    truth_counted -XX:+UnlockDiagnosticVMOptions -XX:+DebugNonSafepoints
    [ $(($(value truth_wrong) * 100)) -le "$(value truth_right)" ] || fail "$(value truth_wrong) wrong, $(value truth_right) right"
}

# The caller has called the interpreter, by a stub of its own code; now the method is compiled.
test_compiled_on_the_stack() {
    run_java signal=50 -Xbatch -XX:TieredStopAtLevel=1 -XX:CompileCommand=quiet -XX:CompileCommand=dontinline,Osr::loop -- Osr "$MS"
    at_least both 100
    [ $(($(value agct_only) * 100)) -le "$(value both)" ] || fail "$(value agct_only) only by AsyncGetCallTrace, $(value both) by both"
}

test_redefined() {
    run_java sync,signal=200,redefine -- Walking "$MS"
    at_least redefined 10
    at_least sync_same 1000
    at_most sync_differ 0
    at_most sync_failed 0
}

# Numbers to look at; only that a walk costs less than HotSpot's is asserted.
test_cost() {
    run_java none -- WalkCost "$LIBRARY"
    local walk theirs
    walk=$(sed -n 's/^walk: cost of 50 frames: [0-9]* cycles, uncached \([0-9]*\).*/\1/p' out)
    theirs=$(sed -n 's/^walk: cost of 50 frames: .* GetStackTrace //p' out)
    [ "$walk" -lt "$theirs" ] || fail "$walk cycles, GetStackTrace $theirs"
}

test_virtual() {
    need_jdk 21
    run_java sync -XX:+UseG1GC -- Walking "$MS" virtual contention
    at_least sync_same 500
    at_most sync_differ 0
    at_most sync_failed 0
}
