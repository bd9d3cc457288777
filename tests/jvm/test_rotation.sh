# A recording of several files: --every, --keep, orca dump --rotate; each event is in one of them.
# timeout: 240
. "$ROOT/tests/jvm/traced.sh"

finish() {
    leave_no_jvm
}

# Attachable in the background; it obeys lines written to descriptor 9.
launch() { # JVM-OPTION... -- [ARGUMENT...]
    launch_told Attachable "$@"
}

end() {
    say end sum
    wait "$jvm" || fail "the program ended with $?"
    no_crash
    no_rings "$jvm"
}

# Files of the recording at app.otrace, in their order.
files() {
    ls "$TRACE" 2>/dev/null
    ls "$TMP"/app.[0-9][0-9][0-9].otrace 2>/dev/null
}

# Each file is a trace by itself, and nothing is wrong with it; then the events of all are in "events".
# STATE: of the last one.
read_all() { # STATE
    local f n=0 last
    last=$(files | tail -n 1)
    : >all
    for f in $(files); do
        n=$((n + 1))
        info "$f"
        same "$f $(value lost_total) $(value damaged)" "$f 0 0"
        [ "$f" = "$last" ] || same "$f $(value state)" "$f complete"
        [ "$f" = "$last" ] && same "$f $(value state)" "$f $1"
        [ "$(grep -c . info.err)" = 0 ] || [ "$f" = "$last" ] || fail "$(cat info.err)"
        "$ORCA" events "$f" >>all 2>events.err || fail "orca events $f: $(cat events.err)"
        "$ORCA" report --all "$f" >report 2>report.err || fail "orca report $f: $(cat report.err)"
        lacks report DAMAGED
        lacks report LOST
        "$ORCA" export "$f" --to tptp -o text.trcxml >export.err 2>&1 || fail "orca export $f: $(cat export.err)"
        "$ORCA" export "$f" --to orca -o text >export.err 2>&1 || fail "orca export $f: $(cat export.err)"
        rm -f text*
    done
    mv all events
    n_files=$n
}

start_killed() { # OPTIONS
    rm -f counts "$TMP"/app*.otrace
    start_traced "$1" -Xmx48m -XX:+UseSerialGC Killed counts
    wait_for 60 grep -q ready out
}

test_every_under_load() {
    start_killed every=1s
    wait_for 60 test -e "$TMP/app.004.otrace"
    cp counts floor
    end_with TERM 143
    read_all complete
    at_least "$n_files" 4 files
    counts_agree floor
    same "$(matching ' recording_start$') $(matching ' recording_end$')" "1 1"
    info "$TMP/app.002.otrace"
    same "$(value orca.part) $(value orca.previous) $(value orca.next)" "2 $TRACE $TMP/app.003.otrace"
    "$ORCA" info "$TMP/app.002.otrace" >text
    has text "file 2 of its recording, after $TRACE, before $TMP/app.003.otrace"
    "$ORCA" report --all "$TMP/app.002.otrace" >text
    has text "file 2 of its recording; waits that began in an earlier file are incomplete"
}

test_keep() {
    start_killed every=1s,keep=2
    wait_for 60 test -e "$TMP/app.004.otrace"
    run 0 "$ORCA" status "$jvm"
    grep -q "^into  *$TMP/app.00[4-9].otrace, .*, file [4-9] of this recording$" out || fail "$(cat out)"
    end_with TERM 143
    [ ! -e "$TRACE" ] || fail "the first file is still there"
    same "$(ls "$TMP"/app*.otrace | grep -c .)" 2
    read_all complete
}

