#!/bin/sh
# ant.sh JDK_HOME OUTDIR [--short] [--plain | --recorded] [--gc=NAME]
# Ant: four compilers in one JVM, checksums, a child process.
#
# Compiles 480 generated source files four times at once (--short: 30), as programs/build.xml says.
# The class files and the checksums that Ant wrote must be the same with and without the agent.
set -u
# shellcheck source=tests/workloads/lib.sh
. "${0%/*}/lib.sh"
workload "$@"
groups=all

launcher=/usr/share/ant/lib/ant-launcher.jar
[ -e $launcher ] || skip "no $launcher (Debian: ant)"
packages=16
[ $short = no ] || packages=1
"$here/generate-sources" "$tmp/src" $packages || fail "cannot generate sources"
for r in $runs; do
    mkdir -p "$tmp/$r/a" "$tmp/$r/b" "$tmp/$r/c" "$tmp/$r/d" "$tmp/$r/sums"
    # The same path in both runs: it may be in what Ant prints.
    ln -sfn "$tmp/$r" "$tmp/dest"
    # shellcheck disable=SC2086 # an option or none
    run "$r" 300 "$jdk/bin/java" $gc_option -cp $launcher -Dant.home=/usr/share/ant \
        org.apache.tools.ant.launch.Launcher -q -f "$here/programs/build.xml" -Dsrc="$tmp/src" \
        -Ddest="$tmp/dest"
    [ "$status" -eq 0 ] || fail "$r: exit status $status: $(last_words "$r")"
    grep -q 'BUILD SUCCESSFUL' "$out/$r.out" || fail "$r: $(last_words "$r")"
    classes=$(find "$tmp/$r" -name '*.class' | wc -l)
    sums=$(find "$tmp/$r/sums" -type f | wc -l)
    [ "$classes" -ge $((packages * 120)) ] && [ "$sums" -eq "$classes" ] ||
        fail "$r: $classes class files, $sums checksums"
done
case $runs in
'plain recorded')
    diff -rq "$tmp/plain" "$tmp/recorded" >"$out/files.diff" ||
        fail "$(wc -l <"$out/files.diff") files differ: $out/files.diff"
    rm "$out/files.diff"
    ;;
esac
case $runs in
*recorded*)
    check_trace 5
    check_readers
    ;;
esac
echo "$classes class files"
