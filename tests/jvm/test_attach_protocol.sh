# The attach library against real JVMs, by attach_tool.c: what it does, and what it says when it cannot.
# timeout: 180

# What a JVM leaves in /tmp when it is killed.
finish() {
    local pid
    end_jobs
    wait 2>/dev/null
    for pid in $started; do
        rm -f "/tmp/.java_pid$pid" "/tmp/.attach_pid$pid" /tmp/hsperfdata_*/"$pid"
    done
}
started=

build() {
    ${CC:-cc} -std=c11 -D_GNU_SOURCE -O1 -g -I"$ROOT/src" -o tool "$ROOT/tests/jvm/attach_tool.c" \
        "$ROOT/build/release/lib.a" || fail "cannot build the tool"
    ${CC:-cc} -shared -fPIC -O1 -I"$JNI_INCLUDE" -I"$JNI_INCLUDE/linux" -o libattached.so \
        "$ROOT/tests/jvm/attach_agent.c" || fail "cannot build the agent"
}
build_fake() { # NAME [COMPILER-OPTION]...
    local name=$1
    shift
    ${CC:-cc} -D_GNU_SOURCE -O1 "$@" -o "$name" "$ROOT/tests/jvm/attach_fake.c" -ldl ||
        fail "cannot build $name"
}

# A JVM in the background, ready or not: its pid is in "jvm", its output in "java.out" and "java.err".
launch() { # COMMAND...
    : >java.out
    set -m # else it ignores SIGQUIT, and nothing could kill it
    "$@" >java.out 2>java.err &
    jvm=$!
    started="$started $jvm"
}
ready() {
    wait_for 60 grep -q '^ready' java.out
}
start() { # JVM-OPTION...
    launch "$JAVA" -Xmx32m -XX:TieredStopAtLevel=1 "$@" -cp "$CLASSES" AttachIdle
    ready
}
stop() {
    kill -KILL "$jvm" 2>/dev/null
    wait "$jvm" 2>/dev/null
    return 0
}

# The JVM lives, has printed no thread dump, and no trigger file is left.
unharmed() {
    kill -0 "$jvm" || fail "the JVM has ended"
    lacks java.out "thread dump"
    local left
    left=$(ls -d .attach_pid* /tmp/.attach_pid"$jvm" 2>/dev/null)
    [ -z "$left" ] || fail "left behind: $left"
}

tool() { # STATUS ARGUMENT...
    local want=$1
    shift
    run "$want" ./tool -t 60000 "$@"
}
# Refused with that errno and one line that has all the texts.
refused() { # ERRNO TEXT... -- ARGUMENT...
    local want=$1 text
    shift
    split_words text "$@"
    run 1 ./tool "${rest[@]}"
    same "$(wc -l <err)" 1
    has err "attach_tool: $want: "
    for t in "${text[@]}"; do
        has err "$t"
    done
}
works() {
    tool 0 command "$jvm" jcmd VM.version
    has out "JDK $JDK_MAJOR"
    unharmed
}

# Another user.
NOBODY=(setpriv --reuid nobody --regid nogroup --clear-groups)
root_only() {
    [ "$(id -u)" = 0 ] || skip "needs root"
    "${NOBODY[@]}" "$JAVA" -version >/dev/null 2>&1 ||
        skip "another user cannot run this JDK here"
    "${NOBODY[@]}" test -r "$CLASSES/AttachIdle.class" -a -x "$TMP" ||
        skip "another user cannot read the tests here"
}

test_commands() {
    build
    start
    works
    tool 0 command "$jvm" properties
    has out "java.specification.version=$JDK_MAJOR"
    tool 3 command "$jvm" nonsense
    has out "not recognized"
    tool 0 command "$jvm" jcmd help VM.flags
    unharmed
}

