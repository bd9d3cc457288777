# Collections, with a program that says when it collects (Collecting.java): what the trace tells of them against what
# the JVM itself logs (-Xlog:gc).
# timeout: 120
. "$ROOT/tests/jvm/traced.sh"

finish() {
    leave_no_jvm
}

# The program, recorded, with a log of its collections; it is ready.
collect() { # MB JVM-OPTION...
    local mb=$1
    shift
    launch_told Collecting "$(agent events=gc)" -Xmx200m -XX:+UsePerfData "-Xlog:gc:file=$TMP/gc.log" "$@" -- "$mb"
}

end() {
    say end end
    wait "$jvm" || fail "the program ended with $?"
    no_crash
    good_trace complete
    events
}

# Whether this JVM has the collector.
need() { # COLLECTOR
    "$JAVA" "-XX:+Use$1GC" -version >/dev/null 2>&1 || skip "this JVM has no $1"
}

# "CAUSE BEFORE AFTER COMMITTED" of each stop-the-world collection, in MB as the log rounds them.
# The young one of System.gc() in front of a full one is the same pause in JVMTI's events (Parallel, 17).
logged() {
    sed -nE 's/.*Pause (Young|Full) .*\(([^()]*(\(\))?)\) ([0-9]+)M->([0-9]+)M\(([0-9]+)M\).*/\1|\2|\4|\5|\6/p' gc.log |
        awk -F'|' '{ gsub(/ /, "_", $2) }
            $1 == "Young" && $2 == "System.gc()" { before = $3; next }
            { print $2, before ? before : $3, $4, $5; before = 0 }'
}

recorded() {
    awk 'function mb(field) { sub(/.*=/, "", field); return int(field / 1048576) }
        $3 == "gc_start" { before = mb($4) }
        $3 == "gc_finish" && $4 !~ /concurrent/ { sub(/cause=/, "", $5); print $5, before, mb($6), mb($7) }' events
}

# The same causes and sizes, one by one; SLACK: MB that `before` may be less than the log's.
agrees_with_log() { # SLACK
    logged >wanted
    recorded >got
    at_least "$(wc -l <wanted)" 10 "collections in the log"
    same "$(wc -l <got)" "$(wc -l <wanted)"
    paste -d' ' wanted got | awk -v slack="$1" '
        $1 != $5 || $3 != $7 || $4 != $8 || $6 > $2 || $6 < $2 - slack { print "log and trace: " $0; bad = 1 }
        END { exit bad }' >differs || fail "$(head -n 5 differs)"
}

in_report() { # JQ-LIKE: kind, cause; prints the number of collections
    "$ORCA" report --gc --json "$TRACE" >report.json || fail "orca report --gc"
    sed -n '/"collections": \[/,/^ \]/p' report.json | grep -E "\"kind\": \"$1\"" | grep -cE "\"cause\": $2"
}

test_serial() {
    collect 2000 -XX:+UseSerialGC
    end
    agrees_with_log 0
    at_least "$(matching ' gc_finish collector=Serial_young_collection cause=Allocation_Failure ')" 5 "young collections"
    same "$(matching ' gc_finish collector=Serial_full_collection cause=System\.gc\(\) ')" 1
    same "$(matching ' gc_cycle ')" 0
    same "$(in_report pause '"System\.gc\(\)"')" 1
    run 0 "$ORCA" report --gc "$TRACE"
    has out "Serial full collection   System.gc()"
    lacks out "cycle"
}

test_parallel() {
    collect 2000 -XX:+UseParallelGC
    end
    agrees_with_log 0
    same "$(matching ' gc_finish collector=Parallel_full_collection cause=System\.gc\(\) ')" 1
}

# Before a pause G1 has not yet counted the regions that are being filled: of 1 MB here.
test_g1() {
    collect 2000 -XX:+UseG1GC -XX:G1HeapRegionSize=1m
    end
    agrees_with_log 2
    same "$(matching ' gc_finish collector=G1_full_collection cause=System\.gc\(\) ')" 1
}

