# Where the trace goes, what is already there, and disks that are full or cannot be written.
. "$ROOT/tests/jvm/traced.sh"

# The agent with a file= of its own; not quiet.  The JVM's process id is in the file "pid".
to() { # FILE[,OPTIONS] JAVA-ARGUMENT...
    local file=$1
    shift
    sh -c 'echo $$ >pid; exec "$@"' sh "$JAVA" "-agentpath:$AGENT=file=$file" -XX:-UsePerfData -Xmx48m -XX:+UseSerialGC -cp "$CLASSES" "$@"
}

# One line on stderr, with these words; the program itself ran and kept its status.
refused() { # FILE[,OPTIONS] WORD...
    local file=$1 word
    shift
    run 3 to "$file" Ends exit 3
    same "$(cat out)" contended
    same "$(grep -c '' err)" 1
    same "$(cut -c 1-6 err)" "orca: "
    for word in "$@" "the program runs without recording"; do
        has err "$word"
    done
    no_rings "$(cat pid)"
}

# The rest of the test in a name space whose mounts nobody else sees and that vanish with it.
with_mounts() {
    [ "${PRIVATE_MOUNTS:-}" = yes ] && return
    local test how=-m
    unshare $how true 2>/dev/null || how=-rm # not root: in a name space of users of its own
    unshare $how true 2>/dev/null || skip "needs unshare -m (root), or -rm"
    for test in "${FUNCNAME[@]}"; do # not who of its helpers asks
        [ "${test#test_}" = "$test" ] || break
    done
    PRIVATE_MOUNTS=yes exec unshare $how bash "$ROOT/tests/jvm/lib.sh" "${BASH_SOURCE[0]}" "$test"
}
disk() { # SIZE DIRECTORY
    mkdir -p "$2"
    mount -t tmpfs -o size="$1" tmpfs "$2" 2>mount.err || skip "cannot mount: $(cat mount.err)"
}

storm_waits() {
    echo "$(matching ' storm-[0-9] wait_enter .* class=WaitStorm\$Old ')" \
        "$(matching ' storm-[0-9] wait_exit .* class=WaitStorm\$Old ')"
}

# --- the name -----------------------------------------------------------------------------------

test_no_directory() {
    refused none/x.otrace "$TMP/none/x.otrace" "No such file or directory"
    touch file
    refused file/x.otrace "$TMP/file/x.otrace" "Not a directory"
    same "$(ls)" "err
file
out
pid"
}

test_a_directory_is_left_alone() {
    mkdir there
    touch there/precious
    refused there "$TMP/there" "not an Orca trace"
    same "$(ls there)" precious
}

test_a_foreign_file_is_left_alone() {
    echo precious >app.otrace
    refused app.otrace "$TMP/app.otrace" "not an Orca trace" "file="
    same "$(cat app.otrace)" precious
    ln -s app.otrace link
    refused link "$TMP/link" "not an Orca trace"
    mkfifo pipe
    refused pipe "$TMP/pipe" "not an Orca trace"
}

test_a_complete_trace_is_replaced() {
    run 0 to app.otrace Ends return
    info
    local first
    first=$(value pid)
    run 0 to app.otrace Ends return
    info
    [ "$(value pid)" != "$first" ] || fail "the old trace is still there"
    same "$(ls ./*.otrace)" ./app.otrace
    : >app.otrace # nor is an empty file a loss; a fresh one may be another JVM's
    touch -d '1 minute ago' app.otrace
    run 0 to app.otrace Ends return
    good_trace complete
}

# What a killed JVM left is not thrown away before somebody has completed it.
test_an_unfinished_trace_is_kept() {
    start_traced "" -Xmx48m Ends wait
    wait_for 60 grep -q contended out
    end_with KILL 137
    local killed=$jvm other
    run 0 to app.otrace Ends return
    has err "app.otrace is the unfinished trace of a killed JVM: recording to $TMP/app-"
    other=$(ls "$TMP"/app-*.otrace)
    info
    same "$(value pid) $(value state)" "$killed recovered"
    info "$other"
    same "$(value state)" complete
}