test_describe() {
    build
    start
    tool 0 describe "$jvm"
    same "$(sed -n 1p out)" "$jvm $jvm $(id -u) S $(sed -n 's/^JAVA_VERSION="\(.*\)"/\1/p' "$JDK/release") AttachIdle"
    same "$(sed -n 2p out)" "$JDK/lib/server/libjvm.so"
    tool 0 list
    same "$(grep -c "^$jvm .* AttachIdle$" out)" 1
    stop
    tool 0 list
    same "$(grep -c "^$jvm " out)" 0
}

test_names() {
    build
    mkdir jar
    printf 'Main-Class: AttachIdle\n' >manifest
    "$TOOLS/jar" cfm "a b.jar" manifest -C "$CLASSES" AttachIdle.class || fail jar
    launch "$JAVA" -Xmx32m -XX:+UseSerialGC -jar "a b.jar" some arguments
    ready
    tool 0 describe "$jvm"
    has out " a b.jar"
    stop
    printf -- '-Xmx32m # heap\n-cp "%s"\nAttachIdle\n' "$CLASSES" >words
    launch "$JAVA" --add-modules java.logging -XX:+UseSerialGC @words more
    ready
    tool 0 describe "$jvm"
    has out " AttachIdle"
    stop
    printf 'class Source { public static void main(String[] a) throws Exception {
        System.out.println("ready"); Thread.sleep(600000); } }' >Source.java
    launch "$JAVA" -Xmx64m Source.java
    ready
    tool 0 describe "$jvm"
    has out " Source.java"
}

test_load() {
    build
    start
    tool 0 load "$jvm" libattached.so
    has java.out "attached options=''"
    tool 0 load "$jvm" libattached.so "0,key=a b"
    has java.out "attached options='0,key=a b' phase=4"
    unharmed
}

test_load_fails() {
    build
    start
    refused ECANCELED "JVM $jvm" "returned -3" -- load "$jvm" libattached.so -3
    refused ECANCELED "returned 101" -- load "$jvm" libattached.so 101
    refused ELIBBAD "JVM $jvm" "/nonexistent/library.so: cannot open" -- load "$jvm" /nonexistent/library.so
    echo nothing >none.so
    refused ELIBBAD "$TMP/none.so" -- load "$jvm" none.so
    printf 'int x;' | ${CC:-cc} -shared -fPIC -x c -o libempty.so - || fail "cannot build"
    refused ELIBBAD "Agent_OnAttach" -- load "$jvm" libempty.so
    refused ENOENT "nowhere.so" -- load "$jvm" nowhere.so
    refused E2BIG "at most 1024" -- load "$jvm" libattached.so "$(printf '%01025d' 0)"
    tool 0 load "$jvm" libattached.so "$(printf '%01024d' 0)"
    unharmed
    stop
    start -XX:-EnableDynamicAgentLoading
    refused ELIBBAD "Dynamic agent loading is not enabled" -- load "$jvm" libattached.so
    unharmed
}

# Ten at once before the JVM listens: one asks, all are served, and no thread dump is printed.
test_ten_at_once() {
    build
    for round in 1 2 3; do
        start
        local pids=() i
        for i in 1 2 3 4 5 6 7 8 9 10; do
            ./tool -t 60000 command "$jvm" jcmd VM.uptime >"out.$i" 2>"err.$i" &
            pids+=($!)
        done
        for i in 1 2 3 4 5 6 7 8 9 10; do
            wait "${pids[$((i - 1))]}" || fail "$(cat "err.$i")"
            has "out.$i" " s"
        done
        unharmed
        stop
    done
}

# jcmd does not look whether somebody else is asking, so it may cause a thread dump.
test_beside_jcmd() {
    build
    start
    local pids=() i
    for i in 1 2 3 4 5 6; do
        if [ $((i % 3)) = 0 ]; then
            "$JDK/bin/jcmd" -J-Xmx32m -J-XX:TieredStopAtLevel=1 "$jvm" VM.uptime >"out.$i" 2>&1 &
        else
            ./tool -t 60000 command "$jvm" jcmd VM.uptime >"out.$i" 2>&1 &
        fi
        pids+=($!)
    done
    for i in 1 2 3 4 5 6; do
        wait "${pids[$((i - 1))]}" || fail "$(cat "out.$i")"
        has "out.$i" " s"
    done
    kill -0 "$jvm" || fail "the JVM has ended"
    tool 0 command "$jvm" jcmd VM.version
}

