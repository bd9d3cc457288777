# TPTP's XML of real programs: valid, and what Tptp.java says of itself.
. "$ROOT/tests/jvm/traced.sh"

recorded() { # STATUS OPTIONS ARGUMENT...
    local status=$1 options=$2
    shift 2
    run "$status" "$JAVA" "-agentpath:$AGENT=quiet,$options" -XX:-UsePerfData -cp "$CLASSES" Tptp "$@"
    no_crash
}

valid() { # FILE
    if command -v xmllint >/dev/null; then
        xmllint --noout --dtdvalid "$ROOT/docs/reference/orca-tptp.dtd" "$1" >lint 2>&1 || fail "not valid: $(head -n 5 lint)"
    fi
    # What readers of lines need: one element on each, from column 0.
    same "$(sed 1d "$1" | grep -v '^<?orca <.*?>$' | grep -cv '^</\{0,1\}[A-Za-z]*[ >].*')" 0
}

# The value of an attribute of the first line that matches; "" when there is none.
attr() { # NAME PATTERN
    grep -E -- "$2" app.trcxml | head -n 1 | sed -n "s/^<[^>]* $1=\"\([^\"]*\)\".*/\1/p"
}
number() { # PATTERN
    grep -cE -- "$1" app.trcxml
}
# Sets `thread` and `object`, the ids of a thread.
thread() { # NAME
    thread=$(attr threadId "^<threadStart .* threadName=\"$1\"")
    object=$(attr objIdRef "^<threadStart .* threadName=\"$1\"")
    [ -n "$thread" ] && [ -n "$object" ] || fail "no thread $1"
}

test_facts() {
    local main main_object held told first
    recorded 0 format=tptp,file=app
    same "$(ls app*)" app.trcxml
    valid app.trcxml
    same "$(tail -n 1 app.trcxml)" "</TRACE>"
    same "$(number '^<traceEnd ')" 1
    at_least "$(attr time '^<traceStart ' | cut -d . -f 1)" $(($(date +%s) - 60)) "seconds since 1970"
    thread main
    main=$thread main_object=$object

    thread blocked
    held=$(attr objIdRef "^<monContendedEnter threadIdRef=\"$thread\" .*\"orca.class\" value=\"Tptp[$]Held\"")
    same "$(attr threadOwner "^<monContendedEnter threadIdRef=\"$thread\" .* objIdRef=\"$held\"")" "$main"
    same "$(number "^<monContendedEnter .*objIdRef=\"$held\".*Tptp[.]lambda[^ ]*Tptp.java:$(site Tptp.java block)\)")" 1
    same "$(number "^<monContendedEntered threadIdRef=\"$thread\" .* objIdRef=\"$held\"/>")" 1
    same "$(number "^<callStart threadId=\"$main\" .* objIdRef=\"$object\"")" 1
    same "$(number "^<threadEnd threadIdRef=\"$thread\" ")" 1

    thread timed
    same "$(attr timeout "^<monWait threadIdRef=\"$thread\" .*Tptp[$]Timed")" 40
    at_least "$(attr timeout "^<monWaited threadIdRef=\"$thread\" ")" 40 "ms of the timed wait"
    same "$(attr isTimedOut "^<monWaited threadIdRef=\"$thread\" ")" 1

    thread notified
    told=$(attr objIdRef "^<monWait threadIdRef=\"$thread\" .*timeout=\"0\".*Tptp[$]Told")
    same "$(attr isTimedOut "^<monWaited threadIdRef=\"$thread\" .* objIdRef=\"$told\"")" 0
    same "$(number "^<callNotify threadId=\"$main\" .* objIdRef=\"$told\" isNotifyAll=\"0\"")" 1
    same "$(number "^<callNotify threadId=\"$main\" .* objIdRef=\"$told\" isNotifyAll=\"1\"")" 1

    thread '&lt;&amp;&quot;&#9;'"'"'&gt;'
}

