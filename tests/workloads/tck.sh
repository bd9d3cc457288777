#!/bin/sh
# tck.sh JDK_HOME OUTDIR [--short] [--plain | --recorded] [--gc=NAME]
# The JSR-166 TCK: 4,039 tests of java.util.concurrent.
#
# $ORCA_JDK_TESTS is the directory `test` of OpenJDK 17's sources (Debian: apt-get source
# openjdk-17); or $ORCA_TCK its jdk/java/util/concurrent/tck alone.  The same tests must fail with
# and without the agent: none on JDK 17, 65 on JDK 25, which the tests of 17 do not know.  --short
# is the same.
# Measures of its own: failing.
set -u
# shellcheck source=tests/workloads/lib.sh
. "${0%/*}/lib.sh"
workload "$@"
groups=all

tck=${ORCA_TCK:-${ORCA_JDK_TESTS:-/nonexistent}/jdk/java/util/concurrent/tck}
[ -e "$tck/JSR166TestCase.java" ] ||
    skip "no TCK in \$ORCA_JDK_TESTS (Debian: apt-get source openjdk-17; its folder test)"
jars=/usr/share/java/junit4.jar:/usr/share/java/hamcrest.jar
for jar in /usr/share/java/junit4.jar /usr/share/java/hamcrest.jar; do
    [ -e $jar ] || skip "no $jar (Debian: junit4)"
done
mkdir "$tmp/classes"
# The tests of JDK 17 do not all compile on later ones: their own compiler, or --release 17.
"$jdk/bin/javac" --release 17 -nowarn -cp $jars -d "$tmp/classes" "$tck"/*.java \
    >"$out/javac.out" 2>&1 ||
    fail "cannot compile the TCK: $(grep -m 1 error: "$out/javac.out")"
for r in $runs; do
    # shellcheck disable=SC2086 # an option or none
    run "$r" 600 "$jdk/bin/java" $gc_option -cp "$tmp/classes:$jars" \
        junit.textui.TestRunner JSR166TestCase
    grep -q -e '^OK (' -e '^Tests run:' "$out/$r.out" ||
        fail "$r: the tests did not end: $(last_words "$r")"
    sed -n 's/^[0-9]*) \([^)]*)\).*/\1/p' "$out/$r.out" | sort >"$out/$r.failing"
    failing=$(wc -l <"$out/$r.failing")
    measure failing "$failing"
done
case $runs in
'plain recorded')
    cmp -s "$out/plain.status" "$out/recorded.status" || fail "another exit status"
    cmp -s "$out/plain.failing" "$out/recorded.failing" ||
        fail "other tests fail: $(first_differences "$out/plain.failing" "$out/recorded.failing")"
    ;;
esac
case $runs in
*recorded*)
    check_trace 1000
    check_readers
    ;;
esac
echo "$failing failing tests"
