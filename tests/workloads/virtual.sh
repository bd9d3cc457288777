#!/bin/sh
# virtual.sh JDK_HOME OUTDIR [--short] [--plain | --recorded] [--gc=NAME]
# A million virtual threads over a SynchronousQueue.
#
# A million (--short: 40,000) virtual threads hand numbers to each other; the sum must be right.
# The agent may lose events, if it counts them, and may need 200 MB more memory than the program.
# Measures of its own: peak_kb (most memory), lost.
set -u
# shellcheck source=tests/workloads/lib.sh
. "${0%/*}/lib.sh"
workload "$@"
groups=all

release=$(sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$jdk/release")
[ "${release:-0}" -ge 21 ] || skip "no virtual threads before JDK 21"
threads=1000000
[ $short = no ] || threads=40000
"$jdk/bin/javac" -d "$tmp" "$here/programs/Million.java" || fail "cannot compile Million.java"
pairs=$((threads / 2))
sum=$((pairs * (pairs - 1) / 2))
plain_peak=0
for r in $runs; do
    # shellcheck disable=SC2086 # an option or none
    run "$r" 300 "$jdk/bin/java" $gc_option -Xmx256m -cp "$tmp" Million $threads
    [ "$status" -eq 0 ] || fail "$r: exit status $status: $(last_words "$r")"
    grep -qx "sum $sum $sum" "$out/$r.out" ||
        fail "$r: the sum is wrong: $(last_words "$r"), not $sum"
    peak=$(sed -n 's/^peak //p' "$out/$r.err")
    measure peak_kb "${peak:-0}"
    [ "$r" = recorded ] || plain_peak=$peak
done
case $runs in
*recorded*)
    trace=$out/recorded.otrace
    "$ORCA" info "$trace" >"$out/info.txt" || fail "orca info failed"
    "$ORCA" info --json "$trace" >"$out/info.json" || fail "orca info --json failed"
    grep -q '"state": "complete"' "$out/info.json" ||
        fail "the trace is not complete: $out/info.txt"
    [ "$(trace_number damaged)" = 0 ] || fail "the trace is damaged: $out/info.txt"
    lost=$(trace_number lost_total)
    measure lost "$lost"
    check_readers
    ;;
esac
case $runs in
'plain recorded')
    [ "$peak" -le $((plain_peak + 200000)) ] ||
        fail "memory: $peak kB recorded, $plain_peak kB without"
    ;;
esac
echo "$threads virtual threads, peak $plain_peak and $peak kB, ${lost:-no} events lost"