# Concurrent marking is not a pause, and is not reported as a cycle of known length.
test_g1_marking() {
    collect 100 -XX:+UseG1GC -XX:+ExplicitGCInvokesConcurrent
    say gc gc
    end
    at_least "$(count gc.log 'Pause Remark')" 2 "remarks in the log"
    same "$(matching ' gc_finish collector=G1_concurrent_cycle ')" "$(count gc.log 'Pause \(Remark\|Cleanup\)')"
    same "$(matching ' gc_finish collector=G1_young_collection cause=System\.gc\(\) ')" 2
    same "$(in_report cycle '.*')" 0
    same "$(in_report part null)" "$(count gc.log 'Pause \(Remark\|Cleanup\)')"
    run 0 "$ORCA" report --gc "$TRACE"
    has out "Rows without a number of collections"
}

# Cycles are heard of from half a second after the first pause on, each some time after its end.

CYCLES=' gc_cycle collector=[^ ]*Cycles cause=System\.gc\(\) '
# Of the running JVM: at least this number of cycles.
heard() { # CYCLES
    "$ORCA" dump "$jvm" >/dev/null && events && [ "$(matching "$CYCLES")" -ge "$1" ]
}
collect_until_heard() {
    calls=$((calls + 1))
    say gc gc
    heard 1
}

collect_in_cycles() { # JVM-OPTION...
    local n calls=1 # the program's own, which is early
    collect 300 "$@"
    wait_for 60 collect_until_heard
    n=$(matching "$CYCLES")
    for _ in 1 2 3; do
        say gc gc
    done
    wait_for 60 heard $((n + 3))
    end
    n=$(matching "$CYCLES")
    at_least $((calls + 3)) "$n" "times that it was called, cycles"
    # each is recorded as a cycle with its pauses
    same "$(in_report cycle '"System\.gc\(\)"')" "$n"
    grep -E '"kind": "cycle".*"System\.gc\(\)"' report.json | sed -E 's/.*"pauses": ([0-9]+).*/\1/' >pauses
    same "$(awk '$1 < 2' pauses | wc -l)" 0
    same "$(awk '$3 == "gc_cycle" { sub(/since=/, "", $6); sub(/until=/, "", $7); if ($6 > $7 || $7 > $1) print }' events)" ""
    # sizes are the heap's
    same "$(awk '$3 == "gc_cycle" { sub(/used=/, "", $9); sub(/committed=/, "", $10)
        if ($9 + 0 > $10 + 0 || $10 + 0 > 209715200 || $9 + 0 < 2000000) print }' events)" ""
}

# The log's and the trace's sizes of the last three collections, within what is allocated in that time.
cycles_agree_with_log() { # SED-EXPRESSION: log line to "BEFORE AFTER"
    sed -nE "$1" gc.log | tail -n 3 >wanted
    awk '$3 == "gc_cycle" && $5 == "cause=System.gc()" { sub(/before=/, "", $8); sub(/used=/, "", $9)
        print int($8 / 1048576), int($9 / 1048576) }' events | tail -n 3 >got
    paste -d' ' wanted got | awk 'function near(a, b) { return a - b <= 6 && b - a <= 6 }
        NF != 4 || !near($1, $3) || !near($2, $4) { print "log and trace: " $0; bad = 1 }
        END { exit bad }' >differs || fail "$(cat differs)"
}

test_z() {
    collect_in_cycles -XX:+UseZGC
    cycles_agree_with_log 's/.*(Garbage|Major) Collection \(System\.gc\(\)\) ([0-9]+)M\([0-9]+%\)->([0-9]+)M.*/\2 \3/p'
    if [ "$JDK_MAJOR" -lt 24 ]; then
        same "$(matching ' gc_finish collector=Z_concurrent_cycle cause=\?')" 0
    else # two causes at a time, one counter: the pauses do not say, their cycles do
        same "$(matching ' gc_finish collector=ZGC_(minor|major)_collection cause=\?')" "$(matching ' gc_finish ')"
    fi
}

test_shenandoah() {
    need Shenandoah
    collect_in_cycles -XX:+UseShenandoahGC
    at_least "$(matching ' gc_finish collector=Shenandoah cause=System\.gc\(\) ')" 6 "pauses"
}

