# orca attach, detach, status and dump, with a program that knows what its threads do (Attachable.java).
# timeout: 240
. "$ROOT/tests/jvm/traced.sh"

finish() {
    leave_no_jvm
}

# The program in the background, ready: "jvm" is its pid; it obeys lines written to descriptor 9.
launch() { # JVM-OPTION... -- [ARGUMENT...]
    launch_told Attachable "$@"
}

end() {
    say end sum
    wait "$jvm" || fail "the program ended with $?"
    no_crash
    same "$(sed -n 's/^sum \(.*\) of /\1 /p' java.out | awk '{ print $1 == $2 }')" 1
    no_rings "$jvm"
}

attach() { # ARGUMENT...
    run 0 "$ORCA" attach "$jvm" -o "$TRACE" "$@"
}

detach() {
    run 0 "$ORCA" detach "$jvm"
    good_trace complete
}

test_waits_under_way() {
    launch --
    attach --for 1s
    has err "is being recorded into $TRACE for 1.00 s"
    has err 'app.otrace: '
    good_trace complete
    events
    same "$(matching "^[^ ]* stuck wait_found kind=monitor_contended_enter lock=[0-9]+ class=java.lang.Object .*owner=holder .* at=Attachable\..*:$(site Attachable.java stuck)\)")" 1
    same "$(matching "^[^ ]* waiter wait_found kind=wait_enter lock=[0-9]+ class=java.lang.String .* at=Attachable\..*:$(site Attachable.java waiter)\)")" 1
    same "$(matching "^[^ ]* parked wait_found kind=park_enter lock=[0-9]+ class=java.util.concurrent.locks.ReentrantLock.NonfairSync .*owner=locker .* at=Attachable\..*:$(site Attachable.java parked)\)")" 1
    same "$(matching "^[^ ]* sleeper wait_found kind=sleep_enter .* at=Attachable\..*:$(site Attachable.java sleeper)\)")" 1
    # once when everything is recorded, and at the end; the end of a sleep would not have been seen
    for t in stuck waiter parked sleeper holder; do
        same "$t $(matching "^[^ ]* $t wait_open ")" "$t $([[ $t = sleeper || $t = holder ]] && echo 1 || echo 2)"
        same "$t $(matching "^[^ ]* $t thread_alive")" "$t 1"
    done
    same "$(matching '^[^ ]* main wait_found')" 0
    "$ORCA" report --all "$TRACE" >report || fail "orca report"
    grep -q "^stuck " report || fail "the report does not know who is stuck: $(cat report)"
    end
}

# Whether the waits have a time limit is known of those, too, that began before; Orca's own threads are none of the program's.
test_waits_with_a_limit() {
    local how
    for how in limited unlimited; do
        set -m
        : >java.out
        "$JAVA" -Xmx64m -XX:-UsePerfData -cp "$CLASSES" Patient $how >java.out 2>java.err &
        jvm=$!
        wait_for 60 grep -q '^ready' java.out
        rm -f "$TRACE"
        # whoever is seen to wait for less than 100 ms is not stuck, however long it may have waited before
        attach --for 1s
        good_trace complete
        kill -KILL "$jvm"
        wait "$jvm" 2>/dev/null
        "$ORCA" report --all "$TRACE" >report || fail "orca report"
        same "$how $(grep -c 'waits without a timeout, for' report)" "$how $([ $how = limited ] && echo 0 || echo 1)"
        events
        same "$how $(matching '^[^ ]* (main|waiter|parked) wait_found .* limit=[12]')" "$how 3"
        same "$how $(matching '^[^ ]* (main|waiter|parked) wait_open .* limit=[12]')" "$how $([ $how = limited ] && echo 4 || echo 6)"
    done
}

# An object that was known by its hash only is the same one when a thread comes by with it.
# Methods that were on the stack before their classes were rewritten have their lines afterwards, too.
test_waits_that_end() {
    launch --
    attach -e all
    say release released
    detach
    events
    local lock
    lock=$(sed -n 's/^[^ ]* stuck wait_found .* lock=\([0-9]*\) .*/\1/p' events)
    same "$(matching "^[^ ]* stuck monitor_contended_entered lock=$lock class=java.lang.Object ")" 1
    same "$(matching "^[^ ]* waiter wait_found .* at=Attachable\..*:$(site Attachable.java waiter)\)")" 1
    same "$(matching "^[^ ]* waiter wait_enter .* at=Attachable\..*:$(site Attachable.java again)\)")" 1
    end
}

