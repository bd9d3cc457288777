# The control socket under clients that ask nonsense: the JVM lives on, and nothing piles up.
# timeout: 240
. "$ROOT/tests/jvm/traced.sh"

# So many lines (hostile.pl) to the agent of the JVM "jvm".
assault() { # LINES SEED
    local socket threads fds
    perl -MIO::Socket::UNIX -e 1 2>/dev/null || skip "needs perl"
    wait_for 60 eval '[ -n "$(control_socket "$jvm")" ]'
    socket=$(control_socket "$jvm")
    perl "$ROOT/tests/jvm/hostile.pl" "$socket" 500 1 >answers || fail "the first lines were not taken"
    settle
    threads=$(ls "/proc/$jvm/task" | wc -l)
    fds=$(ls "/proc/$jvm/fd" | wc -l)
    perl "$ROOT/tests/jvm/hostile.pl" "$socket" "$1" "$2" >answers || fail "$(cat answers)"
    cat answers
    settle
    # the program starts threads all the time: some are there just now
    wait_for 60 eval '[ "$(ls "/proc/$jvm/task" | wc -l)" -le $((threads + 1)) ]'
    same "$(ls "/proc/$jvm/fd" | wc -l)" "$fds"
    run 0 "$ORCA" status "$jvm"
}

# Clients that say nothing are cut off after five seconds.
settle() {
    wait_for 60 eval "! ls -l /proc/$jvm/fd | grep -c socket | grep -qv '^[0-2]\$'"
}

no_more_files() {
    same "$(ls "$TMP" | grep -vE '^(answers|app.*\.otrace|counts|out|err|java\..*|info.*|in|events.*)$')" ""
}

nonsense() { # LINES SEED
    start_traced "" -Xmx48m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UseDynamicNumberOfCompilerThreads Killed counts
    wait_for 60 grep -q ready out
    mv err java.err
    assault "$1" "$2"
    has out "recorded    for"
    end_with TERM 143
    no_crash
    same "$(grep -v '^OpenJDK 64-Bit Server VM warning: Option' java.err)" ""
    no_more_files
    for f in "$TMP"/app*.otrace; do
        info "$f"
        same "$f $(value state) $(value lost_total) $(value damaged)" "$f complete 0 0"
    done
}

test_nonsense_while_it_is_recorded() { nonsense 1500 42; }
test_much_nonsense() { nonsense 10000 43; }
