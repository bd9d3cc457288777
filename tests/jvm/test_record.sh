# orca record around commands that are not a JVM: status, signals, environment, messages.
# jdk: any

export ORCA_AGENT=$STUB

test_exit_status_is_the_commands() {
    for status in 0 1 3 255; do
        run $status "$ORCA" record -- sh -c "exit $status"
    done
}

test_death_by_signal_is_mirrored() {
    run 139 bash -c "'$ORCA' record -- sh -c 'kill -SEGV \$\$'; exit \$?"
    has err "Segmentation fault" # bash says so of a child that a signal killed, and only then
    run 143 "$ORCA" record -- sh -c 'kill -TERM $$'
    [ ! -e core ] || fail "a core file of orca itself"
}

test_command_not_found() {
    run 127 "$ORCA" record -- no-such-command-here
    same "$(cat err)" "orca: no-such-command-here: command not found"
    run 127 "$ORCA" record -- ./nothing
    has err "./nothing: No such file"
}

test_command_not_executable() {
    touch file
    run 126 "$ORCA" record -- ./file
    same "$(cat err)" "orca: ./file: Permission denied"
}

test_no_command() {
    run 2 "$ORCA" record
    has err "name the command to run"
    run 2 "$ORCA" record -o x.otrace --
    has err "name the command to run"
}

test_options_of_the_command_are_its_own() {
    run 0 "$ORCA" record echo -o --help -e
    same "$(cat out)" "-o --help -e"
    run 0 "$ORCA" record -- echo -- x
    same "$(cat out)" "-- x"
}

test_stdin_and_stdout_are_untouched() {
    printf 'a\0b\n' >in
    "$ORCA" record -- cat <in >out 2>err || fail "status $?"
    cmp in out
}

test_says_when_no_jvm_was_recorded() {
    run 4 "$ORCA" record -- sh -c 'exit 4'
    has err "orca: no JVM was recorded: 'sh' started none"
    same "$(count err .)" 1
}

test_agent_named_but_missing() {
    ORCA_AGENT=$TMP/none.so run 1 "$ORCA" record -- touch ran
    has err "ORCA_AGENT=$TMP/none.so: cannot be read"
    [ ! -e ran ] || fail "the command ran"
}

test_agent_missing_names_every_place() {
    unset ORCA_AGENT
    mkdir bin
    cp "$ORCA" bin/orca
    run 1 bin/orca record -- touch ran
    has err "$TMP/bin/liborca.so"
    has err "$TMP/bin/../lib/liborca.so"
    has err "ORCA_AGENT"
    [ ! -e ran ] || fail "the command ran"
}

test_agent_beside_or_in_lib() {
    unset ORCA_AGENT
    mkdir bin lib
    cp "$ORCA" bin/orca
    cp "$STUB" lib/liborca.so
    run 0 bin/orca record -- sh -c 'echo $JAVA_TOOL_OPTIONS'
    has out "-agentpath:$TMP/lib/liborca.so="
    cp "$STUB" bin/liborca.so
    run 0 bin/orca record -- sh -c 'echo $JAVA_TOOL_OPTIONS'
    has out "-agentpath:$TMP/bin/liborca.so="
}

test_agent_path_with_an_equals_sign() {
    mkdir a=b
    cp "$STUB" a=b/liborca.so
    ORCA_AGENT=a=b/liborca.so run 1 "$ORCA" record -- true
    has err "path has a '=' in it"
}

test_java_tool_options_are_kept() {
    JAVA_TOOL_OPTIONS="-Dx=1 -Dy='a b'" run 0 "$ORCA" record -- sh -c 'echo "$JAVA_TOOL_OPTIONS"'
    has out "-Dx=1 -Dy='a b' -agentpath:"
    JAVA_TOOL_OPTIONS= run 0 "$ORCA" record -- sh -c 'echo "$JAVA_TOOL_OPTIONS"'
    same "$(cut -c 1-11 out)" "-agentpath:"
    same "$(env JAVA_TOOL_OPTIONS=-Dz "$ORCA" record -- env 2>err | grep -c ^JAVA_TOOL_OPTIONS=)" 1
}

test_options_reach_the_agent() {
    run 0 "$ORCA" record -e waits,gc --options depth=3,full=block -- sh -c 'echo "$JAVA_TOOL_OPTIONS"'
    has out ",quiet,events=waits+gc,depth=3,full=block"
    has out "file=$TMP/orca-%p.otrace,session="
    run 0 "$ORCA" record -o x.otrace -- sh -c 'echo "$JAVA_TOOL_OPTIONS"'
    has out "file=$TMP/x.otrace,"
    lacks out "events="
}

test_bad_options() {
    run 2 "$ORCA" record --ouput=x -- true
    has err "did you mean '--output'?"
    run 2 "$ORCA" record -e nothing -- true
    has err "--events=nothing: it takes one or more"
    run 2 "$ORCA" record -o
    has err "--output needs a value"
}