test_not_a_jvm() {
    build
    refused ESRCH "no process 2147483647" -- describe 2147483647
    refused ESRCH "not a process id" -- describe 0
    sleep 100 &
    local sleeper=$!
    wait_for 60 grep -q sleep "/proc/$sleeper/comm"
    refused ENOEXEC "process $sleeper (sleep) is not a JVM" -- describe $sleeper
    start
    local thread
    thread=$(ls "/proc/$jvm/task" | tail -n 1)
    refused EINVAL "$thread is a thread" "of process $jvm" -- describe "$thread"
    unharmed
}

test_other_vms() {
    build
    build_fake fake
    build_fake native -DNATIVE_IMAGE
    echo 'int x(void); int x(void) { return 1; }' | ${CC:-cc} -shared -fPIC -x c -o libj9vm29.so - || fail "cannot build"
    launch ./fake "$TMP/libj9vm29.so"
    ready
    refused EOPNOTSUPP "process $jvm" OpenJ9 -- describe "$jvm"
    launch ./native -
    ready
    refused EOPNOTSUPP "process $jvm" "native image" -- describe "$jvm"
}

test_zombie() {
    build
    # A parent that does not wait.
    launch bash -c '"$@" & echo $! >zombie; exec sleep 100' - "$JAVA" -Xmx32m -cp "$CLASSES" AttachIdle
    ready
    local pid
    pid=$(cat zombie)
    started="$started $pid"
    tool 0 command "$pid" jcmd VM.version
    kill -KILL "$pid"
    wait_for 60 grep -q '^State:.Z' "/proc/$pid/status"
    refused ESRCH "process $pid" "has ended" "process $jvm" -- describe "$pid"
}

test_other_user() {
    root_only
    build
    start
    run 1 "${NOBODY[@]}" ./tool describe "$jvm"
    has err "EPERM: process $jvm (java) belongs to user root; run: sudo -u root orca attach $jvm"
    unharmed
    stop
    # Root may: HotSpot takes commands from its own user and from root.
    chmod a+rx .
    launch "${NOBODY[@]}" "$JAVA" -Xmx32m -cp "$CLASSES" AttachIdle
    ready
    works
    tool 0 load "$jvm" libattached.so
    run 0 "${NOBODY[@]}" ./tool -t 60000 command "$jvm" jcmd VM.version
    run 1 setpriv --reuid nobody --regid daemon --clear-groups ./tool command "$jvm" jcmd VM.version
    has err "EPERM: process $jvm (java) runs with group $(id -g nobody)"
    run 1 setpriv --reuid daemon --regid daemon --clear-groups ./tool command "$jvm" jcmd VM.version
    has err "belongs to user nobody; run: sudo -u nobody orca attach $jvm"
    unharmed
}

# Attached to at once after exec, again and again: served, or answered that it is still starting.
test_starting() {
    build
    local i late=0
    for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        launch "$JAVA" -Xmx32m -XX:TieredStopAtLevel=1 -cp "$CLASSES" AttachIdle
        until [ "$(readlink "/proc/$jvm/exe")" = "$JDK/bin/java" ]; do :; done
        if [ $((i % 4)) = 0 ]; then
            ./tool -t 20 command "$jvm" jcmd VM.version >out 2>err
        else
            ./tool -t 60000 command "$jvm" jcmd VM.version >out 2>err
        fi
        case $? in
        0) has out "JDK $JDK_MAJOR" ;;
        1)
            grep -q 'EAGAIN\|ETIMEDOUT' err || fail "$(cat err)"
            [ $((i % 4)) = 0 ] || fail "in a minute: $(cat err)"
            late=$((late + 1))
            ;;
        *) fail "exit status of the tool: $(cat err)" ;;
        esac
        ready
        works
        stop
    done
    echo "too early for 20 ms: $late of 5"
}