test_sleeps_and_interrupts() {
    local main
    recorded 0 format=tptp,file=app
    thread main
    main=$thread
    thread sleeper
    same "$(number "^<monWait threadIdRef=\"$thread\" .* objIdRef=\"-1\" timeout=\"50\".*Tptp[.]doze[(]Tptp.java:$(site Tptp.java doze)\)")" 1
    at_least "$(attr timeout "^<monWaited threadIdRef=\"$thread\" .* objIdRef=\"-1\"")" 50 "ms of sleep"
    same "$(attr isTimedOut "^<monWaited threadIdRef=\"$thread\" ")" 1

    thread dozer
    same "$(attr timeout "^<monWait threadIdRef=\"$thread\" .* objIdRef=\"-1\"")" 60000
    same "$(attr isTimedOut "^<monWaited threadIdRef=\"$thread\" .* objIdRef=\"-1\"")" 0
    same "$(number "^<callInterrupt threadId=\"$main\" .* objIdRef=\"$object\"")" 1
    same "$(number "^<threadInterrupted threadId=\"$thread\" .*InterruptedException[.]-init-[(]")" 1

    thread parked
    same "$(number "^<callInterrupt threadId=\"$main\" .* objIdRef=\"$object\"")" 1
    thread own
    same "$(number "^<callInterrupt .* objIdRef=\"$object\"")" 0
}

# One wait for each join, on the object of the thread's start.
test_joins() {
    local main name names="blocked timed notified sleeper own"
    recorded 0 format=tptp,file=app
    thread main
    main=$thread
    [ "$JDK_MAJOR" -lt 21 ] || names="$names v"
    for name in $names; do
        thread "$name"
        same "$name: $(number "^<monWait threadIdRef=\"$main\" .* objIdRef=\"$object\" timeout=\"0\"")" "$name: 1"
        same "$name: $(number "^<monWaited threadIdRef=\"$main\" .* objIdRef=\"$object\" .*isTimedOut=\"0\"")" "$name: 1"
    done
    same "$(attr isTimedOut "^<monWaited threadIdRef=\"$main\" .* objIdRef=\"$object\"")" 0
    [ "$JDK_MAJOR" -lt 21 ] || has app.trcxml 'threadName="v"><annotation name="orca.virtual" value="1"/>'
    thread dozer
    same "$(number "^<monWait threadIdRef=\"$main\" .* objIdRef=\"$object\" timeout=\"20\"")" 1
    at_least "$(attr timeout "^<monWaited threadIdRef=\"$main\" .* objIdRef=\"$object\".*isTimedOut=\"1\"")" 20 "ms of join"

    # The waits of java.lang.Thread are not recorded: the joins stand for them.
    recorded 0 "format=tptp,file=app,include=Tptp*"
    valid app.trcxml
    thread sleeper
    same "$(number "^<monWait threadIdRef=\"1\" .* objIdRef=\"$object\" timeout=\"0\"")" 1
    same "$(number "^<monWaited threadIdRef=\"1\" .* objIdRef=\"$object\" .*isTimedOut=\"0\"")" 1
}

test_programs_are_valid() {
    local program programs="Waits Threads Contention"
    command -v xmllint >/dev/null || skip "no xmllint"
    [ "$JDK_MAJOR" -lt 21 ] || programs="$programs Virtual"
    for program in $programs; do
        run 0 "$JAVA" "-agentpath:$AGENT=quiet,format=tptp,file=$program" -XX:-UsePerfData -cp "$CLASSES" "$program" facts
        at_least "$(grep -c '^<threadStart ' "$program.trcxml")" 3 "threads of $program"
        valid "$program.trcxml"
    done
}

# The rows of the tables of classes, without what the format has not: parks, waits for a class to be initialized.
monitors() { # FILE
    run 0 "$ORCA" report --monitors --top 0 "$1"
    awk '/^Parked, / { parks = 1 } /^$/ { parks = 0 } !parks' "$TMP/out" | sed -e 's/  */ /g' | grep -E '^[^ ]+ [0-9]' |
        grep -vE '^(recorded|int\[\]|object [0-9A-F]{8} |unknown|j[a-z.]*(concurrent|u\.c)\.)'
}

