# The owner of a contended monitor, against the program's own truth, with the collector running:
# every collector, every way of locking, every compiler.  Never wrong; unknown only now and then.
# ORCA_LONG=1: longer, and every collector with every way of locking.
# timeout: 120
. "$ROOT/tests/jvm/traced.sh"

ROUNDS=20 CHURN=300
[ "$LONG" = 0 ] || ROUNDS=200 CHURN=5000

owners() { # UNKNOWN-PERCENT JVM-FLAG...
    local unknown=$1
    shift
    echo "flags: $*"
    run_traced 0 "" -Xmx96m "$@" Owners $ROUNDS $CHURN
    owners_are_right out "$unknown"
    same "$(sed 's/.* unnamed //' owners) unnamed" "0 unnamed"
}

need_flag() { # FLAG...
    "$JAVA" "$@" -version >/dev/null 2>&1 || skip "this JVM has no $*"
}

# --- collectors ---------------------------------------------------------------------------------
test_g1() { owners 5 -XX:+UseG1GC; }
test_parallel() { owners 5 -XX:+UseParallelGC; }
test_serial() { owners 5 -XX:+UseSerialGC; }
test_z() {
    need_flag -XX:+UseZGC
    owners 20 -XX:+UseZGC
}
test_shenandoah() {
    need_flag -XX:+UseShenandoahGC
    owners 20 -XX:+UseShenandoahGC
}

# --- ways of locking ----------------------------------------------------------------------------
# JDK 17: biased.  From 21 on a flag has all three ways, the lock record on the owner's stack by default on 21; JDK 25 does not
# publish the address of that thread, so a monitor that was never contended before has no known owner.
locking() { # MODE UNKNOWN-PERCENT
    need_flag -XX:+UnlockExperimentalVMOptions -XX:LockingMode="$1"
    owners "$2" -XX:+UnlockExperimentalVMOptions -XX:LockingMode="$1"
}
test_older_way_of_locking() {
    if "$JAVA" -XX:+UseBiasedLocking -version >/dev/null 2>&1; then
        owners 5 -XX:+UseBiasedLocking -XX:BiasedLockingStartupDelay=0
    else
        locking 1 $((JDK_MAJOR < 24 ? 5 : 100))
    fi
}
test_heavy_monitors_only() {
    if "$JAVA" -XX:+UnlockExperimentalVMOptions -XX:LockingMode=0 -version >/dev/null 2>&1; then
        locking 0 5
    else
        need_flag -XX:+UnlockDiagnosticVMOptions -XX:+UseHeavyMonitors
        owners 5 -XX:+UnlockDiagnosticVMOptions -XX:+UseHeavyMonitors
    fi
}
test_lock_stacks() { locking 2 5; }
test_monitor_table() {
    need_flag -XX:+UnlockDiagnosticVMOptions -XX:+UseObjectMonitorTable
    owners 5 -XX:+UnlockDiagnosticVMOptions -XX:+UseObjectMonitorTable
}
test_compact_headers() {
    need_flag -XX:+UseCompactObjectHeaders
    owners 5 -XX:+UseCompactObjectHeaders
}
test_large_pointers() { owners 5 -XX:-UseCompressedOops -XX:-UseCompressedClassPointers; }

# --- compilers ----------------------------------------------------------------------------------
test_interpreter() { owners 5 -Xint; }
test_first_compiler() { owners 5 -XX:TieredStopAtLevel=1; }
test_compile_everything() { owners 5 -Xcomp -XX:TieredStopAtLevel=1; }
test_second_compiler_only() { owners 5 -XX:-TieredCompilation; }

# Every check that the JVM has for native code; it prints its complaints on stdout.
test_checked_jni() {
    owners 5 -Xcheck:jni
    same "$(grep -v '^strict \|^hold ' out)" ""
}

# --- everything with everything -----------------------------------------------------------------
test_matrix() {
    [ "$LONG" != 0 ] || skip "ORCA_LONG=1 runs it"
    ROUNDS=40 CHURN=1000
    local gc lock
    for gc in UseG1GC UseParallelGC UseSerialGC UseZGC UseShenandoahGC; do
        for lock in -XX:LockingMode=0 -XX:LockingMode=1 -XX:+UseObjectMonitorTable -XX:+UseCompactObjectHeaders \
            -XX:+UseBiasedLocking -XX:+UseHeavyMonitors -XX:-UseCompressedOops; do
            "$JAVA" -XX:+UnlockDiagnosticVMOptions -XX:+UnlockExperimentalVMOptions -XX:+$gc $lock -version >/dev/null 2>&1 || continue
            (owners 100 -XX:+UnlockDiagnosticVMOptions -XX:+UnlockExperimentalVMOptions -XX:+$gc $lock) || fail "$gc $lock"
        done
    done
}

# --- many threads on one monitor, of which nobody has it for long -------------------------------
# Who is asked for the owner finds it gone, and blocks on the next one all the same.  Never wrong; unknown where the
# thread gets the monitor itself.
test_notify_storm() {
    local run other unknown enters=0 lacking=0
    for run in 1 2 3 4 5 6 7 8 9; do # beside other programs few threads meet
        [ "$run" -le 3 ] || [ "$enters" -lt 100 ] || break
        run_traced 0 "" -Xmx96m NotifyStorm 8 $((ROUNDS * 500))
        check_owners out
        echo "run $run: $(cat owners)"
        same "$(sed 's/.* \(wrong [0-9]* unknown\).*/\1/' owners) $(cat owners.err)" "wrong 0 unknown "
        read -r _ _ _ _ _ _ _ other _ _ _ unknown _ <owners
        enters=$((enters + other)) lacking=$((lacking + unknown))
        same "$(matching ' owner=\? ')" "$(matching ' owner=\? .*owner_gone=1')"
    done
    at_least "$enters" 100 "contentions"
    # Where few threads met, most of them did so for a moment, and the owner was gone before it could be named.
    local most=20
    [ "$enters" -ge 3000 ] || most=50
    [ $((lacking * 100)) -le $((enters * most)) ] || fail "$lacking of $enters owners unknown"
}
