# Virtual threads that own monitors while they are unmounted: who they are, in traces and in the JVM that runs.
# timeout: 120
. "$ROOT/tests/jvm/traced.sh"
. "$ROOT/tests/jvm/circles.sh"

need_jdk 24 # before, a thread that owns a monitor stays on its carrier

# Each way to leave the carrier: no owner wrong, at most one of a hundred unknown; where objects move while threads run, five.
facts() { # ROUNDS JVM-OPTION...
    local rounds=$1 unknown=1
    shift
    [ "$1" != -XX:+UseZGC ] || unknown=5
    run_traced 0 "" -Xmx96m "$@" Unmounted facts "$rounds"
    owners_are_right out "$unknown" '^h-'
}
test_owners_g1() { facts 20 -XX:+UseG1GC; }
test_owners_zgc() { facts 10 -XX:+UseZGC; }
test_owners_parallel() { facts 10 -XX:+UseParallelGC; }
test_owners_serial() { facts 20 -XX:+UseSerialGC; }
test_owners_interpreted() { facts 4 -Xint; }
test_owners_all_groups() {
    run_traced 0 events=all -Xmx96m Unmounted facts 4
    owners_are_right out 1 '^h-'
}

test_owners_checked_jni() { facts 2 -Xcheck:jni; }

# Objects that share an identity hash are distinguished, or their owners are unknown.
test_one_hash_for_all() {
    run_traced 0 "" -Xmx96m -XX:+UnlockExperimentalVMOptions -XX:hashCode=2 Unmounted facts 2
    check_owners out '^h-'
    echo "owners: $(cat owners)"
    read -r _ _ _ wrong _ <owners
    same "$wrong wrong" "0 wrong"
}

# What it no longer holds is not its.
test_given_back() {
    run_traced 0 "" -Xmx64m -XX:+UseSerialGC Unmounted after 96
    owners_are_right out 1 '^[ab]-'
}

storm() { # JVM-OPTION...
    run_traced 0 full=block -Xmx96m "$@" Unmounted storm 40 10000
    check_owners out '^s-'
    echo "owners: $(cat owners)"
    read -r _ _ _ _ _ _ _ others _ wrong _ unknown _ pairs _ <owners
    same "$wrong wrong, $pairs unpaired $(cat owners.err)" "0 wrong, 0 unpaired "
    at_least "$others" 200 contentions
    [ $((unknown * 100)) -lt $((others * 2)) ] || fail "$unknown of $others owners unknown"
}
test_storm_g1() { storm -XX:+UseG1GC; }
test_storm_zgc() { storm -XX:+UseZGC; }
test_storm_parallel() { storm -XX:+UseParallelGC; }
test_storm_serial() { storm -XX:+UseSerialGC; }

# Groups are switched while threads are away: some come back unseen.
test_switched() {
    start_traced full=block -Xmx96m -XX:+UseSerialGC Unmounted storm 40 15000
    wait_for 60 "$ORCA" attach "$jvm" --on parks
    local switched=0
    for group in monitors waits parks monitors waits parks monitors waits parks; do
        "$ORCA" attach "$jvm" --off $group >>said 2>&1 && "$ORCA" attach "$jvm" --on $group >>said 2>&1 &&
            switched=$((switched + 1))
    done
    at_least $switched 3 "switches while it went on"
    wait "$jvm" || fail "the program ended with $?"
    good_trace complete
    check_owners out '.'
    echo "owners: $(cat owners)"
    read -r _ _ _ _ _ _ _ others _ wrong _ <owners
    same "$wrong wrong" "0 wrong"
    at_least "$others" 200 contentions
}

# One deadlock of that many threads, and who waits behind it; found in the trace, by top, by query.
circle() { # N KIND JVM-OPTION...
    local n=$1 kind=$2
    shift 2
    start_traced "" -Xmx64m "$@" Unmounted circle "$n" "$kind"
    wait_for 60 grep -q '^ready' out
    live_circle "$n"
    end_with TERM 143
    good_trace complete
    run 0 "$ORCA" report --json --deadlocks "$TRACE"
    same "$(jq '.deadlocks | length' out)" 1
    same "$(jq -r '[.deadlocks[0].members[].name] | sort | join(" ")' out)" \
        "$(names "$n")"
    same "$(jq -r '[.deadlocks[0].behind[].name] | join(" ")' out)" behind
}

test_deadlock_of_monitors() {
    circle 2 monitor -XX:+UseG1GC
    circle 3 monitor -XX:+UseZGC
    circle 50 monitor -XX:+UseSerialGC
}
test_deadlock_of_locks() {
    circle 2 lock -XX:+UseSerialGC
    circle 50 lock -XX:+UseSerialGC
}
test_deadlock_of_both() {
    circle 2 mixed -XX:+UseSerialGC
    circle 10 mixed -XX:+UseParallelGC
    circle 50 mixed -XX:+UseSerialGC
}
test_deadlock_partly_mounted() {
    circle 10 pinned -XX:+UseSerialGC -Djdk.virtualThreadScheduler.parallelism=20
}

test_no_deadlock() {
    start_traced "" -Xmx64m -XX:+UseSerialGC Unmounted straight 10
    wait_for 60 grep -q '^ready' out
    run 0 "$ORCA" query "$jvm" locks
    lacks out DEADLOCK
    # management says that who wants the monitor of an unmounted thread is running
    [ "$JDK_MAJOR" -lt 25 ] || same "$(grep -c '^    \(behind\|beside\) blocked .*at Unmounted.pass' out)" 2
    run 0 "$ORCA" query "$jvm" thread beside
    [ "$JDK_MAJOR" -lt 25 ] || has out ', owned by v-0'
    run 0 "$ORCA" top "$jvm" -n 1
    lacks out Deadlock
    end_with TERM 143
    run 0 "$ORCA" report --json --deadlocks "$TRACE"
    same "$(jq '.deadlocks | length' out)" 0
}
