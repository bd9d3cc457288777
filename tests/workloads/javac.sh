#!/bin/sh
# javac.sh JDK_HOME OUTDIR [--short] [--plain | --recorded] [--gc=NAME]
# The JDK's own compiler, recorded.
#
# Compiles 960 generated source files (--short: 240) in one JVM with every warning on.  With and
# without the agent the class files must be the same, byte by byte, and so must the exit status and
# what the compiler prints.
set -u
# shellcheck source=tests/workloads/lib.sh
. "${0%/*}/lib.sh"
workload "$@"

packages=32
[ $short = no ] || packages=8
"${0%/*}/generate-sources" "$tmp/src" $packages || fail "cannot generate sources"
(cd "$tmp" && find src -name '*.java' | LC_ALL=C sort) >"$tmp/files"
files=$(wc -l <"$tmp/files")
[ "$files" -ge 200 ] || fail "only $files source files"

cd "$tmp" || exit 1
for r in $runs; do
    mkdir "$tmp/$r"
    run "$r" 900 "$jdk/bin/javac" ${gc_option:+"-J$gc_option"} -Xlint:all -g -parameters \
        -d "$tmp/$r" @files
    [ "$status" -eq 0 ] || fail "$r: javac ended with exit status $status: $(last_words "$r")"
    classes=$(find "$tmp/$r" -name '*.class' | wc -l)
    [ "$classes" -gt "$files" ] || fail "$r: only $classes class files from $files sources"
done

case $runs in
'plain recorded')
    diff -rq plain recorded >"$out/classes.diff" ||
        fail "$(wc -l <"$out/classes.diff") class files differ: $out/classes.diff"
    rm "$out/classes.diff"
    cmp -s "$out/plain.out" "$out/recorded.out" || fail "the compiler's output differs"
    own_errors recorded | cmp -s "$out/plain.err" - || fail "the compiler's messages differ"
    ;;
esac
case $runs in
*recorded*) check_trace 2 ;;
esac
echo "$classes class files of $files sources"
