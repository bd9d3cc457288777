# Who the threads are: names, groups, flags; many of them; their ends.
. "$ROOT/tests/jvm/traced.sh"

threads() {
    "$ORCA" report --json --threads "$TRACE" >report 2>report.err || fail "orca report: $(cat report.err)"
}
# The line of the threads section whose name is that.
thread_is() { # NAME PATTERN...
    local line pattern
    line=$(grep -F "\"name\": \"$1\"" report)
    [ -n "$line" ] || fail "no thread is called $1"
    shift
    for pattern; do
        printf '%s' "$line" | grep -qE -- "$pattern" || fail "$pattern is not in: $line"
    done
}

test_names_groups_and_flags() {
    run_traced 0 "" Threads
    threads
    thread_is worker-1 '"daemon": false' '"virtual": false' '"started": [0-9]' '"ended": [0-9]'
    thread_is servant '"daemon": true' '"ended": [0-9]'
    thread_is immortal-2 '"group": "outer"' '"daemon": true' '"started": [0-9]' '"ended": null'
    thread_is third '"daemon": false'
    thread_is late-renamed '"blocked_count": [12]' # two: the initialization of a class, too
    thread_is main-renamed '"daemon": false'
    thread_is "blank name"
    thread_is "Grüße-世界-😀"
    thread_is 'new\nline'
    thread_is "Reference Handler" '"group": "system"' '"daemon": true'
    for gone in first second immortal main late; do
        same "$(grep -cF "\"name\": \"$gone\"" report)" 0
    done
    events
    same "$(matching ' blank_name thread_(start|end)$')" 2
    same "$(matching ' new_line thread_start$')" 1
    same "$(matching ' Grüße-世界-😀 thread_end$')" 1
    same "$(matching ' nnnnnnnn')" 2
    # main may have let the lock go when the owner is looked up
    same "$(matching ' late-renamed monitor_contended_enter ' ' class=java.lang.Object ' ' owner=(main-renamed .*owner_gone=0|\? .*owner_gone=1)')" 1
}

# The JVM takes a thread out of its group before it announces the end.
test_group_of_a_thread_that_has_ended() {
    run_traced 0 "" Threads
    threads
    thread_is worker-1 '"group": "inner"'
    thread_is servant '"group": "main"'
    thread_is third '"group": "main"'
    thread_is main-renamed '"group": "main"'
}

test_a_start_and_an_end_for_each() {
    run_traced 0 "" ManyThreads 500 briefly
    same "$(tail -n 1 out)" "passed 500"
    events
    same "$(matching ' t-[0-9]+ thread_start$')" 500
    same "$(matching ' t-[0-9]+ thread_end$')" 500
    same "$(awk '$2 ~ /^t-/ && $3 == "thread_start" { n[$2]++ } END { for (t in n) if (n[t] != 1) print t }' events)" ""
    # in order: nothing before the start; behind the end only what the JVM does with the Thread object,
    # to wake those who join
    same "$(awk '$2 ~ /^t-/ {
        if ($3 == "thread_start") on[$2] = 1
        else if (!on[$2] && !/ class=java.lang.Thread /) print
        if ($3 == "thread_end") on[$2] = 0
    }' events)" ""
}

# Ten thousand rings of 2 KiB and their controls are 22 MiB, whatever happens they stay below 80.
test_ten_thousand_threads_alive() {
    run_traced 0 "" -Xmx256m ManyThreads 10000 alive
    same "$(tail -n 1 out)" "passed 10000"
    events
    same "$(matching ' t-[0-9]+ thread_start$')" 10000
    same "$(matching ' t-[0-9]+ monitor_contended_enter .* class=ManyThreads\$Lock .* owner=main ')" 10000
    same "$(matching ' t-[0-9]+ monitor_contended_entered .* class=ManyThreads\$Lock ')" 10000
    same "$(matching ' t-[0-9]+ thread_end$')" 10000
    same "$(matching ' thread_start_called target=t-')" 10000
    same "$(matching ' thread_start_called target=\?')" 0
    read -r _ before _ <<<"$(grep '^before ' out)"
    read -r _ with _ <<<"$(grep '^with ' out)"
    echo "shared memory: $before KiB, with 10,000 threads $with KiB"
    [ $((with - before)) -lt 80000 ] || fail "10,000 threads take $((with - before)) KiB of rings"
}

