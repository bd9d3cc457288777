# AsyncGetCallTrace2, used through its header and its library alone: where the answer is known (callbacks, threads
# that are not Java's, before the init, after the end, redefined and unloaded classes), and in signal handlers
# beside AsyncGetCallTrace.
# ORCA_LONG=1: a minute each instead of seconds.
# timeout: 300

MS=2500
[ "${ORCA_LONG:-0}" = 0 ] || MS=60000
PLATFORM='recursion deep streams maps handles reflection exceptions loop copies natives'

OWN=asgct2
. "$ROOT/tests/jvm/agents.sh"
WITH=("${ASGCT2[@]}" -lasgct2)

looks_right() {
    same "$(value bad)" 0
    has out "after the end -8 "
}

test_equal_to_jvmti() {
    run_java none -- CallTraces sync
    has out "compared 2400"
    run_java none -Xint -- CallTraces sync
    has out "compared 2400"
}

test_threads() {
    run_java none -- CallTraces threads
    has out "threads right"
}

# Faults that cannot be caught; C frames of who calls without a ucontext.
test_bad_hands() {
    run_java none -- CallTraces bad_hands
    has out "in bad hands"
}

test_init_from_java() {
    run_java late -- CallTraces late
    has out "compared 2400"
    has out "a thread that is not attached was refused"
}

# Several threads at once, with classes that are prepared and signals that come before, during and after that.
test_init_race() {
    run_java late,all,signal=20 -- CallTraces race
    has out "compared 2400"
    at_least signals 100
    at_least 'error\[-1\]' 1
}

test_init_at_attach() {
    build_agent
    "$JAVA" -Xmx256m -cp "$CLASSES" Walking 100000 loop >java.out 2>&1 &
    local jvm=$!
    wait_for 60 sh -c "'$JDK/bin/jcmd' $jvm JVMTI.agent_load '$LIBRARY' none >jcmd.out"
    wait_for 60 grep -q '^asgct2: attached' java.out
    kill -TERM $jvm
    wait $jvm
    has java.out "attached -1 0 0"
    has java.out "after the end -8 "
}

test_init_in_virtual_thread() {
    need_jdk 21
    run_java late -- CallTraces virtual
    has out "compared 2400"
}

test_redefined() {
    run_java none -- CallTraces redefined
    has out "obsolete "
}

# Ids that are numbers, as since JDK 26: a debug build does not follow them on the others, either.  They are proved at the
# start: where a fact behind them is wrong, or cannot be proved with the collector, there are no traces.
test_ids_are_numbers() {
    (. "$ROOT/tests/jvm/traced.sh" && build_checked) || exit
    LIBRARY=$ROOT/build/tests/jvm/libasgct2-checked-$JDK_MAJOR.so
    WITH=(-I"$ROOT/include" -L"$ROOT/build/test" -Wl,-rpath,"$ROOT/build/test" -lorca)
    export ORCA_HIDE=jmethodID::address
    run_java none -- CallTraces sync
    has out "compared 2400"
    run_java none -- CallTraces redefined
    has out "obsolete "
    local fact
    for fact in InstanceKlass::_methods InstanceKlass::_methods_jmethod_ids ConstMethod::_name_index java_lang_Class::_klass_offset; do
        ORCA_BREAK=$fact run 0 "$JAVA" -Xmx256m "-agentpath:$LIBRARY=none" -cp "$CLASSES" Burning 1
        has err "there will be no call traces"
    done
    need_flag -XX:+UnlockExperimentalVMOptions -XX:+UseEpsilonGC
    run 0 "$JAVA" -Xmx256m -XX:+UnlockExperimentalVMOptions -XX:+UseEpsilonGC "-agentpath:$LIBRARY=none" -cp "$CLASSES" Burning 1
    has err "no method ids"
}

unloading() { # JVM-FLAG
    need_flag "$1"
    run_java none "$1" -- CallTraces unloading
    has out "invalid ids true"
}
test_unloading_serial() { unloading -XX:+UseSerialGC; }
test_unloading_parallel() { unloading -XX:+UseParallelGC; }
test_unloading_g1() { unloading -XX:+UseG1GC; }
test_unloading_z() { unloading -XX:+UseZGC; }

