# The agent and its options in a JVM: bad options, the 2014 command line, two agents, other agents beside it.
. "$ROOT/tests/jvm/traced.sh"

finish() {
    leave_no_jvm
}

with_agent() { # OPTIONS JAVA-ARGUMENT...
    local options=$1
    shift
    "$JAVA" "-agentpath:$AGENT=$options" -XX:-UsePerfData -Xmx48m -XX:+UseSerialGC -cp "$CLASSES" "$@"
}

# One line that begins so; the program runs and keeps its status; no file.
bad() { # OPTIONS TEXT
    run 3 with_agent "$1" Ends exit 3
    same "$(cat out)" contended
    same "$(cat err)" "orca: $2; the program runs without recording"
    same "$(ls)" "err
out"
}

GROUPS_KNOWN="threads, virtual, mounts, monitors, waits, parks, sleeps, joins, interrupts, semaphores, io, locks, methods, holds, gc, safepoints, cpu, wall, looks, sched, alloc, sampled-alloc, frees"
KNOWN="known are: file, format, fast, events, contanalysis, include, exclude, methods, ownerstacks, cpu, cpuclock, wall, time, io, iodetails, samplebytes, allocby, allocstacks, holdsample, depth, ring, ringmem, ringdir, full, cost, maxsize, duration, every, keep, control, arguments, quiet"

test_bad_values() {
    bad depth=-1 "depth=-1: it takes a number"
    bad events=threads+x "events=threads+x: it takes one or more, joined by '+', of $GROUPS_KNOWN, all, none"
    bad quiet=perhaps "quiet=perhaps: it takes on or off"
}
test_bad_values_of_each_kind() {
    bad depth=x "depth=x: it takes a number"
    bad depth= "depth=: it takes a number"
    bad full=maybe "full=maybe: it takes one of drop, block"
    bad ring=1k "ring=1k: it takes a size such as 64k, 16m or 1g from 2k to 1g"
    bad ringmem=65g "ringmem=65g: it takes a size such as 64k, 16m or 1g from 1m to 64g"
    bad maxsize=1m "maxsize=1m: it takes a size such as 64k, 16m or 1g, at least 4m"
    bad duration=5 "duration=5: it takes a time such as 500ms, 30s, 10m or 2h"
    bad events=thread "events=thread: it takes one or more, joined by '+', of $GROUPS_KNOWN, all, none"
    bad contanalysis=maybe "contanalysis=maybe: it takes on or off"
    bad file= "file=: it takes a nonempty text"
    bad include= "include=: it takes a nonempty text"
}

test_bad_format() {
    run 3 with_agent format=xml Ends exit 3
    has err "orca: format=xml: it takes one or more, joined by '+', of otrace, orca, orca-1.1, tptp"
    run 3 with_agent format=none Ends exit 3
    has err "orca: format=none would record nothing: name otrace, orca, orca-1.1, tptp;"
    same "$(grep -c '' err)" 1
    run 3 with_agent format=orca+orca-1.1 Ends exit 3
    has err "format=orca+orca-1.1: both write a .orca file"
    same "$(grep -c '' err)" 1
    run 3 with_agent format=tptp+orca-1.1+otrace+orca Ends exit 3
    has err "format=orca+orca-1.1: both write a .orca file"
    same "$(ls)" "err
out"
}

test_unknown_keys() {
    bad fil=x "unknown key 'fil'; did you mean 'file'?"
    bad dpeth=3 "unknown key 'dpeth'; did you mean 'depth'?"
    bad zzzzzz=1 "unknown key 'zzzzzz'; $KNOWN"
    bad =3 "unknown key ''; $KNOWN"
    bad file=a,b "unknown key 'b'; $KNOWN"
}

# The first mistake is named, and a good option before it does not record half of something.
test_good_and_bad_options() {
    bad quiet,file=x.otrace,depth=y "depth=y: it takes a number"
}

test_harmless_oddities() {
    run 3 with_agent depth=3,,quiet, Ends exit 3
    same "$(cat err)" ""
    events_of=$(ls orca-*.otrace)
    info "$events_of"
    same "$(value state) $(value orca.depth)" "complete 3"
    rm "$events_of"
    run 3 with_agent depth=3,depth=4,quiet Ends exit 3
    info orca-*.otrace
    same "$(value orca.depth)" 4
}