# Those that are gone give their memory back.
test_ten_thousand_threads_one_after_the_other() {
    run_traced 0 ringmem=8m -Xmx64m ManyThreads 10000 briefly
    same "$(tail -n 1 out)" "passed 10000"
    events
    same "$(matching ' t-[0-9]+ thread_start$')" 10000
    same "$(matching ' t-[0-9]+ thread_end$')" 10000
    read -r _ after _ <<<"$(grep '^after ' out)"
    [ "$after" -lt 10000 ] || fail "10,000 threads that are gone hold $after KiB of rings"
}

# Its last contention belongs to it, and nothing is left of it: no unknown thread, no ring.
test_contention_after_the_end_was_announced() {
    run_traced 0 "" Endings 20 12
    threads
    same "$(grep -cE '"name": "(\?|)"' report)" 0
    same "$(grep -c '"id": 4294967295' report)" 0
    same "$(grep -c '"virtual": true' report)" 0
    events
    same "$(matching '^[^ ]* (#[0-9]+|\?) (monitor|wait|thread)_')" 0
    same "$(matching 'owner=#')" 0
    "$ORCA" report --all "$TRACE" >text || fail "orca report"
    lacks text unnamed
}

# What such a thread took is given back: 1,200 rings do not fit into these 2 MiB.
test_rings_of_threads_that_block_in_their_end() {
    run_traced 0 ringmem=2m -Xmx64m Endings 1200 0
}

# Threads end while others look for owners among them, under every collector.
test_churn() {
    local gc n=0
    for gc in UseG1GC UseParallelGC UseSerialGC UseZGC UseShenandoahGC; do
        "$JAVA" -XX:+$gc -version >/dev/null 2>&1 || continue
        n=$((n + 1))
        [ "$LONG" != 0 ] || [ $((n % 2)) = $((JDK_MAJOR % 2)) ] || continue
        run_traced 0 "" -Xmx96m -XX:+$gc Owners 0 $([ "$LONG" = 0 ] && echo 1500 || echo 8000)
        check_owners out
        echo "$gc: $(cat owners)"
        same "$(cut -d ' ' -f 10 owners) $(cat owners.err)" "0 "
    done
}

# Threads made in C that attach themselves: a start and an end for each time, under the name of that time.
test_native_threads() {
    ${CC:-cc} -shared -fPIC -O1 -pthread -I"$JNI_INCLUDE" -I"$JNI_INCLUDE/linux" -o libnative.so \
        "$ROOT/tests/jvm/native_threads.c" || fail "cannot build"
    local rounds=250
    [ "$LONG" = 0 ] || rounds=5000
    local access=
    [ "$JDK_MAJOR" -lt 24 ] || access=--enable-native-access=ALL-UNNAMED
    run_traced 0 "" $access -Xmx64m NativeThreads 4 $rounds "$TMP/libnative.so"
    same "$(cat out)" "failed 0 passed $((4 * rounds))"
    events
    same "$(matching ' native-[0-3]-[0-9]+ thread_start$')" $((4 * rounds))
    same "$(matching ' native-[0-3]-[0-9]+ thread_end$')" $((4 * rounds))
    at_least "$(matching ' native-[0-3]-0 monitor_contended_enter .* owner=native-[0-3]-0 ')" 1 contentions
    same "$(matching '^[^ ]* (#[0-9]+|\?) (monitor|wait|thread)_')" 0
    threads
    thread_is native-0-0 '"daemon": false' '"virtual": false'
    thread_is native-1-0 '"daemon": true'
}

# A thread is the same one, by its hash, before it is started and after.
test_join_of_a_thread_that_was_not_started() {
    run 0 "$JAVA" -agentpath:"$AGENT"=file=app,format=orca,quiet -cp "$CLASSES" Unstarted
    local hash
    hash=$(cat out)
    # both joins, begin and end; the other events of the thread may come in any order
    same "$(grep -cE ",ThreadJoin(ed)?,[0-9A-F]{8},$hash," app.orca)" 4
    same "$(grep -cE ",ThreadJoin(ed)?," app.orca)" 4
    same "$(grep -cE ",ThreadStart,[0-9A-F]{8},$hash,|,ThreadStarted,$hash,late$|,ThreadEnded,$hash$" app.orca)" 3
}