# Somebody else's file in the place of one of ours is not removed.
test_keep_leaves_other_files() {
    start_killed keep=2
    run 0 "$ORCA" dump "$jvm" --rotate
    mv "$TRACE" mine
    echo precious >"$TRACE"
    run 0 "$ORCA" dump "$jvm" --rotate
    run 0 "$ORCA" dump "$jvm" --rotate
    [ -e "$TMP/app.004.otrace" ] || fail "no fourth file"
    [ ! -e "$TMP/app.002.otrace" ] || fail "the second file is still there"
    end_with TERM 143
    same "$(cat "$TRACE")" precious
    info mine
    same "$(value state) $(value orca.part)" "complete 1"
}

test_on_demand_under_load() {
    local i
    start_killed ""
    for i in 1 2 3 4 5 6 7 8; do
        run 0 "$ORCA" dump "$jvm" --rotate
        has err " events in "
        has err "none lost; look at it: orca report app.$([ $i = 1 ] || printf '%03d.' $i)otrace"
    done
    cp counts floor
    end_with TERM 143
    read_all complete
    same "$n_files" 9
    counts_agree floor
}

changed_or_contended() { # FILES TIMES
    [ "$(files | grep -c .)" -ge "$1" ] || contended "$2"
}

# A kill at any moment, most of them near a change: at most this number of files, however slowly the program contends.
kills() { # ROUND...
    local i
    for i; do
        start_killed ""
        (for _ in $(seq 40); do "$ORCA" dump "$jvm" --rotate >/dev/null 2>&1 || exit; done) &
        wait_for 60 changed_or_contended $((6 + i * 7)) $((2000 + i * 370))
        end_with KILL 137
        # the last one that has events was being written; one behind it may have been about to begin
        local f recovered=0 empty=0
        for f in $(files | if [ $((i % 2)) = 0 ]; then cat; else tac; fi); do
            if [ ! -s "$f" ]; then # killed between its creation and its first byte
                empty=$((empty + 1))
                continue
            fi
            info "$f"
            same "$f $(value lost_total) $(value damaged)" "$f 0 0"
            case $(value state) in
            recovered) recovered=$((recovered + 1)) ;;
            complete) [ "$(value events_total)" != 0 ] || empty=$((empty + 1)) ;;
            *) fail "$f: $(cat info)" ;;
            esac
        done
        same "$recovered" 1
        [ $empty -le 1 ] || fail "$empty empty files"
        : >all
        for f in $(files); do
            [ -s "$f" ] || continue
            "$ORCA" events "$f" >>all 2>events.err || fail "$(cat events.err)"
            same "$(cat events.err)" ""
        done
        mv all events
        counts_agree
        no_rings "$jvm"
        echo "round $i: $(files | grep -c .) files, $empty empty"
    done
}
test_sigkill() { kills 1; }
test_sigkill_later() { kills $(seq 2 $([ "$LONG" = 0 ] && echo 4 || echo 20)); }

recorded_until() { # NS
    info
    [ "$(value duration_ns)" -ge "$1" ]
}

test_name_taken() {
    local tried_until
    rm -f counts
    echo precious >"$TMP/app.002.otrace" # before the recording can have a second file
    start_traced every=1s -Xmx48m -XX:+UseSerialGC Killed counts
    wait_for 60 grep -q ready out
    wait_for 60 grep -q "app.002.otrace exists and is not an Orca trace" err
    has err "the recording continues in $TRACE, and tries a new file every 1.00 s"
    mv err java.err
    run 1 "$ORCA" dump "$jvm" --rotate
    has err "app.002.otrace exists and is not an Orca trace"
    # by the recording's own clock the name was tried again, more than once
    info
    tried_until=$(($(value duration_ns) + 3000000000))
    wait_for 60 recorded_until $tried_until
    same "$(grep -c 'not an Orca trace' java.err)" 1
    same "$(cat "$TMP/app.002.otrace")" precious
    rm "$TMP/app.002.otrace"
    wait_for 60 test -e "$TMP/app.002.otrace"
    cp counts floor
    end_with TERM 143
    read_all complete
    counts_agree floor
}