test_session_file_is_private_and_removed() {
    run 0 "$ORCA" record -- sh -c 'f=$(echo "$JAVA_TOOL_OPTIONS" | sed "s/.*session=//; s/,.*//"); stat -c "%a %n" "$f"'
    has out "600 $TMP/orca-session-"
    same "$(ls "$TMP" | grep -c orca-session)" 0
}

test_every_trace_named_in_the_session_is_listed() {
    run 0 "$ORCA" record -- sh -c 'f=$(echo "$JAVA_TOOL_OPTIONS" | sed "s/.*session=//; s/,.*//")
        printf "1\t%s/a.otrace\n2\t%s/b.otrace\n1\t%s/a.otrace\n3\t/cut" "$PWD" "$PWD" "$PWD" >>"$f"'
    same "$(count err a.otrace)" 1
    same "$(count err b.otrace)" 1
    lacks err "no JVM was recorded"
    lacks err "/cut"
}

test_output_folder_is_checked_first() {
    run 1 "$ORCA" record -o none/x.otrace -- touch ran
    has err "orca: none: No such file or directory; create the folder or choose another -o"
    touch file
    run 1 "$ORCA" record -o file/x.otrace -- touch ran
    has err "Not a directory"
    [ ! -e ran ] || fail "the command ran"
}

test_an_old_trace_makes_room_and_nothing_else_does() {
    printf 'ORCATRC\nrest' >old.otrace
    run 0 "$ORCA" record -o old.otrace -- true
    [ ! -e old.otrace ] || fail "the old trace is still there"
    echo precious >app.jar
    run 1 "$ORCA" record -o app.jar -- touch ran
    has err "app.jar: exists and is not a trace"
    same "$(cat app.jar)" precious
    mkdir folder
    run 1 "$ORCA" record -o folder -- touch ran
    has err "folder: exists and is not a trace"
    [ ! -e ran ] || fail "the command ran"
}

# Prints each signal it gets to the file named, ends on TERM with status 7.
LISTENER='for s in HUP INT QUIT USR1 USR2 WINCH; do trap "echo $s >>got" $s; done
    trap "echo TERM >>got; exit 7" TERM
    echo $$ >pid; while :; do sleep 0.05; done'

test_signals_are_passed_on() {
    set -m # else background jobs ignore INT and QUIT
    "$ORCA" record -- bash -c "$LISTENER" 2>err &
    local orca=$!
    wait_for 60 test -s pid
    for s in HUP INT QUIT USR1 USR2 WINCH; do
        kill -$s $orca
        wait_for 60 grep -q $s got
    done
    kill -TERM $orca
    wait $orca
    same $? 7
    same "$(sort got | tr '\n' ' ')" "HUP INT QUIT TERM USR1 USR2 WINCH "
}

test_stop_and_continue() {
    set -m
    "$ORCA" record -- bash -c "$LISTENER" 2>err &
    local orca=$!
    wait_for 60 test -s pid
    local child
    child=$(cat pid)
    kill -TSTP $orca
    wait_for 60 eval 'grep -q "^State:.*T" /proc/'$orca'/status && grep -q "^State:.*T" /proc/'$child'/status'
    kill -CONT $orca
    wait_for 60 eval '! grep -q "^State:.*T" /proc/'$orca'/status && ! grep -q "^State:.*T" /proc/'$child'/status'
    kill -TERM $orca
    wait $orca
    same $? 7
}

# orca is held while the terminal's signal arrives, so that one sent again by it would come second.
# The shell between script and orca gets the signal, too: with a trap it waits for orca's status.
test_ctrl_c_arrives_once() {
    command -v script >/dev/null || skip "needs script"
    cat >job.sh <<'END'
trap 'echo INT >>got' INT
kill -STOP $PPID
touch ready
while [ ! -s got ]; do sleep 0.05; done
kill -CONT $PPID
for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.05; done
touch ended
exit 5
END
    { wait_for 60 test -e ready; printf '\003'; wait_for 60 test -e ended; } |
        script -qec "trap : INT; '$ORCA' record -- bash job.sh; exit \$?" /dev/null >tty
    same $? 5
    same "$(cat got)" INT
}

test_ignored_signals_stay_ignored() {
    local plain recorded
    plain=$(trap '' HUP USR1; grep -h 'Sig\(Ign\|Blk\|Cgt\)' /proc/self/status)
    recorded=$(trap '' HUP USR1; "$ORCA" record -- grep -h 'Sig\(Ign\|Blk\|Cgt\)' /proc/self/status 2>/dev/null)
    same "$recorded" "$plain"
}

test_the_command_gets_no_extra_descriptors() {
    sh -c 'ls /proc/$$/fd' >plain 2>/dev/null
    "$ORCA" record -- sh -c 'ls /proc/$$/fd' >recorded 2>/dev/null
    same "$(cat recorded)" "$(cat plain)"
}
