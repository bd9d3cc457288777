# Events' stacks: taken by the walker, and equal to GetStackTrace's, method and bci of every frame, in every
# callback. A debug build of the agent takes each both ways and compares (agent/stacks_check.h).
# ORCA_LONG=1: a hundred times as many.
# timeout: 600
. "$ROOT/tests/jvm/traced.sh"

EACH=1200 # events of each part of Stacks.java, of which there are 14
[ "$LONG" = 0 ] || EACH=120000
ALL=threads+monitors+waits+parks+sleeps+joins+interrupts+semaphores+locks+holds

build_checked

# A number of the trace's "orca.stacks" or "orca.stacks.check", by the word before it; nothing: 0.
told() { # KEY WORD
    local n
    n=$(sed -n "s/^ *\"$1\": \".*\b$2 \([0-9]*\).*/\1/p" info)
    echo "${n:-0}"
}

checked() { # OPTIONS JVM-FLAG... [-- PART...]
    local options=$1 flags=()
    shift
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        flags+=("$1")
        shift
    done
    [ $# -eq 0 ] || shift
    ORCA_CHECK_STACKS=1 AGENT=$CHECKED run_traced 0 "$options" -Xmx256m "${flags[@]}" Stacks "$EACH" "$@"
    has out done
    info
    grep orca.stacks info
    cat err
}

compared() { # as checked
    checked "$@"
    at_least "$(told orca.stacks.check compared)" $((EACH * 2)) "stacks compared"
    same "$(told orca.stacks.check 'stacks differ')" 0
    same "$(told orca.stacks.check 'ids differ')" 0
    same "$(told orca.stacks "JVMTI's differ")" 0
}

need_flag() { # FLAG...
    "$JAVA" "$@" -version >/dev/null 2>&1 || skip "this JVM has no $*"
}

test_g1() { compared "" -XX:+UseG1GC; }
test_parallel() { compared "" -XX:+UseParallelGC; }
test_serial() { compared "" -XX:+UseSerialGC; }
test_z() {
    need_flag -XX:+UseZGC
    compared "" -XX:+UseZGC
}
test_interpreted() { compared "" -Xint; }
test_c1() { compared "" -XX:TieredStopAtLevel=1; }
test_c2() { compared "" -XX:-TieredCompilation; }
test_compiled_at_once() { compared "" -Xcomp; }
test_small_code_cache() { compared "" -XX:ReservedCodeCacheSize=10m; }
test_all_groups() { compared "events=$ALL"; }

# Cut everywhere, and hardly anywhere.
test_depth() {
    compared depth=3
    compared depth=1024 -Xss2m
}

# Older versions of methods are on the stacks: JVMTI calls them by the id of the newest, the walker knows better.
test_redefined() {
    printf 'Premain-Class: Stacks\nCan-Retransform-Classes: true\n' >manifest
    "$TOOLS/jar" cfm agent.jar manifest -C "$CLASSES" Stacks.class || fail jar
    compared "" -javaagent:agent.jar
    at_least "$(told orca.stacks.check 'older versions')" 1 "stacks with an older version"
}

# Of a virtual thread that came back only the youngest frames are on a stack; the others are in the heap, where a
# collector moves them.
frozen() { # JVM-FLAG...
    need_jdk 21
    compared "" -Xss4m "$@" -- virtual frozen
    at_least "$(told orca.stacks 'found in the heap')" 2000 "stacks of which a part is in the heap"
    at_least "$(told orca.stacks.check followed)" "${FOLLOWED:-500}" "stacks by trails"
    same "$(told orca.stacks.check 'trails differ')" 0
    at_least "$(told orca.stacks 'found in the heap')" $(($(told orca.stacks 'partly in the heap') * 8)) "of them, those that JVMTI was not asked for"
}
test_frozen_g1() { frozen -XX:+UseG1GC; }
test_frozen_parallel() { frozen -XX:+UseParallelGC; }
test_frozen_serial() { frozen -XX:+UseSerialGC; }
test_frozen_z() { frozen -XX:+UseZGC; }
test_frozen_wide() { frozen -XX:+UseG1GC -XX:-UseCompressedOops; }
test_frozen_interpreted() { FOLLOWED=0 frozen -Xint; } # an innermost frame that is interpreted leaves no trail
test_frozen_c1() { frozen -XX:TieredStopAtLevel=1; }
test_frozen_c2() { frozen -XX:-TieredCompilation; }
test_frozen_compact() {
    need_flag -XX:+UseCompactObjectHeaders
    frozen -XX:+UseCompactObjectHeaders
}
# What moves objects beside the program in another way is not read: JVMTI is asked.
test_frozen_shenandoah() {
    need_jdk 21
    need_flag -XX:+UseShenandoahGC
    compared "" -XX:+UseShenandoahGC -- virtual
    at_least "$(told orca.stacks 'partly in the heap')" 100 "stacks by JVMTI"
}

# For allocations, a trail gives the stack that a walk gives then, with code that comes, goes and is deoptimized, and stacks
# that differ in one frame, one bytecode, one depth.
trails() { # OPTIONS JVM-FLAG... [-- PART...]
    local options=events=threads+alloc${1:+,$1}
    shift
    checked "$options" "$@"
    at_least "$(told orca.stacks.check followed)" "${LEAST:-5000}" "stacks by trails"
    same "$(told orca.stacks.check 'trails differ')" 0
}
test_trails() { trails ""; }
test_trails_c1() { trails "" -XX:TieredStopAtLevel=1; }
test_trails_c2() {
    [ "$LONG" != 0 ] || skip "ORCA_LONG=1 runs it"
    trails "" -XX:-TieredCompilation
}
test_trails_compiled_at_once() { trails "" -Xcomp; }
test_trails_small_code_cache() {
    [ "$LONG" != 0 ] || skip "ORCA_LONG=1 runs it"
    trails "" -XX:ReservedCodeCacheSize=10m
}
test_trails_z() {
    need_flag -XX:+UseZGC
    trails "" -XX:+UseZGC
}
test_trails_depth() { trails depth=3; }
test_trails_redefined() {
    printf 'Premain-Class: Stacks\nCan-Retransform-Classes: true\n' >manifest
    "$TOOLS/jar" cfm agent.jar manifest -C "$CLASSES" Stacks.class || fail jar
    trails "" -javaagent:agent.jar
}
test_trails_virtual() {
    need_jdk 21
    LEAST=500 trails "" -- virtual
}

# With -Xcheck:jni the walker stays closed: it would have the JVM print that its handler was replaced.
test_closed() {
    run_traced 0 "" -Xcheck:jni Stacks 50 recursion lambdas
    info
    same "$(told orca.stacks walked)" 0
    at_least "$(told orca.stacks 'no walker')" 80 "stacks by JVMTI"
    events -k notify
    at_least "$(matching ' at=Stacks\.event\(Stacks\.java:')" 40 "notifies"
}

# A walker that is wrong is found out at once, and given up; what is recorded is JVMTI's.
test_wrong_walker() {
    ORCA_CHECK_STACKS=wrong AGENT=$CHECKED run 0 traced "" Stacks 200 handles reflection
    same "$(cat err)" "orca: stack walks do not agree with JVMTI's on this JVM: stacks are taken through JVMTI, which takes longer"
    good_trace complete
    at_least "$(told orca.stacks "JVMTI's differ")" 100 "stacks that differ"
    at_least "$(told orca.stacks 'no walker')" 100 "stacks by JVMTI after that"
}

# A release build, by either way: the same frames at the same lines.
test_same_lines() {
    local way
    for way in -Xcheck:jni -Xshare:auto; do
        run_traced 0 events=waits $way -Xint Stacks 200 handles
        events -s -k notify
        grep '^    at Stacks' events | grep -v Lambda | sort -u >"frames$way"
    done
    at_least "$(grep -c . frames-Xshare:auto)" 10 frames
    cmp -s frames-Xcheck:jni frames-Xshare:auto || fail "$(diff frames-Xcheck:jni frames-Xshare:auto)"
}
