#!/bin/sh
# clojure.sh JDK_HOME OUTDIR [--short] [--plain | --recorded] [--gc=NAME]
# Clojure: refs, agents, futures, promises, locking.
#
# programs/concurrent.clj prints sums that do not depend on timing: the same with and without the
# agent.
set -u
# shellcheck source=tests/workloads/lib.sh
. "${0%/*}/lib.sh"
workload "$@"
groups=all

jars=/usr/share/java/clojure.jar:/usr/share/java/spec.alpha.jar:/usr/share/java/core.specs.alpha.jar
[ -e "${jars%%:*}" ] || skip "no ${jars%%:*} (Debian: clojure)"
n=20000
[ $short = no ] || n=1000
for r in $runs; do
    # shellcheck disable=SC2086 # an option or none
    run "$r" 300 "$jdk/bin/java" $gc_option -cp $jars \
        clojure.main "$here/programs/concurrent.clj" $n
    [ "$status" -eq 0 ] || fail "$r: exit status $status: $(last_words "$r")"
    for want in 'refs 10000' "agent $((n * (n - 1) / 2))" 'promises 199' \
        "locking $((4 * n))" 'timeout :late'; do
        grep -qx "$want" "$out/$r.out" || fail "$r: not '$want': $out/$r.out"
    done
done
same_output
case $runs in
*recorded*)
    check_trace 20
    check_readers
    ;;
esac
echo "$n rounds"
