# orca record around real JVMs: the line at the end, names of traces, exit status, signals.

contend() { # ORCA-ARGUMENT... -- CONTEND-ARGUMENT...
    local args
    split_words args "$@"
    "$ORCA" record "${args[@]}" -- "$JAVA" -cp "$CLASSES" Contend "${rest[@]}"
}

# The line that ends the recording of $1; $2: what stands between the duration and the hint.
summary() { # FILE WORDS
    local line="^orca: $1: [0-9,]* events in [0-9.]* m\{0,1\}s, $2; look at it: orca report "
    grep -q "$line" err && return 0
    cat err
    fail "no line like: $line"
}

test_ends_with_one_line_for_the_trace() {
    run 0 contend -o app.otrace -- return
    same "$(cat out)" done
    summary app.otrace "none lost"
    same "$(count err '^orca: ')" 1
    same "$(grep -v '^orca: \|^Picked up' err)" ""
    [ -s app.otrace ] || fail "no trace"
}

test_default_name_has_the_pid() {
    run 0 contend -- return
    summary 'orca-[0-9]*\.otrace' "none lost"
    ls orca-[0-9]*.otrace >/dev/null || fail "no trace"
}

test_exit_statuses() {
    run 3 contend -o a.otrace -- exit 3
    summary a.otrace "none lost"
    run 9 contend -o b.otrace -- halt 9
    summary b.otrace "none lost"
    run 1 contend -o c.otrace -- throw
    summary c.otrace "none lost"
    has err "as asked"
}

test_second_jvm_gets_a_name_of_its_own() {
    run 0 contend -o app.otrace -- child "$JAVA"
    summary app.otrace "none lost"
    same "$(count err '^orca: ')" 2
    same "$(ls ./*.otrace | wc -l)" 2
}

test_through_a_wrapper_in_another_folder() {
    mkdir sub
    run 6 "$ORCA" record -o app.otrace -- \
        sh -c "cd sub && '$JAVA' -cp '$CLASSES' Contend; exit 6"
    summary app.otrace "none lost"
    [ -s app.otrace ] || fail "no trace where record was started"
}

test_name_with_blanks_and_commas() {
    run 0 contend -o "a b,c.otrace" -- return
    has err "look at it: orca report 'a b,c.otrace'"
    [ -s "a b,c.otrace" ] || fail "no trace"
}

test_killed_jvm_is_recovered() {
    "$ORCA" record -o app.otrace -- "$JAVA" -cp "$CLASSES" Contend hang >out 2>err &
    local orca=$!
    wait_for 60 grep -q ready out
    kill -KILL "$(pgrep -P $orca)"
    wait $orca
    same $? 137
    summary app.otrace "none lost, recovered after the JVM was killed"
}

test_sigterm_to_record_ends_the_jvm_in_good_order() {
    "$ORCA" record -o app.otrace -- "$JAVA" -cp "$CLASSES" Contend hang >out 2>err &
    local orca=$!
    wait_for 60 grep -q ready out
    kill -TERM $orca
    wait $orca
    same $? 143
    summary app.otrace "none lost"
}

test_bad_agent_option_leaves_the_program_alone() {
    run 3 contend --options nonsense=1 -- exit 3
    same "$(cat out)" done
    has err "orca: unknown key 'nonsense'"
    has err "orca: no JVM was recorded"
}

test_a_trace_of_the_same_name_is_replaced() {
    run 0 contend -o app.otrace -- return
    run 0 contend -o app.otrace -- return
    same "$(ls ./*.otrace | wc -l)" 1
}

# What is named at the end is what is there.
test_other_formats_are_named() {
    run 0 "$ORCA" record -o app.otrace --options format=orca+tptp -- "$JAVA" -cp "$CLASSES" Ends return
    same "$(echo app*)" "app.classtable app.methods app.orca app.trcxml"
    same "$(grep '^orca: ' err)" "orca: app.orca, app.methods, app.classtable: look at it: orca report app.orca
orca: app.trcxml: look at it: orca report app.trcxml"
    run 0 "$ORCA" record -o both.otrace --options format=otrace+orca -- "$JAVA" -cp "$CLASSES" Ends return
    same "$(echo both*)" "both.classtable both.methods both.orca both.otrace"
    same "$(grep -c '^orca: ' err)" 2
    has err "look at it: orca report both.otrace"
    has err "orca: both.orca, both.methods, both.classtable: look at it: orca report both.orca"
}
