#!/bin/sh
# ecj.sh JDK_HOME OUTDIR [OPTION]...
# Eclipse's compiler: parsing and writing threads beside the one that compiles.
#
# Compiles 480 generated source files (--short: 60) with every warning on.  With and without the
# agent the class files must be the same, byte by byte, and so must what the compiler prints.
set -u
# shellcheck source=tests/workloads/lib.sh
. "${0%/*}/lib.sh"
workload "$@"
groups=all

jar=/usr/share/java/eclipse-jdt-core.jar
[ -e $jar ] || skip "no $jar (Debian: libeclipse-jdt-core-java)"
packages=16
[ $short = no ] || packages=2
"$here/generate-sources" "$tmp/src" $packages || fail "cannot generate sources"
cd "$tmp" || exit 1
find src -name '*.java' | LC_ALL=C sort >files
files=$(wc -l <files)
for r in $runs; do
    # shellcheck disable=SC2086 # an option or none
    run "$r" 900 "$jdk/bin/java" $gc_option -cp $jar \
        org.eclipse.jdt.internal.compiler.batch.Main --release 17 -proc:none -g -parameters \
        -warn:+all -d "$r" @files
    [ "$status" -eq 0 ] || fail "$r: exit status $status: $(last_words "$r")"
    classes=$(find "$r" -name '*.class' | wc -l)
    [ "$classes" -gt "$files" ] || fail "$r: only $classes class files from $files sources"
    grep -q '^[0-9]* problems ([0-9]* warnings)' "$out/$r.err" || fail "$r: no warnings"
done
same_output
case $runs in
'plain recorded')
    diff -rq plain recorded >"$out/classes.diff" ||
        fail "$(wc -l <"$out/classes.diff") class files differ: $out/classes.diff"
    rm "$out/classes.diff"
    ;;
esac
case $runs in
*recorded*)
    check_trace 3
    check_readers
    ;;
esac
echo "$classes class files of $files sources"