# A trace of an earlier run makes room; the one of a killed JVM that nobody has completed does not.
test_traces_of_an_earlier_run() {
    start_killed ""
    run 0 "$ORCA" dump "$jvm" --rotate
    end_with KILL 137
    local killed=$jvm
    rm "$TRACE"
    start_traced "" -Xmx48m -XX:+UseSerialGC Killed counts
    wait_for 60 grep -q ready out
    run 0 "$ORCA" dump "$jvm" --rotate
    run 0 "$ORCA" status "$jvm"
    grep -q "$TMP/app.002-[0-9]*.otrace" out || fail "$(cat out)"
    end_with TERM 143
    info "$TMP/app.002.otrace"
    same "$(value pid) $(value state)" "$killed recovered"
    start_traced "" -Xmx48m -XX:+UseSerialGC Killed counts
    wait_for 60 grep -q ready out
    run 0 "$ORCA" dump "$jvm" --rotate
    end_with TERM 143
    info "$TMP/app.002.otrace"
    same "$(value pid) $(value state)" "$jvm complete"
}

test_names_with_their_time() {
    "$JAVA" "-agentpath:$AGENT=file=$TMP/at-%t.otrace,every=1s,quiet" -XX:-UsePerfData -cp "$CLASSES" Ends wait >out 2>err &
    jvm=$!
    wait_for 60 grep -q contended out
    wait_for 60 eval '[ "$(ls "$TMP"/at-*.otrace | grep -c .)" -ge 3 ]'
    kill -TERM "$jvm"
    wait "$jvm" 2>/dev/null
    at_least "$(ls "$TMP"/at-[0-9]*-[0-9]*.otrace | grep -c .)" 3 files
    same "$(ls "$TMP"/*.otrace | grep -vc '/at-[0-9]*-[0-9]*\(\.[0-9]*\)\?\.otrace$')" 0
    for f in "$TMP"/at-*.otrace; do
        info "$f"
        same "$f $(value state) $(value damaged)" "$f complete 0"
    done
}

test_disk_full() {
    [ "${PRIVATE_MOUNTS:-}" = yes ] || {
        unshare -m true 2>/dev/null || skip "needs unshare -m (root)"
        PRIVATE_MOUNTS=yes exec unshare -m bash "$ROOT/tests/jvm/lib.sh" "${BASH_SOURCE[0]}" test_disk_full
    }
    mkdir small
    mount -t tmpfs -o size=8m,nr_inodes=3 tmpfs small 2>mount.err || skip "cannot mount: $(cat mount.err)"
    TRACE=$TMP/small/app.otrace
    start_traced "" -Xmx48m -XX:+UseSerialGC Killed counts
    wait_for 60 grep -q ready out
    : >small/filler # the last inode
    run 1 "$ORCA" dump "$jvm" --rotate
    has err "app.002.otrace: cannot create: No space left on device"
    rm small/filler
    run 0 "$ORCA" dump "$jvm" --rotate
    end_with TERM 143
    info small/app.002.otrace
    same "$(value state) $(value damaged) $(value lost_total)" "complete 0 0"
    info "$TRACE"
    same "$(value state) $(value damaged) $(value lost_total)" "complete 0 0"
}

test_flight_recorder() {
    start_traced every=1s,maxsize=4m,full=block -Xmx48m -XX:+UseSerialGC WaitStorm 4 100000000
    wait_for 60 test -e "$TMP/app.003.otrace"
    end_with TERM 143
    for f in $(files); do
        info "$f"
        same "$f $(value state) $(value lost_total) $(value damaged)" "$f complete 0 0"
        at_least 4194304 "$(value bytes)" "bytes of $f"
    done
}

