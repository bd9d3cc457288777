#!/bin/sh
# jtreg.sh JDK_HOME OUTDIR [--short] [--plain | --recorded] [--gc=NAME]
# OpenJDK's own stress loops of java.util.concurrent, run by jtreg.
#
# $ORCA_JDK_TESTS is the directory `test` of OpenJDK 17's sources (Debian: apt-get source
# openjdk-17), of which only lib and jdk/java/util/concurrent are used; $ORCA_JTREG the command
# jtreg, if it is not on PATH.  Each test has a JVM of its own, recorded by the agent alone, no orca
# in front of it.  The same tests must pass with and without the agent, and every trace must be
# complete.  --short leaves out the two folders that record most (120 million events).
# Measures of its own: passed, failing, events, trace_kb.
set -u
# shellcheck source=tests/workloads/lib.sh
. "${0%/*}/lib.sh"
workload "$@"
bare=yes

jtreg=${ORCA_JTREG:-jtreg}
command -v "$jtreg" >/dev/null || skip "no $jtreg (Debian: jtreg7; or name it by \$ORCA_JTREG)"
sources=${ORCA_JDK_TESTS:-/nonexistent}
[ -d "$sources/jdk/java/util/concurrent/locks" ] ||
    skip "no tests in \$ORCA_JDK_TESTS (Debian: apt-get source openjdk-17; its folder test)"
agent=${ORCA%/*}/liborca.so
[ "$runs" = plain ] || [ -e "$agent" ] || fail "no agent: $agent"

# A suite of these alone: with OpenJDK's own TEST.ROOT jtreg wants each folder that its groups name.
suite=$tmp/suite/test/jdk
mkdir -p "$suite/java/util/concurrent"
folders='CountDownLatch CyclicBarrier Exchanger Phaser Semaphore locks'
[ $short = yes ] || folders="$folders BlockingQueue ConcurrentQueues"
for folder in $folders; do
    cp -R "$sources/jdk/java/util/concurrent/$folder" "$suite/java/util/concurrent/" ||
        fail "cannot copy $folder"
done
cp -R "$sources/lib" "$tmp/suite/test/"
printf '%s\n' 'keys=intermittent randomness' 'external.lib.roots=../../' 'useNewOptions=true' \
    >"$suite/TEST.ROOT"

# "STATUS TEST" of each test of run R, into R.results.
results() { # R
    sed -n 's/^\([A-Za-z ]*\): \(java\/util\/concurrent\/.*\.java.*\)$/\1 \2/p' "$out/$1.out" |
        sort >"$out/$1.results"
}

traces=$out/traces
for r in $runs; do
    recording=
    if [ "$r" = recorded ]; then
        rm -rf "$traces"
        mkdir "$traces"
        recording="-javaoption:-agentpath:$agent=file=$traces/%p.otrace,events=all,quiet"
    fi
    start "$r" 1200 env JTREG_JAVA="$jdk/bin/java" "$jtreg" -jdk:"$jdk" -w:"$tmp/$r.work" \
        -r:"$tmp/$r.report" -a -conc:1 -timeoutFactor:4 -verbose:summary \
        ${gc_option:+-javaoption:$gc_option} ${recording:+"$recording"} \
        "$suite/java/util/concurrent"
    finish
    # jtreg: 0 all passed, 2 some failed, 3 some could not be run.
    [ "$status" -le 3 ] || fail "$r: jtreg's exit status is $status: $(last_words "$r")"
    results "$r"
    passed=$(grep -c '^Passed ' "$out/$r.results")
    failing=$(grep -vc '^Passed ' "$out/$r.results")
    [ "$passed" -gt 0 ] || fail "$r: no test passed: $(last_words "$r")"
    rm -rf "$out/$r.jtr"
    mkdir "$out/$r.jtr"
    grep -v '^Passed ' "$out/$r.results" | sed 's/.* //; s/\.java.*//' | while read -r test; do
        cp "$tmp/$r.work/$test.jtr" "$out/$r.jtr/"
    done
    measure passed "$passed"
    measure failing "$failing"
done
case $runs in
'plain recorded')
    cmp -s "$out/plain.results" "$out/recorded.results" ||
        fail "other tests fail (logs: $out/*.jtr): $(first_differences "$out/plain.results" \
            "$out/recorded.results")"
    ;;
esac

# One trace: complete, nothing lost, no impossible event among its first two million.
check_one() { # TRACE
    timeout 300 "$ORCA" info --json "$1" >"$out/info.json" 2>"$out/info.err" ||
        fail "orca info --json $1 failed: $(head -n 1 "$out/info.err")"
    grep -q '"state": "complete"' "$out/info.json" || fail "the trace is not complete: $1"
    [ "$(trace_number damaged)" = 0 ] || fail "the trace is damaged: $1"
    [ "$(trace_number lost_total)" = 0 ] || fail "events were lost: $1"
    events=$(trace_number events_total)
    # orca ends by SIGPIPE where head is done first, by 0 elsewhere.
    { timeout 300 "$ORCA" events "$1" 2>"$out/events.err"; echo $? >"$tmp/status"; } |
        head -n 2000000 >"$tmp/events"
    case $(cat "$tmp/status") in
    0) ;;
    *) [ "$events" -ge 2000000 ] || fail "orca events $1: $(head -n 1 "$out/events.err")" ;;
    esac
    impossible=$(awk -f "$here/possible.awk" "$tmp/events") ||
        fail "impossible events in $1: $impossible"
}

case $runs in
*recorded*)
    n=0 all=0 most=0
    for trace in "$traces"/*.otrace; do
        [ -e "$trace" ] || fail "recorded: no trace in $traces"
        check_one "$trace"
        n=$((n + 1))
        all=$((all + events))
        [ "$events" -le "$most" ] || most=$events
    done
    [ $n -ge $((passed + failing)) ] || fail "only $n traces of $((passed + failing)) tests"
    measure events $all
    measure trace_kb "$(du -sk "$traces" | cut -f 1)"
    rm -rf "$traces"
    size=", $n traces of $all events, the largest $most"
    ;;
esac
echo "$passed tests passed, $failing failed${size:-}"