# An agent is loaded once JVMTI is in its live phase (4), by the counters or, without them, by the age.
test_starting_load() {
    build
    local i
    for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
        local counters=-XX:+UsePerfData
        [ $((i % 6)) != 0 ] || counters=-XX:-UsePerfData
        launch "$JAVA" -Xmx32m -XX:TieredStopAtLevel=1 $counters -cp "$CLASSES" AttachIdle
        until [ "$(readlink "/proc/$jvm/exe")" = "$JDK/bin/java" ]; do :; done
        tool 0 load "$jvm" libattached.so 0
        ready
        has java.out "attached options='0' phase=4"
        unharmed
        stop
    done
}

# Each thread: until then the JVM goes on, and a signal to it would be answered later.
all_stopped() {
    [ -z "$(grep -L '^State:.T' "/proc/$jvm"/task/*/status)" ]
}

test_stopped() {
    build
    start
    kill -STOP "$jvm"
    wait_for 60 all_stopped
    refused EBUSY "JVM $jvm (AttachIdle) is stopped" "kill -CONT $jvm" -- command "$jvm" jcmd VM.version
    kill -CONT "$jvm"
    works
    # And when it listens already.
    kill -STOP "$jvm"
    wait_for 60 all_stopped
    refused EBUSY "kill -CONT $jvm" -- command "$jvm" jcmd VM.version
    kill -CONT "$jvm"
    works
}

# libjvm.so without a JVM in it: catches the signal, and does nothing.
test_no_answer() {
    build
    build_fake fake
    launch ./fake "$JDK/lib/server/libjvm.so" catch
    ready
    refused ETIMEDOUT "JVM $jvm (fake) did not answer within 0.3 s" -- -t 300 command "$jvm" jcmd VM.version
    unharmed
    # Somebody else's trigger file, left behind: it goes, too.
    touch "/tmp/.attach_pid$jvm"
    refused ETIMEDOUT "did not answer" -- -t 300 command "$jvm" jcmd VM.version
    unharmed
    stop
    launch ./fake "$JDK/lib/server/libjvm.so" catch listen /tmp/.java_pidPID
    ready
    refused ETIMEDOUT "may still carry the command out" -- -t 3000 command "$jvm" jcmd VM.version
    stop
    # One that does not catch it is not killed by it.
    launch ./fake "$JDK/lib/server/libjvm.so"
    ready
    refused EAGAIN "JVM $jvm (fake) is still starting" -- -t 300 command "$jvm" jcmd VM.version
    unharmed
}

test_killed_meanwhile() {
    build
    build_fake fake
    launch ./fake "$JDK/lib/server/libjvm.so" catch
    ready
    ./tool -t 60000 command "$jvm" jcmd VM.version >out 2>err &
    local t=$!
    wait_for 60 test -e "/tmp/.attach_pid$jvm"
    stop
    wait $t && fail "attached to a dead process"
    has err "ESRCH: process $jvm has ended"
    [ ! -e "/tmp/.attach_pid$jvm" ] || fail "the trigger file is left behind"
    # While it waits for the answer.
    launch ./fake "$JDK/lib/server/libjvm.so" catch listen /tmp/.java_pidPID
    ready
    ./tool -t 60000 command "$jvm" jcmd VM.version >out 2>err &
    t=$!
    wait_for 60 eval "ls -l /proc/$t/fd | grep -q socket:"
    stop
    wait $t && fail "attached to a dead process"
    has err "ESRCH: process $jvm has ended"
}