test_attach_and_detach() {
    launch --
    run 0 "$ORCA" attach "$jvm" -o "$TRACE" --every 1s --keep 3
    wait_for 60 test -e "$TMP/app.002.otrace"
    say work worked
    run 1 "$ORCA" attach "$jvm" --every 10m
    has err "is being recorded already, into $TMP/app.00"
    has err "--every and --keep are set when a recording begins; orca dump $jvm --rotate ends this file"
    run 0 "$ORCA" detach "$jvm"
    has err "the recording went through "
    has err " files; this is the last one:"
    at_least 3 "$(ls "$TMP"/app*.otrace | grep -c .)" "files that are kept"
    # what is waiting all the time is so in every file
    "$ORCA" report --all "$(files | tail -n 1)" >report
    rm -f "$TMP"/app*.otrace
    run 0 "$ORCA" attach "$jvm" -o "$TRACE" --every 1s --keep 2 --for 3500ms
    grep -q 'app\.00[2-9]\.otrace: .* events in ' err || fail "$(cat err)"
    # the wait that is begun in the first file is a wait in the others
    rm -f "$TMP"/app*.otrace
    end
}

# A thread that is blocked from before a file until behind it is blocked in it, and who has ended before is not there.
test_waits_across_files() {
    start_traced "" -Xmx48m -XX:+UseSerialGC Across
    wait_for 60 grep -q blocked out
    run 0 "$ORCA" dump "$jvm" --rotate
    sleep 0.3 # the file is to be longer than the moment for which any thread may be blocked
    run 0 "$ORCA" dump "$jvm" --rotate
    run 0 "$ORCA" dump "$jvm" --rotate
    kill -TERM "$jvm"
    wait "$jvm" 2>/dev/null
    "$ORCA" report --json --threads "$TMP/app.002.otrace" >report || fail "orca report"
    grep -o '"name": "stuck".*' report | head -n 1 >stuck
    same "$(grep -o '"blocked_count": [0-9]*' stuck | head -n 1)" '"blocked_count": 1'
    same "$(grep -o '"running_ns": [0-9]*' stuck | head -n 1)" '"running_ns": 0'
    lacks report '"name": "early"'
    "$ORCA" report --all "$TMP/app.002.otrace" >report
    tr -s " \n" " " <report >words
    has words "stuck was still blocked when the file ended, for"
    lacks report "without a timeout" # main sleeps
    "$ORCA" report --all "$TRACE" >report
    "$ORCA" report --json --threads "$TRACE" >report || fail "orca report"
    has report '"name": "early"'
}

test_record() {
    run 0 "$ORCA" record -o "$TRACE" --every 1s --keep 2 -- "$JAVA" -XX:-UsePerfData -cp "$CLASSES" Across 3500
    same "$(grep -c 'app\.[0-9]*\.otrace: .*; look at it: orca report ' err)" 2
    grep -q '[1-9][0-9]* older files\? w[aesre]* removed (--keep)$' err || fail "$(cat err)"
}

test_mistakes() {
    local o
    for o in $(some 2 every=10 keep=1 every=0 every=10ms every=9999999h keep=0 keep=x every=1s,format=orca) keep=3,format=otrace+tptp; do
        run 3 "$JAVA" "$(agent "$o")" -XX:-UsePerfData -cp "$CLASSES" Ends exit 3
        same "$o $(grep -c '^orca: .*the program runs without recording$' err)" "$o 1"
    done
    has err "keep= goes with format=otrace only: record the trace, and make the other formats from its files with orca export"
    run 2 "$ORCA" attach 1 --every 5
    run 2 "$ORCA" attach 1 --keep 1
    run 2 "$ORCA" dump 1 --rotate -o x
    has err "give one of them"
    "$JAVA" "-agentpath:$AGENT=file=texts,format=orca" -XX:-UsePerfData -cp "$CLASSES" Ends wait >out2 2>err2 &
    jvm=$!
    wait_for 60 grep -q contended out2
    run 1 "$ORCA" dump "$jvm" --rotate
    has err "the text formats are made of the whole recording at its end"
    kill -TERM "$jvm"
    wait "$jvm" 2>/dev/null
    run 1 "$ORCA" dump "$jvm" --rotate
}