test_what_happens_then() {
    launch --
    attach -e all
    has err "orca detach $jvm ends it"
    say work worked
    detach
    events
    same "$(matching '^[^ ]* main semaphore_acquire_enter ') $(matching '^[^ ]* main semaphore_acquire_exit ') $(matching '^[^ ]* main semaphore_release ')" "10 10 10"
    same "$(matching '^[^ ]* main notify_all .* class=java.lang.Object ')" 5
    same "$(matching '^[^ ]* main thread_start_called target=child ')" 1
    same "$(matching '^[^ ]* main join_enter target=child ') $(matching '^[^ ]* main join_exit target=child ')" "1 1"
    same "$(matching '^[^ ]* child thread_start$') $(matching '^[^ ]* child thread_end$')" "1 1"
    at_least "$(matching '^[^ ]* main unpark target=parked ')" 1 unparks
    same "$(matching '^[^ ]* parked park_enter .*owner=locker ')" 1
    # and nothing is left of it
    say work worked
    run 1 "$ORCA" detach "$jvm"
    has err "JVM $jvm (Attachable) is not recorded by Orca; to record it: orca attach $jvm"
    end
}

# Again and again, while many threads contend: the classes are as they were, and nothing piles up.
# Frames that are on the stack when their class is rewritten keep their lines: they go on in the old code.
test_lines_while_code_is_rewritten() {
    launch_told Rewritten --
    attach -e waits
    wait_for 60 eval '[ "$(stat -c %s "$TRACE")" -gt 0 ]'
    wait_for 60 eval '[ "$("$ORCA" status "$jvm" --json | sed -n "s/.*\"events\": \([0-9]*\).*/\1/p")" -gt 200 ]'
    run 0 "$ORCA" attach --on alloc+holds "$jvm"
    wait_for 60 eval '[ "$("$ORCA" status "$jvm" --json | sed -n "s/.*\"events\": \([0-9]*\).*/\1/p")" -gt 1000 ]'
    detach
    echo >&9
    wait "$jvm" || fail "the program ended with $?"
    no_crash
    "$ORCA" events -s -k wait_enter,hold "$TRACE" >events || fail "events"
    call=$(grep -n 'site: call' "$ROOT/tests/jvm/Rewritten.java" | cut -d : -f 1)
    same "$(grep -o 'at Rewritten.main(.*)' events | sort -u)" "at Rewritten.main(Rewritten.java:$call)"
    at_least "$(grep -c ' main wait_enter ' events)" 300 waits
    at_least "$(grep -c ' main hold ' events)" 50 holds
}

