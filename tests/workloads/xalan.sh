#!/bin/sh
# xalan.sh JDK_HOME OUTDIR [--short] [--plain | --recorded] [--gc=NAME]
# Xalan: eight threads, one stylesheet, a barrier.
#
# programs/Transform.java prints a checksum of all results: the same with and without the agent.
set -u
# shellcheck source=tests/workloads/lib.sh
. "${0%/*}/lib.sh"
workload "$@"
groups=all

jars=
for jar in xalan2 serializer xercesImpl; do
    [ -e /usr/share/java/$jar.jar ] || skip "no $jar.jar (Debian: libxalan2-java)"
    jars=$jars:/usr/share/java/$jar.jar
done
rounds=300
[ $short = no ] || rounds=30
"$jdk/bin/javac" -d "$tmp" "$here/programs/Transform.java" || fail "cannot compile Transform.java"
for r in $runs; do
    # shellcheck disable=SC2086 # an option or none
    run "$r" 300 "$jdk/bin/java" $gc_option -cp "$tmp$jars" \
        -Djavax.xml.transform.TransformerFactory=org.apache.xalan.processor.TransformerFactoryImpl \
        Transform $rounds
    [ "$status" -eq 0 ] || fail "$r: exit status $status: $(last_words "$r")"
    grep -q '^sum ' "$out/$r.out" || fail "$r: no sum: $(last_words "$r")"
    grep -q '^org.apache.xalan' "$out/$r.out" || fail "$r: not Xalan: $(head -n 1 "$out/$r.out")"
done
same_output
case $runs in
*recorded*)
    check_trace 11
    check_readers
    ;;
esac
echo "$((rounds * 8)) documents"
