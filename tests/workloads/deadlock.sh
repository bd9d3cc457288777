#!/bin/sh
# deadlock.sh JDK_HOME OUTDIR [--short] [--plain | --recorded] [--gc=NAME]
# A program that deadlocks and is ended by SIGTERM.
#
# Two threads hold a monitor each and want the other's, two the same with ReentrantLocks
# (programs/Deadlock.java); the main thread joins one of them.  The trace names for each of the four
# the lock and its owner, and says that the wait was open at the end.
set -u
# shellcheck source=tests/workloads/lib.sh
. "${0%/*}/lib.sh"
workload "$@"
groups=all

"$jdk/bin/javac" -d "$tmp" "$here/programs/Deadlock.java" || fail "cannot compile Deadlock.java"
for r in $runs; do
    # shellcheck disable=SC2086 # an option or none
    start "$r" 60 "$jdk/bin/java" $gc_option -cp "$tmp" Deadlock
    tries=0
    while [ $tries -lt 300 ] && kill -0 $child 2>/dev/null && ! grep -q deadlocked "$out/$r.out"; do
        sleep 0.1
        tries=$((tries + 1))
    done
    # To the program itself, not to timeout: orca has to pass it on.
    kill -TERM "$(pgrep -P $child)"
    finish
    [ "$status" -eq 143 ] || fail "$r: exit status $status after SIGTERM: $(last_words "$r")"
done
same_output
case $runs in
*recorded*)
    check_trace 8
    check_readers
    # thread, kind, class of the lock, owner
    while read -r thread kind class owner; do
        "$ORCA" events -t "$thread" "$out/recorded.otrace" >"$tmp/events" ||
            fail "orca events failed"
        begun=$(grep -c " ${kind} .*class=$class .*owner=$owner " "$tmp/events")
        [ "$begun" -eq 1 ] || fail "$thread: no $kind on $class of $owner"
        grep " $kind .*class=$class " "$tmp/events" | tail -n 1 | grep -q "owner=$owner " ||
            fail "$thread: another owner"
        [ "$(grep -c " wait_open .*kind=$kind .*class=$class " "$tmp/events")" -eq 1 ] ||
            fail "$thread: its wait is not open at the end"
    done <<END
monitor-ab monitor_contended_enter Deadlock\$B monitor-ba
monitor-ba monitor_contended_enter Deadlock\$A monitor-ab
lock-cd park_enter java.util.concurrent.locks.ReentrantLock\$FairSync lock-dc
lock-dc park_enter java.util.concurrent.locks.ReentrantLock\$NonfairSync lock-cd
END
    ;;
esac
echo "four open waits"