test_a_depth_above_the_limit_is_lowered() {
    run 3 with_agent depth=5000,quiet,file=deep.otrace Ends exit 3
    same "$(cat err)" "orca: depth=5000: stacks have 1024 frames at most; deeper ones are truncated"
    info deep.otrace
    same "$(value orca.depth)" 1024
}

# --- the 2014 back-end's command line ------------------------------------------------------------

three_files() { # PREFIX
    same "$(cat out)" contended
    same "$(ls | grep -v '^err$\|^out$\|^lib$')" "$1.classtable
$1.methods
$1.orca"
    grep -q ',ThreadStarted,[0-9A-F]\{8\},ends-blocked$' "$1.orca" || fail "no ThreadStarted in $1.orca"
    grep -q ',MonitorContendedEnter,' "$1.orca" || fail "no MonitorContendedEnter in $1.orca"
    grep -q ',noise,()V,' "$1.methods" || fail "no method in $1.methods"
    grep -q ',LEnds;,Ends.java$' "$1.classtable" || fail "no class in $1.classtable"
    # of threads that the JVM has park beside it, which the format leaves out, there may be none
    grep -q '[0-9] events in .*, none lost\(; [0-9,]* not in the format orca\)\{0,1\}$' err || fail "$(cat err)"
    same "$(grep -c '' err)" 1
}