test_disabled() {
    build
    start -XX:+DisableAttachMechanism
    refused EOPNOTSUPP "JVM $jvm" "DisableAttachMechanism" -- command "$jvm" jcmd VM.version
    unharmed
    stop
    start -XX:+DisableAttachMechanism -XX:-UsePerfData
    refused EOPNOTSUPP "DisableAttachMechanism" -- command "$jvm" jcmd VM.version
    unharmed
    stop
    export JAVA_TOOL_OPTIONS="-XX:-UsePerfData '-XX:+DisableAttachMechanism'"
    start
    unset JAVA_TOOL_OPTIONS
    refused EOPNOTSUPP "DisableAttachMechanism" -- command "$jvm" jcmd VM.version
    unharmed
    stop
    printf -- '-XX:-UsePerfData\n-XX:+DisableAttachMechanism\n' >flags
    start @flags
    refused EOPNOTSUPP "DisableAttachMechanism" -- command "$jvm" jcmd VM.version
    unharmed
    stop
    # A file that only the JVM reads: its counters tell.
    printf -- '-XX:+DisableAttachMechanism\n' >flags
    start -XX:VMOptionsFile=flags
    refused EOPNOTSUPP "DisableAttachMechanism" -- command "$jvm" jcmd VM.version
    unharmed
    stop
    start -XX:+DisableAttachMechanism -XX:-DisableAttachMechanism -XX:-UsePerfData
    works
}

test_few_signals() {
    build
    start -Xrs
    works
    rm "/tmp/.java_pid$jvm"
    refused EOPNOTSUPP "JVM $jvm" "-Xrs" -- command "$jvm" jcmd VM.version
    unharmed
}

test_other_options() {
    build
    start -XX:-UsePerfData
    works
    stop
    start -XX:+StartAttachListener
    works
    stop
    mkdir elsewhere
    start -Djava.io.tmpdir="$TMP/elsewhere"
    works
}

test_stale_socket() {
    build
    build_fake fake
    start
    # Left by a process with that pid: nobody listens.
    ./fake - listen "/tmp/.java_pid$jvm.PID" >fake.out &
    local fake=$!
    wait_for 60 grep -q ready fake.out
    mv "/tmp/.java_pid$jvm.$fake" "/tmp/.java_pid$jvm"
    kill -KILL $fake
    wait $fake 2>/dev/null
    works
    # Swept away while the JVM listens.
    rm "/tmp/.java_pid$jvm"
    works
    stop
    start
    echo nothing >"/tmp/.java_pid$jvm"
    works
    stop
    # Another process's socket is not talked to.
    start
    : >fake.out
    ./fake - listen "/tmp/.java_pid$jvm.PID" >fake.out &
    fake=$!
    wait_for 60 grep -q ready fake.out
    mv "/tmp/.java_pid$jvm.$fake" "/tmp/.java_pid$jvm"
    refused EPERM "the socket of process $fake, not of JVM $jvm" -- command "$jvm" jcmd VM.version
    chmod 666 "/tmp/.java_pid$jvm"
    refused EPERM "does not trust it" -- command "$jvm" jcmd VM.version
    unharmed
    if [ "$(id -u)" = 0 ]; then
        chown nobody "/tmp/.java_pid$jvm"
        refused EPERM "/tmp/.java_pid$jvm belongs to user nobody" -- command "$jvm" jcmd VM.version
        unharmed
    fi
    kill -KILL $fake
}

