#!/bin/sh
# gpars.sh JDK_HOME OUTDIR [--short] [--plain | --recorded] [--gc=NAME]
# Groovy with GPars: actors, dataflow, a fork/join pool.
#
# programs/actors.groovy prints sums that do not depend on timing and ends by System.exit(3): the
# same with and without the agent.
set -u
# shellcheck source=tests/workloads/lib.sh
. "${0%/*}/lib.sh"
workload "$@"
groups=all

jars=
for jar in groovy-all gpars jsr166y multiverse-core; do
    [ -e /usr/share/java/$jar.jar ] || skip "no $jar.jar (Debian: groovy libgpars-groovy-java)"
    jars=$jars:/usr/share/java/$jar.jar
done
n=20000
[ $short = no ] || n=1000
for r in $runs; do
    # shellcheck disable=SC2086 # an option or none
    run "$r" 300 "$jdk/bin/java" $gc_option --add-opens=java.base/java.lang=ALL-UNNAMED \
        --add-opens=java.base/java.util=ALL-UNNAMED -cp "${jars#:}" groovy.ui.GroovyMain \
        "$here/programs/actors.groovy" $n
    [ "$status" -eq 3 ] || fail "$r: exit status $status, not 3: $(last_words "$r")"
    for want in "actor $((8 * n * (n + 1) / 2))" 'dataflow 5050' \
        "queue $((n * (n + 1) / 2))" "pool $((n * (n + 1)))"; do
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