# The kernel drops turns while Orca's thread has no processor, as beside other programs; nothing else may be lost.
detach_from_many() {
    run 0 "$ORCA" detach "$jvm"
    info
    same "$(jq -r '"\(.state) \(.lost_total - (.losses.turn // 0)) \(.damaged)"' info)" "complete 0 0"
    no_rings "$jvm"
}

test_cycles_under_load() {
    local n rss
    n=$(some 1 10 25 | tail -n 1)
    [ "$LONG" = 0 ] || n=100
    ${CC:-cc} -shared -fPIC -O1 -I"$JNI_INCLUDE" -I"$JNI_INCLUDE/linux" -o libbytecodes.so \
        "$ROOT/tests/jvm/bytecodes.c" || fail "cannot build bytecodes.c"
    launch -- 200 "$PWD/libbytecodes.so"
    say code code
    for i in $(seq 1 $n); do
        rm -f "$TRACE"
        attach -e all
        [ "$i" != 2 ] || say code code
        detach_from_many
        [ "$i" != 1 ] || say kept kept
        if [ "$i" = 5 ]; then
            rss=$(awk '/^VmRSS/ { print $2 }' "/proc/$jvm/status")
            ls "/proc/$jvm/fd" | wc -l >fds
        fi
    done
    events
    at_least "$(matching ' busy-[0-9]* monitor_contended_enter ')" 1 contentions
    say code code
    same "$(grep -c "^$(sed -n '/^code/{p;q}' java.out)\$" java.out)" 2
    say kept kept
    same "$(grep -c "^$(sed -n '/^kept/{p;q}' java.out)\$" java.out)" 2
    same "$(ls "/proc/$jvm/fd" | wc -l)" "$(cat fds)"
    ! grep -q liborca <(ls -l "/proc/$jvm/fd") || fail "a file is still open"
    rss=$(($(awk '/^VmRSS/ { print $2 }' "/proc/$jvm/status") - rss))
    [ $rss -lt 48000 ] || fail "$rss kB more than after 5 rounds"
    ! grep -q '^orca' <(cat /proc/"$jvm"/task/*/comm) || fail "a thread of the agent is still there"
    end
}

# Threads whose first event is that they unpark another one park themselves, too: each is recorded doing both.
test_parks_of_threads_that_wake_each_other() {
    local again t
    set -m
    : >java.out
    "$JAVA" -Xmx64m -XX:-UsePerfData -cp "$CLASSES" Summed platform 2 100000000 stay >java.out 2>java.err &
    jvm=$!
    wait_for 60 grep -q going java.out
    for again in 1 2 3; do
        rm -f "$TRACE"
        attach
        wait_for 60 eval '[ "$("$ORCA" events -k unpark "$TRACE" 2>/dev/null | wc -l)" -gt 2000 ]'
        detach
        events
        for t in 0 1 2 3; do
            [ "$(matching "^[^ ]* t-$t park_enter ")" -gt 20 ] || fail "t-$t parked $(matching "^[^ ]* t-$t park_enter ") times"
        done
    done
    end_with KILL 137
}

# A JVM that was started with the agent is joined, and left as it was found.
test_join() {
    launch "$(agent events=threads+parks)" --
    run 0 "$ORCA" attach "$jvm" --on semaphores+waits --off parks
    has err "JVM $jvm (Attachable) is being recorded since "
    has err ", into $TRACE: joined"
    say work worked
    run 0 "$ORCA" status "$jvm" --json
    same "$(tr -d ' \n' <out | grep -o '"groups":[^]]*')" '"groups":["threads","waits","semaphores"'
    same "$(tr -d ' \n' <out | grep -o '"recorded":[a-z]*')" '"recorded":true'
    run 0 "$ORCA" attach "$jvm" --on parks --for 200ms
    has err "app.otrace: "
    run 0 "$ORCA" status "$jvm"
    has out "groups      threads waits semaphores"
    has out "from its start"
    run 1 "$ORCA" attach "$jvm" -o other.otrace
    has err "is being recorded already, into $TRACE: orca dump $jvm -o FILE copies what there is"
    say work worked
    detach
    events
    same "$(matching '^[^ ]* main semaphore_acquire_enter ')" 20
    same "$(matching '^[^ ]* main notify_all .* class=java.lang.Object ')" 10
    same "$(matching '^[^ ]* main unpark target=parked ')" 0
    "$ORCA" info "$TRACE" >info
    grep -q '^switched .* s: +waits -parks +semaphores; .* s: +parks; .* s: -parks$' info || fail "$(cat info)"
    rm "$TRACE"
    attach
    detach
    end
}

test_dump() {
    launch "$(agent maxsize=4m)" -- 4
    say work worked
    run 0 "$ORCA" dump "$jvm" -o one.otrace
    has err "one.otrace: "
    info one.otrace
    same "$(value state) $(value damaged)" "complete 0"
    "$ORCA" events one.otrace >events
    same "$(matching '^[^ ]* main semaphore_acquire_enter ')" 10
    same "$(stat -c %a one.otrace)" 600
    run 1 "$ORCA" dump "$jvm" -o one.otrace
    has err "one.otrace already exists"
    run 1 "$ORCA" dump "$jvm" -o no/such/folder.otrace
    has err "No such file or directory"
    say work worked
    run 0 "$ORCA" dump "$jvm"
    has err "still recording"
    run 0 "$ORCA" dump "$jvm" -o two.otrace
    "$ORCA" events two.otrace >events
    same "$(matching '^[^ ]* main semaphore_acquire_enter ')" 20
    end
    good_trace complete
}

test_status() {
    launch --
    run 0 "$ORCA" status
    grep -q "^ *$jvm  $JDK_MAJOR[^ ]*  *Attachable  *-\$" out || fail "not in the list: $(cat out)"
    attach
    run 0 "$ORCA" status
    grep -q "^ *$jvm  $JDK_MAJOR[^ ]*  *Attachable .*$TRACE\$" out || fail "not in the list: $(cat out)"
    run 0 "$ORCA" status "$jvm"
    has out "attached to"
    has out "lost        none"
    detach
    run 0 "$ORCA" status "$jvm"
    has out "recorded    no"
    end
}

# Who holds and who waits, without a recording and with one.
test_query() {
    launch -- 4
    run 0 "$ORCA" query "$jvm" locks
    grep -q '^java.lang.Object @[0-9A-F]* (monitor): owned by holder, which is at Attachable\.' out || fail "$(cat out)"
    grep -q '^    stuck blocked at Attachable\..*(Attachable.java:[0-9]*)$' out || fail "$(cat out)"
    grep -q '^java.util.concurrent.locks.ReentrantLock.NonfairSync @[0-9A-F]* (synchronizer): owned by locker, which is at Attachable\.' out ||
        fail "$(cat out)"
    grep -q "^    parked parked at Attachable\..*:$(site Attachable.java parked))\$" out || fail "$(cat out)"
    grep -q '^java.lang.String @[0-9A-F]* (monitor): no owner$' out || fail "$(cat out)"
    grep -q "^    waiter waiting at Attachable\..*:$(site Attachable.java waiter))\$" out || fail "$(cat out)"
    lacks out DEADLOCK
    run 0 "$ORCA" query "$jvm" thread stuck
    grep -q '^"stuck" #[0-9]* daemon, BLOCKED$' out || fail "$(cat out)"
    grep -q '^    waits for java.lang.Object @[0-9A-F]*, owned by holder$' out || fail "$(cat out)"
    run 0 "$ORCA" query "$jvm" thread holder --json
    same "$(tr -d ' \n' <out | grep -o '"holds":\[{"class":"java.lang.Object"')" '"holds":[{"class":"java.lang.Object"'
    run 1 "$ORCA" query "$jvm" thread nobody
    has err 'has no thread "nobody"'
    run 1 "$ORCA" query "$jvm" monitor 1
    has err "is not recorded by Orca"
    run 2 "$ORCA" query "$jvm" thread
    run 2 "$ORCA" query "$jvm" locks more
    run 2 "$ORCA" query "$jvm" what
    run 0 "$ORCA" status "$jvm"
    has out "recorded    no"

    attach
    wait_for 60 eval "\"$ORCA\" dump $jvm 2>/dev/null; \"$ORCA\" events app.otrace | grep -q ' monitor_contended_enter '"
    events
    local lock
    lock=$(sed -n 's/.* parked wait_found .* lock=\([0-9]*\) .*/\1/p' events)
    run 0 "$ORCA" query "$jvm" object "$lock"
    grep -q "^java.util.concurrent.locks.ReentrantLock.NonfairSync @[0-9A-F]*, lock $lock, [0-9]* bytes\$" out || fail "$(cat out)"
    lock=$(sed -n 's/.* busy-[0-9]* monitor_contended_enter lock=\([0-9]*\) .*/\1/p' events | head -n 1)
    run 0 "$ORCA" query "$jvm" monitor "$lock" --json
    same "$(tr -d ' \n' <out | grep -o '^{"id":[0-9]*,"class":"[^"]*"')" "{\"id\":$lock,\"class\":\"java.lang.Object\""
    # who waits to be notified does not wait to enter
    say release released
    "$ORCA" dump "$jvm" >/dev/null || fail "dump"
    events
    lock=$(sed -n 's/.* waiter wait_enter lock=\([0-9]*\) .*/\1/p' events | tail -n 1)
    run 0 "$ORCA" query "$jvm" monitor "$lock"
    grep -q '^waiting to enter  *none$' out && grep -q '^waiting to be notified  *waiter$' out || fail "$(cat out)"
    run 1 "$ORCA" query "$jvm" monitor 99999
    has err "no lock has the id 99999, or the lock is gone"
    run 1 "$ORCA" query "$jvm" object x
    has err '"x" is neither the id of a lock'
    run 0 "$ORCA" query "$jvm" class Attachable
    has out "class Attachable extends java.lang.Object"
    run 1 "$ORCA" query "$jvm" class no.such.Name
    has err 'no class "no.such.Name" is loaded'
    detach
    end
}

# Where a thread is, what it holds and since where, as the program's own source has it.
place_of() { # THREAD
    run 0 "$ORCA" query "$jvm" thread "$1"
    grep -o 'Attachable[.a-z0-9$]*(.*)\|Thread[.a-zA-Z0-9$]*(.*)' out
}

# The frames of methods that were changed under them keep their lines: while that is recorded, after it, and for ever.
test_query_changed_methods() {
    local t
    launch --
    for t in holder stuck waiter; do
        place_of $t >before.$t
        has before.$t "(Attachable.java:"
    done
    attach
    run 0 "$ORCA" attach "$jvm" --on alloc
    for t in holder stuck waiter; do
        place_of $t >recorded.$t
        cmp before.$t recorded.$t || fail "$t: $(diff before.$t recorded.$t)"
    done
    run 0 "$ORCA" query "$jvm" locks
    grep -q "^java.lang.Object @.* owned by holder, which is at .*(Attachable.java:[0-9]*), took it at .*(Attachable.java:[0-9]*)\$" out || fail "$(cat out)"
    detach
    for t in holder stuck waiter; do
        place_of $t >after.$t
        cmp before.$t after.$t || fail "$t: $(diff before.$t after.$t)"
    done
    end
}

# A deadlock is named.
test_query_a_deadlock() {
    set -m
    : >java.out
    "$JAVA" -Xmx32m -XX:-UsePerfData -cp "$CLASSES" Deadlocked >java.out 2>&1 &
    jvm=$!
    wait_for 60 grep -q '^ready' java.out
    run 0 "$ORCA" query "$jvm" locks
    same "$(head -n 1 out)" "DEADLOCK of 3 threads:"
    for t in one two three; do
        grep -q "^    $t waits for java[.a-zA-Z]*[^ ]* @[0-9A-F]* held by [a-z]*, at Deadlocked\." out || fail "$(cat out)"
    done
    attach --for 300ms
    events
    same "$(matching ' (one|two|three) wait_open ')" 6
    kill -KILL "$jvm"
}

# The error is reported here, not on the JVM's terminal; the JVM goes on.
test_mistakes() {
    launch --
    run 1 "$ORCA" attach "$jvm" --options zzz=1
    has err "unknown key 'zzz'"
    run 1 "$ORCA" attach "$jvm" -o /no/such/folder/t.otrace
    has err "/no/such/folder/t.otrace"
    run 1 "$ORCA" attach "$jvm" -m 'Attachable.work'
    has err "Attachable.work: No such file or directory"
    run 1 "$ORCA" attach "$jvm" --off parks
    has err "--off has nothing to switch off"
    run 1 "$ORCA" attach "$jvm" --on parks
    has err "--on has nothing to add to"
    run 2 "$ORCA" attach
    has err "name one process id"
    run 2 "$ORCA" detach 12x
    has err '"12x" is not a process id'
    run 1 "$ORCA" status $$
    has err "is not a JVM"
    run 1 "$ORCA" dump "$jvm" -o d.otrace
    has err "is not recorded by Orca"
    attach -m 'Attachable#work calls none'
    say work worked
    detach
    events
    same "$(matching '^[^ ]* main call call=Attachable.work ')" 1
    # A table's name is relative to where the command stands, not the JVM.
    mkdir sub
    echo 'Attachable#work calls none' >sub/t.methods
    rm "$TRACE"
    (cd sub && run 0 "$ORCA" attach "$jvm" -m t.methods -o "$TRACE")
    say work worked
    detach
    events
    same "$(matching '^[^ ]* main call call=Attachable.work ')" 1
    lacks java.err orca:
    end
}

# By other means than orca attach: a mistake in the options is the JVM's to say, and does it no harm.
# A metaspace that is nearly full is left to the program.
test_small_metaspace() {
    launch -XX:MaxMetaspaceSize=1m --
    run 1 "$ORCA" attach "$jvm" -o "$TRACE"
    has err "left of its MaxMetaspaceSize of 1.0 MB, and a recording may need 1.0 MB"
    ! grep -q liborca "/proc/$jvm/maps" || fail "the agent was loaded"
    end
    launch -XX:MaxMetaspaceSize=12m --
    run 1 "$ORCA" attach "$jvm" -o "$TRACE" -e alloc
    has err "a recording of these groups may need 18 MB"
    attach
    run 1 "$ORCA" attach "$jvm" --on alloc
    has err "a recording of these groups may need 18 MB"
    run 0 "$ORCA" attach "$jvm" --on sampled-alloc
    detach
    end
}

test_jcmd() {
    [ -x "$JDK/bin/jcmd" ] || skip "no jcmd"
    launch --
    run 0 "$JDK/bin/jcmd" "$jvm" JVMTI.agent_load "$AGENT" file
    wait_for 60 grep -q '^orca: file needs a value' java.err
    say work worked # it lives
    run 0 "$JDK/bin/jcmd" "$jvm" JVMTI.agent_load "$AGENT" "\"file=$TRACE,quiet\""
    run 0 "$ORCA" status "$jvm"
    has out "$TRACE"
    say work worked
    detach
    attach -o other.otrace
    run 0 "$ORCA" detach "$jvm"
    end
}

# ^C ends the recording early; when the command is killed the agent ends it by itself.
test_impatience() {
    launch --
    "$ORCA" attach "$jvm" -o "$TRACE" --for 1h >client.out 2>client.err &
    client=$!
    wait_for 60 grep -q 'for 1 h' client.err
    kill -INT $client
    wait $client || fail "attach ended with $?: $(cat client.err)"
    has client.err 'app.otrace: '
    good_trace complete
    rm "$TRACE"
    "$ORCA" attach "$jvm" -o "$TRACE" --for 1s >client.out 2>client.err &
    client=$!
    wait_for 60 grep -q 'for 1.00 s' client.err
    kill -KILL $client
    wait $client 2>/dev/null
    wait_for 60 eval "\"$ORCA\" status $jvm | grep -q 'recorded    no'"
    good_trace complete
    end
}

# The JVM ends, or is killed, while it is recorded.
test_the_jvm_ends() {
    launch --
    attach
    end
    good_trace complete
    rm "$TRACE"
    launch --
    "$ORCA" attach "$jvm" -o "$TRACE" --for 1h >client.out 2>client.err &
    client=$!
    wait_for 60 grep -q 'for 1 h' client.err
    kill -KILL "$jvm"
    wait $client || fail "attach ended with $?: $(cat client.err)"
    has client.err 'recovered after the JVM was killed'
    good_trace recovered
}

# Clients that talk nonsense, too much, too slowly or not at all.
test_bad_clients() {
    command -v perl >/dev/null || skip "no perl"
    launch "$(agent '')" --
    cat >client.pl <<'END'
use IO::Socket::UNIX;
my $path = shift;
sub client { IO::Socket::UNIX->new(Peer => $path) or die "connect: $!" }
sub ask { my $c = client(); print $c $_[0]; $c->shutdown(1); local $/; return <$c> }
$SIG{PIPE} = 'IGNORE';
print ask("nonsense\n");
print ask("status but with words\n") =~ /^ok/ ? "ok\n" : "no\n";
print ask("x" x 100000);
print ask("groups +nothing\n");
print ask("dump relative\n");
print ask("start file=/tmp/x\n");
print ask("\0\0\0\n");
print ask("");
my @silent = map { client() } 1 .. 6;
my $slow = client();
print $slow "sta";
print ask("status\n") =~ /^ok/ ? "ok\n" : "no\n";
END
    perl client.pl "$(control_socket "$jvm")" >got 2>got.err || fail "$(cat got.err)"
    sed 's/([^)]*)//' got >got.text
    cat >want <<'END'
error 22 the agent  does not know the request "nonsense"
ok
error 7 a request has at most 4095 bytes
error 22 "nothing" is not a group of events
error 22 dump: the file's path must begin with '/'
END
    diff want <(head -n 5 got.text) || fail "other answers"
    grep -q "^error 114 this JVM is being recorded already, into $TRACE" got || fail "$(cat got)"
    grep -c '^ok$' got >oks
    same "$(cat oks)" 2
    same "$(stat -L -c '%a %h' "$(control_socket "$jvm")")" "600 0"
    run 0 "$ORCA" status "$jvm"
    end
    good_trace complete
}

# The text formats alone: both commands end well and name the files; the trace was only on the way.
test_text_formats() {
    launch --
    run 0 "$ORCA" attach "$jvm" -o "$TMP/pp" --options format=orca
    for f in orca methods classtable; do
        has err "$TMP/pp.$f"
    done
    say work worked
    run 0 "$ORCA" detach "$jvm"
    for f in orca methods classtable; do
        has err "pp.$f"
        [ -s "pp.$f" ] || fail "no pp.$f: $(ls)"
    done
    [ ! -e pp.otrace ] || fail "the trace is left"
    at_least "$(count pp.orca ,ObjectNotifyAll,)" 5 "notifyAll"
    run 0 "$ORCA" attach "$jvm" -o tt.trcxml --options format=tptp --for 1s
    has err "tt.trcxml"
    lacks err "tt.trcxml.otrace"
    same "$(echo tt.*)" tt.trcxml
    run 0 "$ORCA" attach "$jvm" --options format=otrace+orca -o both.otrace
    run 0 "$ORCA" detach "$jvm"
    has err "both.otrace: "
    has err both.orca
    same "$(echo both.*)" "both.classtable both.methods both.orca both.otrace"
    end
}

# Of a jar, which class was started; behind a launcher of Spring Boot, the program's own.
jar_of() { # MAIN-CLASS [MANIFEST-LINE]
    printf '%s\n' "Main-Class: $1" ${2:+"$2"} >manifest
    rm -rf made app.jar "$TRACE"
    mkdir -p made/org/springframework/boot/loader
    printf '%s\n' 'package org.springframework.boot.loader;' 'public class Launcher { public static void main(String[] a) throws Exception {' \
        'Class.forName("Attachable").getMethod("main", String[].class).invoke(null, (Object) a); } }' >made/Launcher.java
    "$TOOLS/javac" --release 17 -nowarn -d made made/Launcher.java || fail "javac"
    "$TOOLS/jar" cfm app.jar manifest -C "$CLASSES" . -C made org || fail "jar"
    rm -f in
    mkfifo in
    : >java.out
    "$JAVA" -Xmx64m -XX:-UsePerfData -jar app.jar <in >java.out 2>java.err &
    jvm=$!
    exec 9>in
    wait_for 60 grep -q '^ready' java.out
    attach --for 1s
    good_trace complete
    run 0 "$ORCA" info "$TRACE"
    end
}

test_the_main_class_of_a_jar() {
    jar_of Attachable
    same "$(grep -cE '^main +Attachable$' out)" 1
    jar_of org.springframework.boot.loader.Launcher "Start-Class: Attachable"
    same "$(grep -cE '^main +Attachable, by org.springframework.boot.loader.Launcher$' out)" 1
}

# A JVM that makes an archive of its classes: none is changed, what is left out for that is named to who asks for it,
# and the archive is one.
archiving() { # LOADED-WITH OPTION...
    local loads=$1
    shift
    rm -f "$TRACE" app.jar
    "$TOOLS/jar" cf app.jar -C "$CLASSES" . || fail "jar"
    rm -f in
    mkfifo in
    "$JAVA" "$@" -cp app.jar Attachable <in >java.out 2>java.err &
    jvm=$!
    exec 9>in
    wait_for 60 grep -q '^ready' java.out
    run 0 "$ORCA" doctor "$jvm"
    has out "archives its classes"
    run 0 "$ORCA" attach "$jvm" -o "$TRACE" -e all+alloc
    has err "archives this JVM's classes, so Orca changes none of them: parks, sleeps, joins, interrupts, semaphores, locks, methods, holds and alloc are left out"
    run 0 "$ORCA" attach "$jvm" --off cpu
    run 0 "$ORCA" attach "$jvm" --on joins+cpu+holds
    has err "joins and holds are left out"
    run 0 "$ORCA" attach "$jvm" --on threads
    lacks err "left out"
    "$ORCA" status "$jvm" --json >status
    same "$(jq -r '[.jvms[].groups[] | select(. == "joins" or . == "cpu" or . == "holds")] | join(" ")' status)" cpu
    run 1 "$ORCA" attach "$jvm" --on locks
    has err "locks is left out"
    run 1 "$ORCA" attach "$jvm" --on alloc+frees
    has err "alloc and frees are left out"
    run 0 "$ORCA" detach "$jvm"
    echo end >&9
    exec 9>&-
    wait "$jvm" || fail "the program ended with $?: $(tail -n 5 java.err)"
    no_crash
    [ -z "$loads" ] || run 0 "$JAVA" "$loads" -cp app.jar Attachable </dev/null
}
test_archives_at_exit() { archiving "-XX:SharedArchiveFile=$TMP/made.jsa" "-XX:ArchiveClassesAtExit=$TMP/made.jsa"; }
test_archives_when_asked() { archiving "" -XX:+RecordDynamicDumpInfo; }
test_archives_for_aot() {
    need_jdk 25
    archiving "-XX:AOTCache=$TMP/made.aot" "-XX:AOTCacheOutput=$TMP/made.aot"
    archiving "" -XX:AOTMode=record "-XX:AOTConfiguration=$TMP/made.conf"
}

# What the recording's own options leave out is named, too.
test_left_out_by_option() {
    launch_told Attachable "$(agent contanalysis=off,events=threads+gc)" --
    run 0 "$ORCA" attach "$jvm" --on waits+locks
    has err "contanalysis=off: locks is left out"
    run 1 "$ORCA" attach "$jvm" --on locks
    has err "contanalysis=off: locks is left out"
    run 0 "$ORCA" doctor "$jvm"
    has out "is being recorded"
    echo end >&9
    wait "$jvm"
}

# -Xcheck:jni has nothing to say of Orca, whatever it is asked: no reference too many, no exception that stays, no wrong call.
test_checked_jni() {
    launch -Xcheck:jni -Xmx128m -- 4
    local more
    "$ORCA" attach "$jvm" -o "$TRACE" -e threads 2>err || fail "$(cat err)"
    for more in joins+semaphores locks holds alloc frees; do
        run 0 "$ORCA" attach "$jvm" --on $more
    done
    run 0 "$ORCA" query "$jvm" locks
    run 0 "$ORCA" query "$jvm" class Attachable
    run 0 "$ORCA" query "$jvm" thread busy-1
    "$ORCA" query "$jvm" object 1 >out 2>err
    run 0 "$ORCA" heap live "$jvm" --full
    run 0 "$ORCA" heap dump "$jvm" --to tptp -o heap.trcxml
    run 0 "$ORCA" heap dump "$jvm" -o heap.hprof
    run 0 "$ORCA" top "$jvm" --batch --count 1
    run 0 "$ORCA" attach "$jvm" --off alloc+frees+holds
    run 0 "$ORCA" dump "$jvm"
    run 0 "$ORCA" detach "$jvm"
    rm -f "$TRACE"
    run 0 "$ORCA" attach "$jvm" -o "$TRACE" -e all+alloc --methods 'Attachable#await blocks none'
    say work worked
    run 0 "$ORCA" detach "$jvm"
    run 0 "$ORCA" query "$jvm" locks
    end
    same "$(grep -iE 'warning|fatal|jni' java.out java.err | grep -vE 'loaded dynamically|Dynamic loading|serviceability tool|not sampled: -Xcheck:jni')" ""
}