test_current_folder() {
    build
    mkdir gone
    cd gone || fail cd
    set -m
    "$JAVA" -Xmx32m -cp "$CLASSES" AttachIdle >../java.out 2>../java.err &
    jvm=$!
    cd .. || fail cd
    started="$started $jvm"
    ready
    rmdir gone
    works
    stop
    [ "$(id -u)" = 0 ] || skip "the rest needs root"
    root_only
    # One that may not be written, and one with a trigger file that the JVM would not believe.
    mkdir closed open
    cd closed || fail cd
    : >../java.out # what the one before has said
    "${NOBODY[@]}" "$JAVA" -Xmx32m -cp "$CLASSES" AttachIdle >../java.out 2>../java.err &
    jvm=$!
    cd .. || fail cd
    started="$started $jvm"
    ready
    run 0 "${NOBODY[@]}" ./tool -t 60000 command "$jvm" jcmd VM.version
    unharmed
    stop
    chmod 777 open
    cd open || fail cd
    : >../java.out # what the one before has said
    "${NOBODY[@]}" "$JAVA" -Xmx32m -cp "$CLASSES" AttachIdle >../java.out 2>../java.err &
    jvm=$!
    touch ".attach_pid$jvm"
    chown daemon ".attach_pid$jvm"
    cd .. || fail cd
    started="$started $jvm"
    ready
    run 0 "${NOBODY[@]}" ./tool -t 60000 command "$jvm" jcmd VM.version
    unharmed
}