# Without the counters the cause is not known; the sizes are.
test_without_counters() {
    collect 500 -XX:+UseSerialGC -XX:-UsePerfData
    end
    same "$(matching ' gc_finish collector=Serial cause=\? used=[1-9][0-9]+ committed=[1-9]')" "$(matching ' gc_finish ')"
    at_least "$(matching ' gc_finish ')" 2 collections
}

# Without the management there are pauses, and one line that says so.
test_without_management() {
    launch_told Collecting "-agentpath:$AGENT=file=$TRACE,events=gc" -XX:+UseZGC --limit-modules java.base -- 10
    wait_for 60 grep -q java.management java.err
    say gc gc
    end
    same "$(count java.err 'java.management')" 1
    same "$(matching ' gc_cycle ')" 0
    at_least "$(matching ' gc_finish collector=Z[^ ]* ')" 3 pauses
    same "$(in_report cycle '.*')" 0
    at_least "$(in_report part '.*')" 3 "pauses of cycles"
}

# The words are in the file soon after their first use.
test_killed() {
    collect 300 -XX:+UseSerialGC
    wait_for 60 eval 'events && [ "$(matching " gc_finish ")" != 0 ]' # a flush every two seconds
    kill -KILL "$jvm"
    wait "$jvm" 2>/dev/null
    events
    at_least "$(matching ' gc_finish collector=Serial_full_collection cause=System\.gc\(\) ')" 1 collections
}

# A second recording of one JVM has its own words and cycles; in between nobody listens.
test_attached() {
    launch_told Collecting -Xmx200m -XX:+UseZGC -XX:+UsePerfData -- 50
    for _ in 1 2; do
        rm -f "$TRACE"
        run 0 "$ORCA" attach "$jvm" -o "$TRACE" --events gc
        calls=0
        wait_for 60 collect_until_heard
        run 0 "$ORCA" detach "$jvm"
        good_trace complete
        events
        at_least "$(matching "$CYCLES")" 1 cycles
        same "$(matching ' gc_cycle collector=\?| gc_finish collector=\?')" 0
        say gc gc
    done
    say end end
    wait "$jvm" || fail "the program ended with $?"
    no_crash
}

# The space behind each collection, as TPTP's XML has it.
test_tptp() {
    collect 500 -XX:+UseG1GC
    end
    run 0 "$ORCA" export --to tptp -o app "$TRACE"
    same "$(grep -cE '<gcFinish time="[0-9.]+" usedObjSpace="[1-9][0-9]*" totalObjSpace="[1-9][0-9]*"/>' app.trcxml)" "$(matching ' gc_finish ')"
    run 0 xmllint --noout --dtdvalid "$ROOT/docs/reference/orca-tptp.dtd" app.trcxml
}

findings() { # prints the rules of the report's findings, but for pauses: they may be long on a busy machine
    "$ORCA" report --json "$TRACE" >report.json || fail "orca report"
    sed -nE 's/.*"rule": "([^"]*)".*/\1/p' report.json | grep -vx gc-pauses
}

# 16 MB that live in a heap of 24 are reported; 5 MB in 200 are not, however much is allocated.
heap_of() { # COLLECTOR MB KEPT RULES
    launch_told Collecting "$(agent events=gc)" "-Xmx$2m" "-XX:+Use$1GC" -- 2000 "$3"
    end
    same "$(findings)" "$4"
    rm -f "$TRACE"
}

test_nearly_full() {
    local collector
    for collector in $(some 1 G1 Serial Parallel); do
        heap_of $collector 24 1600 heap-nearly-full
    done
    heap_of Serial 200 500 ""
}

# The causes of ZGC's cycles are known once the JVM tells of them.
test_nearly_full_zgc() {
    local calls=0
    need Z
    launch_told Collecting "$(agent events=gc)" -Xmx64m -XX:+UseZGC -- 500 5000
    wait_for 60 collect_until_heard
    for _ in 1 2 3; do
        say again again
    done
    end
    same "$(findings)" heap-nearly-full
}