test_agentlib_with_a_prefix() {
    LD_LIBRARY_PATH=$(dirname "$AGENT") run 3 "$JAVA" -agentlib:OrcaAgent=pingpong -cp "$CLASSES" Ends exit 3
    three_files pingpong
    # and they are what orca export makes of a trace, and import reads
    run 0 "$ORCA" import pingpong.orca -o back.otrace
    info back.otrace
    at_least "$(value monitor_contended_enter)" 1 "events read back"
}
test_agentlib_without_argument() {
    LD_LIBRARY_PATH=$(dirname "$AGENT") run 3 "$JAVA" -agentlib:OrcaAgent -cp "$CLASSES" Ends exit 3
    three_files orca
}
by_the_old_name() { # OPTIONS CLASS [ARGUMENT...]
    rm -f ./*.orca ./*.methods ./*.classtable ./*.trcxml ./*.otrace
    LD_LIBRARY_PATH=$(dirname "$AGENT") "$JAVA" "-agentlib:OrcaAgent=$1" -cp "$CLASSES" "${@:2}" >out 2>err
}
test_options_behind_the_prefix() {
    by_the_old_name pp,events=threads,quiet Ends return || fail "status $?"
    same "$(cat err)" ""
    same "$(echo *.*)" "pp.classtable pp.methods pp.orca"
    at_least "$(count pp.orca ',ThreadStarted,')" 1 "ThreadStarted"
    same "$(count pp.orca ',MonitorContended')" 0
    by_the_old_name 'a\,b,format=tptp,quiet' Ends return || fail "status $?"
    same "$(echo *.*)" "a,b.trcxml"
    by_the_old_name pp,format=otrace+orca,quiet Ends return || fail "status $?"
    same "$(echo *.*)" "pp.classtable pp.methods pp.orca pp.otrace"
    by_the_old_name events=threads,quiet Ends return || fail "status $?"
    same "$(echo *.*)" "orca.classtable orca.methods orca.orca"
    by_the_old_name pp,nonsense=1 Ends return || fail "status $?"
    has err "unknown key 'nonsense'"
    by_the_old_name pp,file=x Ends return || fail "status $?"
    has err "pp,file=x: two names; leave one out"
    same "$(echo *.*)" "*.*"
}

# Fast contention (the 2014 Orca back-end manual, 6.2): a block that is over sooner is left out, its end with it.
test_fast_contention_is_left_out() {
    local blocked
    by_the_old_name pp,fast=20ms,quiet Tptp || fail "status $?"
    blocked=$(sed -n 's/^[^,]*,ThreadStarted,\([0-9A-F]*\),blocked$/\1/p' pp.orca)
    same "$(count pp.orca ",MonitorContendedEnter,$blocked,") $(count pp.orca ",MonitorContendedEntered,$blocked,")" "1 1"
    by_the_old_name pp,fast=1h,quiet Tptp || fail "status $?"
    same "$(count pp.orca ',MonitorContended')" 0
    at_least "$(count pp.orca ',ObjectWaited,')" 2 waits
    run 0 "$JAVA" "-agentpath:$AGENT=file=app.otrace,quiet" -cp "$CLASSES" Tptp
    run 0 "$ORCA" export app.otrace --to tptp --fast 1h
    same "$(count app.trcxml '^<monContendedEnter')" 0
    has err "left out"
    run 0 "$ORCA" export app.otrace --to tptp --fast 20ms
    at_least "$(count app.trcxml '^<monContendedEnter ')" 1 "slow contentions"
    same "$(count app.trcxml '^<monContendedEnter ')" "$(count app.trcxml '^<monContendedEntered ')"
    run 3 with_agent fast=1ms Ends exit 3
    has err "fast= applies to text formats"
}

# A JVM that was killed has made no text files: whoever comes next says how to get them, and the name is free again.
test_a_prefix_after_a_kill() {
    local killed
    LD_LIBRARY_PATH=$(dirname "$AGENT") "$JAVA" -agentlib:OrcaAgent=pp -cp "$CLASSES" Ends wait >out 2>err &
    killed=$!
    wait_for 50 grep -q contended out
    kill -KILL $killed
    wait $killed 2>/dev/null
    same "$(echo pp.*)" pp.otrace
    by_prefix Ends return
    has err "pp.otrace was left by JVM $killed before its text files were written: it is now $PWD/pp-$killed.otrace"
    has err "orca export $PWD/pp-$killed.otrace --to orca"
    same "$(echo pp*)" "pp-$killed.otrace pp.classtable pp.methods pp.orca"
    run 0 "$ORCA" info "pp-$killed.otrace"
    has err "completed from its rings; its text files: orca export pp-$killed.otrace --to orca"
    run 1 "$ORCA" info "pp-$killed.orca"
    has err "orca export pp-$killed.otrace --to orca"
    run 0 "$ORCA" export "pp-$killed.otrace" --to orca
    at_least "$(count "pp-$killed.orca" ',MonitorContendedEnter,')" 1 "contentions before the kill"
    by_prefix Ends return
    lacks err "was left"
    same "$(echo pp-*)" "pp-$killed.classtable pp-$killed.methods pp-$killed.orca pp-$killed.otrace"
}
by_prefix() { # CLASS ARGUMENT...
    LD_LIBRARY_PATH=$(dirname "$AGENT") run 0 "$JAVA" -agentlib:OrcaAgent=pp -cp "$CLASSES" "$@"
}

# One that is alive keeps its name.
test_a_prefix_in_use() {
    LD_LIBRARY_PATH=$(dirname "$AGENT") "$JAVA" -agentlib:OrcaAgent=pp -cp "$CLASSES" Ends wait >live.out 2>live.err &
    local live=$!
    wait_for 50 grep -q contended live.out
    by_prefix Ends return
    has err "pp.otrace is being recorded by another JVM: recording to $PWD/pp-"
    kill -TERM $live
    wait $live 2>/dev/null
    same "$(echo pp.*)" "pp.classtable pp.methods pp.orca"
}

test_prefix_by_the_other_name() {
    run 3 with_agent pingpong Ends exit 3
    three_files pingpong
}
# They may be passwords.
test_arguments_are_recorded_when_asked_for() {
    run 3 with_agent file=app.otrace,quiet Ends exit 3
    run 0 "$ORCA" info app.otrace
    has out "program    Ends"
    lacks out "exit 3"
    run 0 "$ORCA" report --json app.otrace
    lacks out "exit 3"
    run 3 with_agent file=all.otrace,quiet,arguments Ends exit 3
    run 0 "$ORCA" info all.otrace
    has out "program    Ends exit 3"
}
test_events_that_the_format_leaves_out() {
    run 0 with_agent pingpong Blocking
    has err "not in the format orca"
}
test_text_formats_beside_the_trace() {
    run 3 with_agent format=otrace+orca,file=both.otrace,quiet Ends exit 3
    same "$(ls both*)" "both.classtable
both.methods
both.orca
both.otrace"
    rm both*
    run 3 with_agent format=orca-1.1,file=older,quiet Ends exit 3
    same "$(ls older*)" "older.meta
older.orca"
}

# --- two of them --------------------------------------------------------------------------------

test_loaded_twice() {
    run 3 with_agent "file=app.otrace,quiet" "-agentpath:$AGENT=file=second.otrace,quiet" Ends exit 3
    same "$(cat out)" contended
    same "$(cat err)" "orca: the agent is already loaded: a second -agentpath is ignored"
    [ ! -e second.otrace ] || fail "two traces"
    good_trace complete
}
# Another file has a state of its own, and must not record the same JVM a second time.
test_two_copies() {
    mkdir copy
    cp "$AGENT" copy/liborca.so
    run 3 with_agent "file=app.otrace,quiet" "-agentpath:$TMP/copy/liborca.so=file=second.otrace,quiet" Ends exit 3
    same "$(cat out)" contended
    has err "orca: the agent is already loaded ($AGENT): this second one is ignored"
    same "$(grep -c '' err)" 1
    [ ! -e second.otrace ] || fail "two traces"
    good_trace complete
}
test_environment_and_command_line() {
    JAVA_TOOL_OPTIONS="-agentpath:$AGENT=file=app.otrace,quiet" \
        run 3 with_agent file=second.otrace,quiet Ends exit 3
    same "$(grep -v '^Picked up' err)" "orca: the agent is already loaded: a second -agentpath is ignored"
    good_trace complete
    [ ! -e second.otrace ] || fail "two traces"
    rm app.otrace
    run 3 "$ORCA" record -o app.otrace -- "$JAVA" "-agentpath:$AGENT=file=second.otrace,quiet" -cp "$CLASSES" Ends exit 3
    has err "already loaded"
    good_trace complete
}

# --- beside others ------------------------------------------------------------------------------

beside() { # JVM-ARGUMENT...
    run_traced 3 "" "$@" Ends exit 3
    events
    same "$(matching ' ends-blocked monitor_contended_enter .* owner=main ')" 1
}

test_beside_a_debugger() {
    [ -e "$JDK/lib/libjdwp.so" ] || skip "this JDK has no debugger agent"
    beside -agentlib:jdwp=transport=dt_socket,server=y,suspend=n,quiet=y,address=127.0.0.1:0
}
test_beside_a_flight_recording() {
    "$JAVA" -XX:StartFlightRecording:filename=x.jfr -version >/dev/null 2>&1 || skip "this JVM has no flight recorder"
    beside -XX:StartFlightRecording:filename=app.jfr -Xlog:jfr*=off
    [ -s app.jfr ] || fail "no flight recording"
}
test_beside_a_java_agent() {
    printf 'Premain-Class: Redefine\nCan-Retransform-Classes: true\n' >manifest
    "$TOOLS/jar" cfm java.jar manifest -C "$CLASSES" Redefine.class || fail jar
    beside -javaagent:java.jar
}
test_beside_all_of_them() {
    printf 'Premain-Class: Redefine\nCan-Retransform-Classes: true\n' >manifest
    "$TOOLS/jar" cfm java.jar manifest -C "$CLASSES" Redefine.class || fail jar
    beside -javaagent:java.jar -XX:StartFlightRecording:filename=app.jfr -Xlog:jfr*=off \
        -agentlib:jdwp=transport=dt_socket,server=y,suspend=n,quiet=y,address=127.0.0.1:0 -XX:NativeMemoryTracking=summary
}

# --- another JVM --------------------------------------------------------------------------------

test_a_jvm_that_is_not_hotspot() {
    ${CC:-cc} -O1 -I"$JNI_INCLUDE" -I"$JNI_INCLUDE/linux" -o fake_jvm "$ROOT/tests/jvm/fake_jvm.c" -ldl || fail "cannot build"
    run 0 ./fake_jvm "$AGENT" file=x.otrace jvmti
    same "$(grep -c '' err)" 1
    has err "orca: Another VM 21: Orca needs a HotSpot JVM, 17 or later"
    has err "the program runs without recording"
    run 0 ./fake_jvm "$AGENT" file=x.otrace none
    same "$(cat err)" "orca: this JVM has no JVMTI 11: Orca needs Java 17 or later; the program runs without recording"
    run 0 ./fake_jvm "$AGENT" nonsense=1 none
    has err "unknown key 'nonsense'"
    [ ! -e x.otrace ] || fail "a trace"
}

# --- hygiene ------------------------------------------------------------------------------------

# The JVM's own checks of native code, over every event kind: not one complaint.
test_checked_jni() {
    local program
    for program in Waits Threads Contention Hidden "ManyThreads 50 briefly" "Unloading 8"; do
        # shellcheck disable=SC2086 # words
        run_traced 0 "" -Xcheck:jni $program
        lacks out WARNING
        lacks out "FATAL ERROR"
    done
    [ "$JDK_MAJOR" -lt 21 ] && return
    run_traced 0 "" -Xcheck:jni Virtual facts
    lacks out WARNING
}

test_checked_jni_all_groups() {
    local groups=threads+virtual+mounts+monitors+waits+parks+sleeps+joins+interrupts+semaphores+locks+holds+gc+alloc+frees+sampled-alloc
    run_traced 0 "events=$groups,ringmem=512m,methods=Sync#daemon calls none" -Xcheck:jni Threads
    lacks out WARNING
}

test_an_exception_on_its_way_is_kept() {
    local access=
    [ "$JDK_MAJOR" -lt 24 ] || access=--enable-native-access=ALL-UNNAMED
    ${CC:-cc} -shared -fPIC -O1 -pthread -I"$JNI_INCLUDE" -I"$JNI_INCLUDE/linux" -o libnative.so \
        "$ROOT/tests/jvm/native_threads.c" || fail "cannot build"
    run_traced 0 "" $access NativeThreads throwing - "$TMP/libnative.so"
    same "$(cat out)" "still there: true"
    events
    same "$(matching ' thrower monitor_contended_enter .* class=java\.lang\.Integer\[\] .* at=NativeThreads\.enterThrowing\(native\)')" 1
    same "$(matching ' thrower monitor_contended_entered .* class=java\.lang\.Integer\[\] ')" 1
}

# Locks at every depth of a stack that overflows: the callback has little room there.
test_contention_near_the_end_of_the_stack() {
    run_traced 0 "" -Xss512k StackEnd
    has out "overflowed"
}

# A JVM that is later than those that are known is left alone, at its start and by attach.
test_later_jvm() {
    local later=$TMP/liblater.so
    "${CC:-cc}" -std=c11 -D_GNU_SOURCE -shared -fPIC -I"$JNI_INCLUDE" -I"$JNI_INCLUDE/linux" -o "$later" \
        "$ROOT/tests/jvm/later_agent.c" || fail "cc"
    "$JAVA" "-agentpath:$later=29" "$(agent events=all)" -XX:-UsePerfData -version >out 2>err || fail "exit status $?"
    has err "Java 29: Orca records Java 17 to 28; the program runs without recording"
    [ ! -e "$TRACE" ] || fail "there is a trace"
    launch_told Attachable "-agentpath:$later=29" --
    run 1 "$ORCA" attach "$jvm" -o "$TRACE"
    has err "Java 29: Orca records Java 17 to 28"
    say end sum
    wait "$jvm" || fail "the program ended with $?"
}

# A JVM that archives its classes dies where one was changed (25): none is, and a message says so.
test_archived_classes() {
    need_jdk 25
    "$TOOLS/jar" cf classes.jar -C "$CLASSES" . || fail "jar"
    local option
    for option in "-XX:AOTCacheOutput=$TMP/made.aot" "-XX:AOTMode=record -XX:AOTConfiguration=$TMP/made.conf"; do
        rm -f "$TRACE"
        # shellcheck disable=SC2086 # words
        run 0 "$JAVA" "$(agent events=all+alloc)" $option -cp classes.jar LastPage 1 notifies
        has err "archives this JVM's classes, so Orca changes none of them"
        has out "notifies overflowed"
        no_crash
    done
}