# A container as far as the JVM can tell: pids of its own, a /tmp of its own, and nothing of ours to
# be seen, wherever the tree is.
contained() { # MOUNT-OPTION
    [ "$(id -u)" = 0 ] && unshare --pid --fork --mount-proc --mount true 2>/dev/null ||
        skip "unshare is not permitted"
    case $JDK in
    /tmp/*) skip "the JDK is in /tmp" ;;
    esac
    unshare --pid --fork --mount-proc --mount --kill-child sh -c \
        'mount -t tmpfs none /mnt && cp "$2/AttachIdle.class" /mnt && cd / &&
         mount -t tmpfs none "$4" && mount -t tmpfs -o "$1" none /tmp &&
         "$3" -Xmx32m -cp /mnt AttachIdle && :' - \
        "$1" "$CLASSES" "$JAVA" "$ROOT/build" >java.out 2>java.err &
    started="$started $!"
    ready
    local shell
    shell=$(pgrep -P $!)
    jvm=$(pgrep -P "$shell")
    [ -n "$jvm" ] || fail "cannot find the JVM"
}

test_container() {
    build
    set -m
    contained mode=1777
    tool 0 describe "$jvm"
    local inside
    inside=$(awk '/^NSpid:/ { print $NF }' "/proc/$jvm/status")
    [ "$inside" != "$jvm" ] || skip "the kernel does not tell the pid inside"
    same "$(cut -d ' ' -f 1,2 out | head -n 1)" "$jvm $inside"
    tool 0 list
    has out "$jvm $inside "
    tool 0 command "$jvm" jcmd VM.version
    tool 0 load "$jvm" libattached.so 0,inside
    has java.out "attached options='0,inside'"
    local seen
    seen=$(cat out)
    case $seen in
    /tmp/.orca-??????/liborca-????????????????.so) ;;
    *) fail "placed at $seen" ;;
    esac
    local folder=${seen%/*}
    same "$(stat -c '%a %u' "/proc/$jvm/root$folder" "/proc/$jvm/root$seen" | tr '\n' ' ')" "700 0 500 0 "
    local was
    was=$(stat -c %i "/proc/$jvm/root$seen")
    tool 0 place "$jvm" libattached.so
    same "$(cat out) $(stat -c %i "/proc/$jvm/root$seen")" "$seen $was"
    # A copy that is not equal, in a folder that others may enter, of another user, or a link, is not taken.
    for spoil in 'chmod 700 $seen && echo changed >>$seen' 'chmod 755 $folder' 'chown nobody $folder' 'rm -r $folder && ln -s / $folder'; do
        (seen=/proc/$jvm/root$seen folder=/proc/$jvm/root$folder && eval "$spoil") || fail "$spoil"
        tool 0 place "$jvm" libattached.so
        [ "$(cat out)" != "$seen" ] || fail "$spoil: $seen was taken again"
        seen=$(cat out)
        cmp "/proc/$jvm/root$seen" libattached.so || fail "another file was placed"
        folder=${seen%/*}
    done
    # What both see is not copied.
    tool 0 place "$jvm" "$JDK/lib/libjava.so"
    same "$(cat out)" "$JDK/lib/libjava.so"
    kill -0 "$jvm" || fail "the JVM has ended"
    lacks java.out "thread dump"
    [ -z "$(ls -d "/proc/$jvm/root/tmp/.attach_pid"* 2>/dev/null)" ] || fail "left behind"
}

# The commands from outside: what they name lies in the container, and is found there.
test_container_recorded() {
    set -m
    contained mode=1777
    local inside root="/proc/$jvm/root"
    inside=$(awk '/^NSpid:/ { print $NF }' "/proc/$jvm/status")
    [ "$inside" != "$jvm" ] || skip "the kernel does not tell the pid inside"
    run 0 "$ORCA" attach "$jvm" -e all
    has err "is being recorded into /tmp/orca-$inside.otrace"
    run 0 "$ORCA" status "$jvm"
    has out "/tmp/orca-$inside.otrace"
    run 0 "$ORCA" dump "$jvm" -o /tmp/dumped.otrace
    has err "$root/tmp/dumped.otrace: "
    run 0 "$ORCA" query "$jvm" thread main
    has out "AttachIdle.main"
    run 0 "$ORCA" detach "$jvm"
    has err "$root/tmp/orca-$inside.otrace: "
    run 0 "$ORCA" events -t main "$root/tmp/orca-$inside.otrace"
    has out "sleep_enter"
    # A table is read here and there, under the same name.
    echo 'AttachIdle#main blocks none' >t.methods
    run 1 "$ORCA" attach "$jvm" -m t.methods
    has err "/tmp/t.methods: No such file or directory"
    cp t.methods "$root/tmp/"
    run 0 "$ORCA" attach "$jvm" -m t.methods -o again.otrace
    run 0 "$ORCA" detach "$jvm"
    has err "$root/tmp/again.otrace: "
    kill -0 "$jvm" || fail "the JVM has ended"
    [ "$(stat -c '%a %u' "$root/tmp/again.otrace")" = "600 0" ] || fail "not private"
}

# The heap, by the JVM itself and by the agent that is brought there (test_heap_dump.sh has the rest).
test_container_heap() {
    set -m
    contained mode=1777
    local root="/proc/$jvm/root"
    run 1 "$ORCA" heap dump "$jvm"
    has err "does not see the folder $PWD, it has a root of its own: name a file by its whole path there, as -o /tmp/heap.hprof"
    run 1 "$ORCA" heap dump "$jvm" -o /no/such/heap.hprof
    has err "/no/such: there is no such folder"
    run 0 "$ORCA" heap dump "$jvm" -o /tmp/heap.hprof
    has err "$root/tmp/heap.hprof: "
    run 0 "$ORCA" heap --classes --top 10000 "$root/tmp/heap.hprof"
    grep -q ' java\.lang\.String$' out || fail "$(head -n 20 out)"
    run 0 "$ORCA" heap dump "$jvm" --to tptp -o /tmp/heap.trcxml
    has err "$root/tmp/heap.trcxml: "
    same "$(tail -n 1 "$root/tmp/heap.trcxml")" "</TRACE>"
    run 1 "$ORCA" heap dump "$jvm" --to tptp -o /tmp/heap.trcxml
    has err "$root/tmp/heap.trcxml already exists"
    same "$(cd "$root/tmp" && stat -c '%n %a %u' heap*)" "heap.hprof 600 0
heap.trcxml 600 0"
    kill -0 "$jvm" || fail "the JVM has ended"
    lacks java.out "thread dump"
}

test_container_noexec() {
    build
    set -m
    contained mode=1777,noexec
    refused EACCES "noexec" "JVM $jvm" -- load "$jvm" libattached.so
    tool 0 command "$jvm" jcmd VM.version
}