test_two_jvms_with_one_name() {
    start_traced "" -Xmx48m Ends wait
    wait_for 60 grep -q contended out
    local first=$jvm
    "$JAVA" "$(agent "" | sed s/,quiet//)" -Xmx48m -cp "$CLASSES" Ends return >out2 2>err2 || fail "status $?"
    has err2 "app.otrace is being recorded by another JVM: recording to $TMP/app-"
    end_with TERM 143
    good_trace complete
    same "$(value pid)" "$first"
    info "$(ls "$TMP"/app-*.otrace)"
    same "$(value state) $(value damaged)" "complete 0"
    same "$(ls ./*.otrace | grep -c '')" 2
}

# All alive at the same time: each has a trace of its own, and it is whole.
test_many_jvms_at_once_with_one_name() {
    local i pids=()
    for i in 1 2 3 4 5 6; do
        "$JAVA" "$(agent "")" -Xmx32m -XX:+UseSerialGC -cp "$CLASSES" Ends wait >out$i 2>&1 &
        pids+=($!)
    done
    for i in 1 2 3 4 5 6; do
        wait_for 50 grep -q contended out$i
    done
    kill -TERM "${pids[@]}"
    wait "${pids[@]}" 2>/dev/null
    same "$(ls ./*.otrace | grep -c '')" 6
    for i in ./*.otrace; do
        info "$i"
        same "$(value state) $(value lost_total) $(value damaged)" "complete 0 0"
        value pid >>named
    done
    same "$(sort -n named | tr '\n' ' ')" "$(printf '%s\n' "${pids[@]}" | sort -n | tr '\n' ' ')"
}

test_pid_time_and_percent() {
    local before after stamp
    before=$(date +%Y%m%d-%H%M%S)
    run 0 to 'a-%p-%t-100%%.otrace' Ends return
    after=$(date +%Y%m%d-%H%M%S)
    # shellcheck disable=SC2010 # our own names
    stamp=$(ls | sed -n 's/^a-[0-9]*-\([0-9]*-[0-9]*\)-100%\.otrace$/\1/p')
    [[ ! $stamp < $before && ! $stamp > $after ]] || fail "the time is $stamp, not from $before to $after"
    info a-*.otrace
    [ -e "a-$(value pid)-$stamp-100%.otrace" ] || fail "another pid: $(ls)"
}

test_odd_names() {
    run 0 to 'a b\,c.otrace' Ends return
    info 'a b,c.otrace'
    run 0 to "Grüße 世界'\"\$.otrace" Ends return
    info "Grüße 世界'\"\$.otrace"
    same "$(value state)" complete
    mkdir 'x\,y' 'p,q'
    run 0 to 'p\,q/a\\b.otrace' Ends return
    info 'p,q/a\b.otrace'
    local long
    long=$(printf 'd%.0s' $(seq 300))
    refused "$long.otrace" "File name too long"
    refused "$(printf "$long/%.0s" 1 2 3 4 5)x.otrace" "too long"
}

test_default_name() {
    run 0 "$JAVA" "-agentpath:$AGENT" -cp "$CLASSES" Ends return
    info orca-[0-9]*.otrace
    [ -e "orca-$(value pid).otrace" ] || fail "$(ls)"
    has err "orca-$(value pid).otrace: "
    has err "none lost; look at it: orca report "
    same "$(grep -c '' err)" 1
}

test_private() {
    (umask 0 && run 0 to app.otrace Ends return) || exit
    same "$(stat -c %a app.otrace)" 600
}

# --- children -----------------------------------------------------------------------------------

test_children_with_traces_of_their_own() {
    local agent="-agentpath:$AGENT=file=child-%p.otrace,quiet"
    for launch in POSIX_SPAWN FORK VFORK; do
        [ $launch = POSIX_SPAWN ] || [ "$JDK_MAJOR" -lt 25 ] || [ "$LONG" != 0 ] || continue
        rm -f ./*.otrace
        run 0 traced "" -Djdk.lang.Process.launchMechanism=$launch Children "$JAVA" "$agent" -cp "$CLASSES"
        same "$(grep -v VFORK out)" "child 0
child 0"
        good_trace complete
        events
        same "$(matching ' blocker monitor_contended_enter .* owner=main ')" 2
        same "$(ls child-*.otrace | grep -c '')" 2
        for t in child-*.otrace; do
            good_trace_of "$t"
        done
    done
}
good_trace_of() { # TRACE
    info "$1"
    same "$(value state) $(value lost_total) $(value damaged)" "complete 0 0"
    no_rings "$(value pid)"
    "$ORCA" events "$1" >events
    same "$(matching ' blocker monitor_contended_enter .* owner=main ')" 1
}

# A child that is not a JVM holds nothing of the recording: neither its files nor its rings.
# The rings' file was made without a name: /proc goes on calling it "/dev/shm/#INODE (deleted)".
test_a_child_inherits_nothing() {
    cat >look <<'END'
ls -l /proc/self/fd /proc/$PPID/fd >fds 2>/dev/null
grep -c '/dev/shm/' /proc/self/maps >maps
END
    run 0 traced "" Children /bin/sh "$TMP/look"
    at_least "$(grep -c '/dev/shm/' fds)" 1 "rings of the JVM itself"
    same "$(sed -n '/self/,/^$/p' fds | grep -c 'otrace\|/dev/shm/')" 0
    same "$(cat maps)" 0
    good_trace complete
}

# --- full disks ---------------------------------------------------------------------------------

test_read_only_disk() {
    with_mounts
    disk 1m ro
    mount -o remount,ro ro || skip "cannot remount"
    refused ro/x.otrace "$TMP/ro/x.otrace" "Read-only file system"
}

# Recording stops with one line, the program does not notice, and what there is can be read.
test_full_disk() {
    with_mounts
    disk 2m full
    run 0 to "$TMP/full/app.otrace,ringdir=/dev/shm" WaitStorm 2 300000
    same "$(cat out)" "waits 600000"
    same "$(grep -c 'recording stopped' err)" 1
    has err "full/app.otrace"
    has err "No space left on device"
    same "$(grep -vc '^orca: ' err)" 0
    at_least 3 "$(grep -c '' err)" "lines"
    info full/app.otrace
    same "$(value state) $(value damaged)" "stopped 0"
    at_least "$(value events_total)" 50000 "events of a 2 MiB file"
    at_least "$(value lost_total)" 1 "lost events, counted"
    no_rings "$(value pid)"
    TRACE=$TMP/full/app.otrace events
    at_least "$(matching ' storm-[01] wait_enter .* class=WaitStorm\$Old .* at=WaitStorm\.')" 25000 waits
    "$ORCA" report --all full/app.otrace >report || fail "orca report"
}

# A storm on a disk that is about to be full: until the rings are full, too, and events are lost for it.
fill_disk() {
    with_mounts
    disk 2m full
    head -c 1700000 /dev/zero >full/filler
    TRACE=$TMP/full/app.otrace
    start_traced "ringdir=/dev/shm,ring=64k" -Xmx48m -XX:+UseSerialGC WaitStorm 2 100000000
    wait_for 60 eval '"$ORCA" status "$jvm" --json | grep -q "\"write\": [1-9]"'
}
free_disk() {
    rm full/filler
    mount -o remount,size=1g full || skip "cannot remount"
}
# What all say of it: each in its words the same, that so many events were lost.
says_so() { # STATE
    local lost
    info
    same "$(value state) $(value damaged)" "$1 0"
    lost=$(grep -A 1 '"to_ns"' info | sed -n 's/.*"lost": //p')
    at_least "$lost" 1 "events lost for the disk"
    same "$(grep -c '"to_ns"' info)" 1
    # The threads may find their rings full while that is being written, and go on losing until there is room in them.
    at_least "$(value write)" "$lost" "events lost for the disk in all"
    at_least $((lost + lost / 50 + 2)) "$(value write)" "events lost at a known time, of all lost for the disk"
    events -k unwritten
    same "$(matching " lost=$lost\$")" 1
    "$ORCA" info "$TRACE" >info.text || fail "orca info"
    has info.text "its disk was full for "
    "$ORCA" report --all "$TRACE" >report || fail "orca report"
    tr -s ' \n' ' ' <report >words
    has words "$(echo "$lost" | sed -e :a -e 's/\(.*[0-9]\)\([0-9]\{3\}\)/\1,\2/;ta') events of that time were lost"
    has words "write: the trace file could not be written; make room on its disk"
    "$ORCA" report "$TRACE" --json >report.json || fail "orca report --json"
    same "$(tr -d ' \n' <report.json | grep -c '"unwritten":\[{"from":[0-9]*,"to":[0-9]*,"lost":'"$lost}]")" 1
}

test_full_disk_that_is_free_again() {
    fill_disk
    has err "full/app.otrace: writing at offset "
    has err "No space left on device: events are buffered in memory until there is space"
    run 0 "$ORCA" status "$jvm"
    has "$TMP/out" "nothing can be written now: "
    run 1 "$ORCA" attach "$jvm" --for 1ms
    has "$TMP/err" "make room on its disk"
    run 0 "$ORCA" top "$jvm" --batch --count 1
    has "$TMP/out" "the trace cannot be written"
    free_disk
    wait_for 60 eval '"$ORCA" status "$jvm" --json | grep -q "\"unwritten_now\": null"'
    run 0 "$ORCA" status "$jvm"
    has "$TMP/out" "full disk   1 time, "
    run 0 "$ORCA" detach "$jvm"
    has "$TMP/err" ", its disk was full for "
    kill -KILL "$jvm"
    says_so complete
    events
    # before, and long after
    same "$(awk '
        $3 == "unwritten" { over = $1 }
        $3 == "wait_enter" { before += !over; after += over && 1 }
        END { print (before > 1000), (after > 1000) }' events)" "1 1"
}

# A copy to another disk has what the full one has, and what waits in memory.
test_dump_while_the_disk_is_full() {
    fill_disk
    run 0 "$ORCA" dump "$jvm" -o "$TMP/copy.otrace"
    run 0 "$ORCA" status "$jvm"
    has out "nothing can be written now: "
    info "$TMP/copy.otrace"
    same "$(value damaged)" 0
    TRACE=$TMP/copy.otrace events
    local copied
    copied=$(matching ' storm-[01] wait_enter .* class=WaitStorm\$Old ')
    TRACE=$TMP/full/app.otrace events
    at_least "$copied" $(($(matching ' storm-[01] wait_enter .* class=WaitStorm\$Old ') + 1)) "waits in the copy"
    "$ORCA" report --all "$TMP/copy.otrace" >report || fail "orca report"
    run 1 "$ORCA" dump "$jvm" -o "$TMP/full/copy.otrace"
    has err "No space left on device"
    free_disk
    end_with KILL 137
    run 0 "$ORCA" info "$TRACE" # which recovers it
    no_rings "$jvm"
}

test_killed_while_the_disk_is_full() {
    fill_disk
    end_with KILL 137
    run 0 "$ORCA" info "$TRACE"
    has "$TMP/err" "No space left on device"
    free_disk
    says_so recovered
    no_rings "$jvm"
}

test_killed_when_the_disk_is_free_again() {
    fill_disk
    free_disk
    wait_for 60 eval '"$ORCA" status "$jvm" --json | grep -q "\"unwritten_now\": null"'
    end_with KILL 137
    says_so recovered
    no_rings "$jvm"
}

# What a program does that does little fits into memory: nothing is lost, and the one line at the end says so.
test_full_disk_and_a_quiet_program() {
    with_mounts
    disk 1m full
    mkfifo in
    set -m
    : >java.out
    "$JAVA" "-agentpath:$AGENT=file=$TMP/full/app.otrace,ringdir=/dev/shm" -Xmx48m -XX:+UseSerialGC -cp "$CLASSES" Attachable \
        <in >java.out 2>java.err &
    jvm=$!
    exec 9>in
    wait_for 60 grep -q '^ready' java.out
    head -c 1048576 /dev/zero >full/filler 2>/dev/null
    wait_for 60 eval 'echo work >&9; grep -q "buffered in memory until there is space" java.err'
    rm full/filler
    wait_for 60 grep -q 'full/app.otrace: written again after .*; nothing was lost' java.err
    echo end >&9
    wait "$jvm" || fail "the program ended with $?"
    grep -q 'full/app.otrace: [0-9,]* events in .*, none lost, its disk was full for .*; look at it: orca report ' java.err || fail "$(cat java.err)"
    TRACE=$TMP/full/app.otrace
    good_trace complete
    "$ORCA" report --all "$TRACE" | tr -s ' \n' ' ' >words
    has words "of the recording: nothing was lost, events were written later"
}

test_disk_that_is_full_from_the_start() {
    with_mounts
    disk 64k full
    head -c 65536 /dev/zero >full/rest 2>/dev/null
    refused "$TMP/full/app.otrace" "$TMP/full/app.otrace" "No space left on device"
    same "$(ls full)" rest
}

test_full_shared_memory() {
    with_mounts
    disk 64k /dev/shm
    head -c 65536 /dev/zero >/dev/shm/rest 2>/dev/null
    # the rings are beside the trace instead, and gone at the end
    run 0 to app.otrace WaitStorm 2 1000
    same "$(cat out)" "waits 2000"
    good_trace complete
    events
    same "$(storm_waits)" "2000 2000"
    same "$(ls ./*.rings 2>/dev/null)" ""
    mount -o remount,ro /dev/shm || skip "cannot remount"
    run 0 to app.otrace WaitStorm 2 1000
    good_trace complete
    start_traced "" -Xmx48m Ends wait
    wait_for 60 grep -q contended out
    at_least "$(ls ./*.rings | grep -c '')" 1 "rings beside the trace"
    end_with KILL 137
    good_trace recovered
    same "$(ls ./*.rings 2>/dev/null)" ""
    # no room for them there, either
    disk 1m small
    refused "$TMP/small/app.otrace" "shared memory" "ringdir="
}

# Rings that cannot grow lose events, and count them; touching them must not kill the JVM.
test_small_shared_memory() {
    with_mounts
    disk 3m /dev/shm
    run 0 to app.otrace -Xss256k ManyThreads 2000 alive
    same "$(tail -n 1 out)" "passed 2000"
    run 0 to app.otrace WaitStorm 4 20000
    same "$(cat out)" "waits 80000"
    no_crash
    info
    same "$(value state) $(value damaged)" "complete 0"
    same "$((80000 - $(value wait_enter) + 80000 - $(value wait_exit) <= $(value lost_total)))" 1
}

test_ring_directory() {
    mkdir rings
    start_traced "ringdir=$TMP/rings" Ends wait
    wait_for 60 grep -q contended out
    same "$(ls rings | grep -c '')" 1
    end_with TERM 143
    good_trace complete
    same "$(ls rings)" ""
    start_traced "ringdir=$TMP/rings" Ends wait
    wait_for 60 grep -q contended out
    end_with KILL 137
    good_trace recovered
    same "$(ls rings)" ""
    refused app2.otrace,ringdir=/none/such /none/such "No such file"
    refused app2.otrace,ringdir=/proc /proc "cannot make the rings"
    [ ! -e app2.otrace ] || fail "a trace without rings is left"
}

# --- limits -------------------------------------------------------------------------------------

# The newest part in 4 MiB: the last event is there, the first of the storm are not, and all names resolve.  (Main does little:
# what it did before the storm may be written, and kept, late.)
check_flight() { # STATE
    info
    same "$(value state) $(value lost_total) $(value damaged)" "$1 0 0"
    [ "$(value bytes)" -le $((4400 * 1024)) ] || fail "the file has $(value bytes) bytes"
    at_least "$(value bytes)" 2000000 "bytes of the window"
    events
    # enough waits · waits without their names · newest's enter · its entered · unresolved names · a start that is gone
    same "$(awk '
        / storm-[0-3] wait_(enter|exit) lock=[0-9]* class=WaitStorm\$Old / { named++; enters += $3 == "wait_enter" }
        / wait_(enter|exit) / && $2 ~ /^storm/ { waits++ }
        / newest monitor_contended_enter .* class=WaitStorm\$Newest .* owner=main .* at=WaitStorm\./ { enter++ }
        / newest monitor_contended_entered / { entered++ }
        / storm-.*(lock|at)=\?/ || $2 ~ /^[#?]/ && $3 !~ /^recording/ { bad++ }
        $2 ~ /^storm/ && $3 == "thread_start" { starts++ }
        END { print (enters > 50000), waits - named, enter, entered, bad + 0, (starts < 4) }' events)" "1 0 1 1 0 1"
    # kept and overwritten events are all there were
    at_least "$(value evicted_total)" 100000 "evicted events"
    at_least $(($(value wait_enter) + $(value wait_exit) + $(value evicted_total))) 1200000 "events in all"
}

test_flight_recorder() {
    run_traced 0 maxsize=4m,full=block -Xmx48m WaitStorm 4 150000
    same "$(cat out)" "waits 600000"
    check_flight complete
}

# Rings of one page, a storm: everything is there, and in each thread's order.
test_block_loses_nothing() {
    run_traced 0 full=block,ring=2k,ringmem=1m -Xmx48m WaitStorm 4 20000
    same "$(cat out)" "waits 80000"
    events
    same "$(storm_waits)" "80000 80000"
    same "$(awk '$2 ~ /^storm-/ && $3 == "wait_enter" { if (n[$2]++) print "twice: " $0 }
        $2 ~ /^storm-/ && $3 == "wait_exit" { if (--n[$2]) print "out of order: " $0 }' events | head)" ""
}

# The same rings without full=block: what is lost is counted, event by event.
test_drop_counts_every_loss() {
    run 0 traced full=drop,ring=2k,ringmem=1m,events=threads+waits -Xmx48m WaitStorm 4 50000
    same "$(cat out)" "waits 200000"
    info
    same "$(value state) $(value damaged)" "complete 0"
    at_least "$(value lost_total)" 1 "losses"
    same "$(($(value wait_enter) + $(value wait_exit) + $(value lost_total) >= 400000))" 1
    same "$(($(value wait_enter) + $(value wait_exit) + $(value lost_total) <= 400100))" 1
    # where they are missing is in the trace, too, except at the very end of a thread whose ring is full
    local noted
    events -k lost
    noted=$(awk '{ split($NF, n, "="); sum += n[2] } END { printf "%d", sum }' events)
    at_least "$(value lost_total)" "$noted" "counted, of $noted noted"
    at_least "$noted" $(($(value lost_total) * 9 / 10)) "noted in the events"
}

# It ends by itself; the program goes on, and its end adds nothing. Whoever ends it says which waits go on.
test_duration() {
    local bytes control seconds
    for control in on off; do
        for seconds in 1 8 64; do # until main sleeps in the recording: a busy machine starts a JVM for longer than a second
            rm -f "$TRACE"
            start_traced duration=${seconds}s,control=$control -Xmx48m Ends wait
            wait_for 60 grep -q contended out
            wait_for 120 eval '"$ORCA" info "$TRACE" | grep -q "^state  *complete"'
            good_trace complete
            bytes=$(value bytes)
            kill -0 "$jvm" || fail "the JVM has ended"
            events -k wait_open
            [ "$(matching '^[^ ]* main wait_open kind=sleep_enter ')" = 0 ] || break
            end_with TERM 143
        done
        same "$control $(matching "^[^ ]* main wait_open kind=sleep_enter ")" "$control 1"
        end_with TERM 143
        good_trace complete
        same "$(value bytes)" "$bytes"
        at_least "$(value duration_ns)" 1000000000 "ns recorded"
    done
}

# A file that lost its end somewhere on its way is not complete, and nobody knows what it lost.
test_cut() {
    run_traced 0 '' Contention
    head -c $(($(stat -c %s "$TRACE") * 2 / 3)) "$TRACE" >cut.otrace
    run 1 "$ORCA" info cut.otrace
    grep -q '^state  *damaged: ' out || fail "$(cat out)"
    grep -q '^losses  *unknown: ' out || fail "$(cat out)"
    run 1 "$ORCA" info --json cut.otrace
    mv out info
    same "$(value state)" damaged
    at_least "$(value damaged)" 1 "damaged parts"
}