# Never fewer usable stacks than AsyncGetCallTrace, and the same frames but for the innermost.
agrees() {
    at_least both 100
    at_least usable "$(value theirs_usable)"
    [ $(($(value common_frames) * 100)) -ge $(($(value their_frames) * 80)) ] || fail "frames do not agree"
    [ $(($(value without_id) * 100)) -le "$(value frames)" ] || fail "$(value without_id) frames without an id"
}
signals() { # JVM-FLAG...
    # shellcheck disable=SC2086 # a list
    run_java signal=100 "$@" -- Walking "$MS" $PLATFORM
    has out done
    agrees
}
test_signals_g1() { signals -XX:+UseG1GC; }
test_signals_parallel() { signals -XX:+UseParallelGC; }
test_signals_interpreted() { signals -Xint; }
test_signals_c1() { signals -XX:TieredStopAtLevel=1; }
test_signals_c2() { signals -XX:-TieredCompilation; }

# With C and C++ frames the others are the same.
test_frames_of_c() {
    # shellcheck disable=SC2086 # a list
    run_java signal=100,native -- Walking "$MS" $PLATFORM
    at_least c_compared 100
    at_least c_frames 100
    same "$(value c_differ)" 0
}

# The same in a real program.
test_signals_javac() {
    build_agent
    "$ROOT/tests/workloads/generate-sources" src 2
    find src -name '*.java' >files
    run 0 "$JDK/bin/javac" "-J-agentpath:$LIBRARY=signal=100" -d classes @files
    grep -E '^asgct2: ' out
    same "$(value bad)" 0
    agrees
}

# Every thread of the process, while classes are unloaded and their ids asked for.
every_thread() { # JVM-FLAG...
    need_flag "$@"
    run_java signal=50,all,resolve "$@" -- Walking "$MS"
    has out done
    at_least usable 100
    at_least 'error\[-10\]' 100
    at_least resolved 100
}
test_every_thread_g1() { every_thread -XX:+UseG1GC; }
test_every_thread_z() { every_thread -XX:+UseZGC; }

# Two copies of the library in a JVM, each with its handler of faults.
test_beside_orca() {
    run_java signal=100,all "-agentpath:$AGENT=file=$TMP/app.otrace,quiet,ownerstacks=all" -- Walking "$MS"
    has out done
    at_least usable 100
    run 0 "$ORCA" info "$TMP/app.otrace"
    has out complete
}

# The same function in liborca.so, and a JVM's own flight recorder beside it.
test_in_liborca() {
    local agent=$ROOT/build/tests/jvm/libasgct2-in-orca-$JDK_MAJOR.so
    build "$agent" "$ROOT/tests/jvm/asgct2_agent.c" "${ASGCT2[@]}" -lorca
    run 0 "$JAVA" -Xmx256m -XX:StartFlightRecording:filename="$TMP/app.jfr" -Xlog:disable \
        "-agentpath:$agent=signal=100" -cp "$CLASSES" CallTraces sync
    same "$(value bad)" 0
    has out "compared 2400"
}

# The profiler that docs/reference/asgct2.md shows: its top method, and the stacks in its file.
sampler() { # LIBRARY
    run 0 "$JAVA" -Xmx256m "-agentpath:$1=$TMP/stacks" -cp "$CLASSES" Burning 2000
    cat out
    has out "done true"
    sed -n '/ samples, /{n;p;}' out | grep -q ' Burning\.spin$' || fail "not the top method"
    grep -q ';Burning\.main;.*Burning\.burn;Burning\.spin [1-9]' stacks || fail "no such stack"
}

test_sampler() {
    local lib=$ROOT/build/tests/jvm/libsampler-$JDK_MAJOR.so
    [ "$(wc -l <"$ROOT/examples/sampler.c")" -le 150 ] || fail "more than 150 lines"
    build "$lib" "$ROOT/examples/sampler.c" "${WITH[@]}"
    sampler "$lib"
}

# The header by a C++ compiler, if there is one.
test_header_in_cpp() {
    command -v g++ >/dev/null || skip "no g++"
    printf '#include "orca/asgct2.h"\nclass Error {};\nint main() { Error e; CallFrame f; f.type = FRAME_CPP; return sizeof f + f.type + sizeof e; }\n' >h.cc
    g++ -std=c++11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$ROOT/include" -isystem "$JNI_INCLUDE" \
        -isystem "$JNI_INCLUDE/linux" h.cc || fail "not C++11"
}
