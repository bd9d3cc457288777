#!/bin/sh
# jython.sh JDK_HOME OUTDIR [--short] [--plain | --recorded] [--gc=NAME]
# Jython: Python's threads, queues and conditions.
#
# programs/threads.py prints sums that do not depend on timing: the same with and without the agent.
set -u
# shellcheck source=tests/workloads/lib.sh
. "${0%/*}/lib.sh"
workload "$@"
groups=all

jar=/usr/share/java/jython.jar
[ -e $jar ] || skip "no $jar (Debian: jython)"
n=20000
[ $short = no ] || n=1000
for r in $runs; do
    # shellcheck disable=SC2086 # an option or none
    run "$r" 300 "$jdk/bin/java" $gc_option -Dpython.home=/usr/share/jython \
        -Dpython.cachedir.skip=true -jar $jar "$here/programs/threads.py" $n
    [ "$status" -eq 0 ] || fail "$r: exit status $status: $(last_words "$r")"
    for want in "queue $((4 * n * (n - 1) / 2))" "turns $((n / 10 * 3))" \
        "pool $(((n - 1) * n * (2 * n - 1) / 6))"; do
        grep -qx "$want" "$out/$r.out" || fail "$r: not '$want': $out/$r.out"
    done
done
same_output
case $runs in
*recorded*)
    check_trace 12
    check_readers
    ;;
esac
echo "$n rounds"