# What is read from such a file and written again is the file; the reports agree on monitors.
test_there_and_back() {
    local program programs="Waits Threads Contention Tptp"
    [ "$JDK_MAJOR" -lt 21 ] || programs="$programs Virtual"
    for program in $programs; do
        run 0 "$JAVA" "-agentpath:$AGENT=quiet,format=otrace+tptp,file=$program.otrace" -XX:-UsePerfData -cp "$CLASSES" "$program" facts
        run 0 "$ORCA" export "$program.trcxml" --to tptp -o again
        cmp "$program.trcxml" again.trcxml || fail "$program: another file"
        monitors "$program.otrace" >first
        monitors "$program.trcxml" | diff first - || fail "$program: another report"
    done
}

test_names_of_files() {
    recorded 0 format=tptp,file=app.trcxml
    same "$(ls app*)" app.trcxml
    recorded 0 format=otrace+orca+tptp,file=all.otrace
    same "$(echo all.*)" "all.classtable all.methods all.orca all.otrace all.trcxml"
    # The command writes the same file.
    run 0 "$ORCA" export all.otrace --to tptp -o again
    cmp all.trcxml again.trcxml || fail "another file"
    recorded 0 format=tptp
    same "$(ls orca-*)" "$(ls orca-[0-9]*.trcxml)"
}

test_a_killed_jvm() {
    "$JAVA" "-agentpath:$AGENT=quiet,format=tptp,file=app" -XX:-UsePerfData -cp "$CLASSES" Tptp hang >out 2>err &
    wait_for 60 grep -q hangs out
    kill -KILL $!
    wait $! 2>/dev/null
    [ ! -e app.trcxml ] || fail "half of a file"
    run 0 "$ORCA" export app.otrace --to tptp
    valid app.trcxml
    has app.trcxml '<option key="orca.state" value="recovered"/>'
    thread sleeper
    same "$(attr isTimedOut "^<monWaited threadIdRef=\"$thread\" ")" 1
    thread main
    same "$(attr timeout "^<monWait threadIdRef=\"$thread\" .* objIdRef=\"-1\" timeout=\"60000\"")" 60000
}

# TPTP 4.5's thread profiling: what needs instrumentation is optional; what the JVM tells by itself stays.
test_without_contention_analysis() {
    recorded 0 format=tptp,contanalysis=off,file=app
    valid app.trcxml
    same "$(number '^<(callStart|callInterrupt|callNotify|threadInterrupted) ')" 0
    at_least "$(number '^<threadStart ')" 5 threadStart
    at_least "$(number '^<threadEnd ')" 5 threadEnd
    thread blocked
    same "$(number "^<monContendedEnter threadIdRef=\"$thread\" .*Tptp[$]Held")" 1
    same "$(number "^<monContendedEntered threadIdRef=\"$thread\" ")" 1
    thread timed
    same "$(number "^<monWait threadIdRef=\"$thread\" .*Tptp[$]Timed")" 1
    same "$(attr isTimedOut "^<monWaited threadIdRef=\"$thread\" ")" 1
}

# No class of the JDK is another one than without the agent, whatever events= asks for.
test_without_contention_analysis_nothing_is_rewritten() {
    run 0 traced contanalysis=off -Xlog:redefine+class+load=info Tptp
    lacks out java.lang
    events
    at_least "$(matching ' monitor_contended_enter ')" 1 contentions
    at_least "$(matching ' wait_enter ')" 3 waits
    same "$(matching ' (notify|notify_all|thread_start_called|interrupt|interrupted|join_|sleep_|park_|unpark)')" 0
    run 0 traced contanalysis=off,events=all -Xlog:redefine+class+load=info Tptp
    lacks out java.lang
    events
    same "$(matching ' (notify|notify_all|thread_start_called|interrupt|interrupted|call|call_enter|hold) ')" 0
}
