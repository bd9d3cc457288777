# orca top, with a program that knows what its threads do (TopLoad.java).
# timeout: 120
. "$ROOT/tests/jvm/traced.sh"
export LC_ALL=C.UTF-8

TMUX_NAME=orca-top-$$

finish() {
    tmux -L "$TMUX_NAME" kill-server 2>/dev/null
    leave_no_jvm
}

# The program in the background, ready: "jvm" is its pid; what is said to descriptor 9 it obeys.
launch() { # JVM-OPTION...
    launch_told TopLoad "$@" --
}

say() { # WORDS REPLY
    echo "$1" >&9
    wait_for 60 grep -q "^$2" java.out
}

# Not recorded, and nothing is left of what top made.
nothing_left() {
    wait_for 60 eval '[ -z "$(control_socket "$jvm")" ]'
    wait_for 60 eval '[ -z "$(ls -d orca-top-* 2>/dev/null)" ]'
    wait_for 60 eval '! pgrep -f "orca top $jvm" >/dev/null'
    no_rings "$jvm"
}

end() {
    echo end >&9
    wait "$jvm" || fail "the program ended with $?"
    no_crash
}

# What the last picture of a file says.
picture() { # FILE JQ-EXPRESSION [JQ-OPTION...]
    local file=$1 what=$2
    shift 2
    tail -n 1 "$file" | jq -r "$@" "$what"
}
state() { # FILE NAME
    picture "$1" '.now[] | select(.name == $n).state' --arg n "$2"
}
time_of() { # FILE NAME KIND
    picture "$1" '.now[] | select(.name == $n)[$k]' --arg n "$2" --arg k "$3_ns"
}
waits() { # FILE NAME KEY: of the wait that the thread is in
    picture "$1" '.report.open_waits[] | select(.name == $n)[$k]' --arg n "$2" --arg k "$3"
}
card() { # FILE RULE: the first one's text
    picture "$1" 'first(.report.findings[] | select(.rule == $r).text)' --arg r "$2"
}

# So many percent of the picture's span, at least and at most.
share() { # NS LEAST MOST WHAT
    local span
    span=$(picture pictures .span_ns)
    [ $(($1 * 100)) -ge $((span * $2)) ] && [ $(($1 * 100)) -le $((span * $3)) ] ||
        fail "$4: $1 ns of $span, not $2 to $3 %"
}

test_shares() {
    launch
    run 0 "$ORCA" top "$jvm" --json -n 6 --window 4s
    cp out pictures
    same "$(wc -l <pictures)" 6
    same "$(picture pictures .schema)" orca-top-2
    same "$(picture pictures .state)" recording
    # each moment of the picture is one thing; how long victim is blocked is a matter of the machine
    same "$(picture pictures '[.now[] | .life_ns ==
        .running_ns + .blocked_ns + .waiting_ns + .idle_ns + .ready_ns + .stopped_ns + .no_carrier_ns + .other_ns] | all')" true
    same "$(picture pictures '.span_ns as $span | [.now[] | select(.life_ns == $span).name] | . - (. - ["victim", "locked", "parker"]) | sort | join(" ")')" \
        "locked parker victim"
    at_least "$(time_of pictures victim blocked)" 1 "victim blocked"
    at_least "$(time_of pictures victim waiting)" 1 "victim asleep"
    share "$(time_of pictures locked blocked)" 95 100 "locked blocked"
    share "$(time_of pictures parker idle)" 95 100 "parker"
    share "$(time_of pictures waiter idle)" 95 100 "waiter"
    share "$(time_of pictures main blocked)" 0 0 "main"
    same "$(state pictures locked), $(state pictures sleeper), $(state pictures parker), $(state pictures waiter)" \
        "blocked, asleep when Orca attached, idle, idle"
    # who has the lock that another one wants: what is known of it
    same "$(state pictures locker)" "asleep when Orca attached"
    same "$(waits pictures locked other_name)" locker
    same "$(waits pictures locked class)" 'java.util.concurrent.locks.ReentrantLock$NonfairSync'
    # most harmful first, who has nothing to do last
    same "$(picture pictures '.now[0].name')" locked
    same "$(picture pictures '.now[1].name')" victim
    has pictures "TopLoad\$Till"
    nothing_left
    end
}

test_tables() {
    launch
    run 0 "$ORCA" top "$jvm" --batch -n 2 --delay 500ms
    has out "$jvm TopLoad, Java $JDK_MAJOR"
    grep -q '^threads [0-9]*: [0-9]* blocked, ' out || fail "$(cat out)"
    grep -qE '^locked  *blocked  *[0-9.]* m?s  *(100|9[0-9]) %  *0 %  *[0-9] %  *[^ ].* locker ' out || fail "$(cat out)"
    grep -q '^schön?\[31m?  *asleep when Orca attached  *> ' out || fail "the name with controls: $(cat out)"
    ! grep -q "$(printf '\033')" out || fail "a control character"
    grep -q '^threads by pool ' out || fail "no table of pools"
    grep -q '^resources ' out || fail "no table of resources"
    lacks out "orca report"
    run 2 "$ORCA" top
    run 2 "$ORCA" top "$jvm" --window 2h
    run 1 "$ORCA" top 999999999
    nothing_left
    end
}

# The same cards as of orca report: of a pool of two that is always in use.
pool_is_told() {
    run 0 "$ORCA" top "$jvm" --json -n 1 --delay 2s
    card out exhausted-pool | grep -q 'Tills' && [ "$(state out client-1)" != unknown ]
}

test_exhausted_pool() {
    launch
    say pool pooled
    wait_for 60 pool_is_told
    cp out pictures
    local card
    card=$(card pictures exhausted-pool)
    echo "$card" >card
    has card "Tills"
    has card "2 in use at once"
    has card "threads of client"
    has card "TopLoad.pay (TopLoad.java:$(sed -n '/site: pay/=' "$ROOT/tests/jvm/TopLoad.java"))"
    run 0 "$ORCA" top "$jvm" -n 1 --delay 2s
    grep -q '^client  *6  *' out || fail "no row of the pool: $(cat out)"
    grep -q '^client-[1-6]  *blocked ' out || fail "nobody waits: $(cat out)"
    nothing_left
    end
}

# Also when the part that is looked at has not a single event of those who wait.
test_stuck() {
    launch_told TopStuck --
    run 0 "$ORCA" top "$jvm" --json -n 5 --window 1s
    cp out pictures
    card pictures stuck >card
    has card "Stuck: every thread of the program (3) waits without a timeout"
    local formed span
    formed=$(picture pictures '.report.findings[] | select(.rule == "stuck") | .to - .from')
    span=$(picture pictures .span_ns)
    [ "$formed" -gt "$span" ] || fail "stuck for $formed ns, no longer than the picture's $span"
    run 0 "$ORCA" top "$jvm" -n 1
    grep -q '^ 1  Stuck: every thread' out || fail "not the first card: $(cat out)"
    nothing_left
    kill -KILL "$jvm"
}

test_two_deadlocks() {
    launch_told TopStuck -- two
    run 0 "$ORCA" top "$jvm" --json -n 4 --window 1s
    cp out pictures
    same "$(picture pictures '[.report.findings[] | select(.rule == "deadlock")] | length')" 2
    same "$(picture pictures '[.report.deadlocks[].members | map(.name) | sort | join(",")] | sort | join(" ")')" "a,b c,d"
    run 0 "$ORCA" top "$jvm" -n 1
    same "$(grep -c 'Deadlock of 2 threads' out)" 2
    nothing_left
    end
}

# A thread that was found asleep may have gone on without an event: it does not sleep for ever, and when it is seen to run, it runs.
is_late() { # STATE
    [ -s pictures ] && [ "$(state pictures late)" = "$1" ]
}
test_found_asleep() {
    launch
    say late asleep
    set -m
    "$ORCA" top "$jvm" --json --delay 250ms >pictures 2>top.err &
    local top=$!
    wait_for 60 is_late "asleep when Orca attached"
    wait_for 60 is_late running
    kill -TERM $top
    wait $top || fail "top ended with $?"
    same "$(jq -r '.now[] | select(.name == "late").state' pictures | sort -u | tr '\n' ' ')" "asleep when Orca attached running "
    nothing_left
    end
}

# Whether a picture says that victim was blocked so often.
blocked() { # TIMES
    run 0 "$ORCA" top "$jvm" --json -n 1
    [ "$(picture out '.report.threads[] | select(.name == "victim").held_up_count')" -ge "$1" ]
}

# A recording that was there is left as it was.
test_joined() {
    launch "$(agent maxsize=4m)"
    wait_for 60 blocked 10
    cp out pictures
    at_least "$(time_of pictures victim blocked)" 1 "victim blocked before"
    same "$(waits pictures locked other_name)" locker
    run 0 "$ORCA" status "$jvm" --json
    same "$(tr -d ' \n' <out | grep -o '"recorded":[a-z]*')" '"recorded":true'
    has out "$TRACE"
    end
    good_trace complete
}

deadlock_is_told() {
    [ -s pictures ] && [ "$(card pictures deadlock)" != "" ]
}

test_deadlock() {
    launch
    set -m
    "$ORCA" top "$jvm" --json --delay 500ms >pictures 2>top.err &
    local top=$!
    wait_for 60 [ -s pictures ]
    same "$(head -n 1 pictures | jq '.report.deadlocks | length')" 0
    say deadlock deadlocked
    wait_for 60 deadlock_is_told
    kill -TERM $top
    wait $top || fail "top ended with $?"
    same "$(waits pictures left other_name) $(waits pictures right other_name)" "right left"
    nothing_left
    # ... and one that was there before
    run 0 "$ORCA" top "$jvm" -n 3
    grep -q '^ 1  Deadlock of 2 threads, for ' out || fail "$(cat out)"
    grep -qE '^left  *blocked .* right ' out || fail "$(cat out)"
    end
}

# What a flight recorder has overwritten, the JVM is asked for.
test_overwritten() {
    launch "$(agent maxsize=4m,depth=4)"
    say deadlock deadlocked
    say "storm 2000000" stormed
    run 0 "$ORCA" top "$jvm" -n 1
    grep -q '^ 1  Deadlock of 2 threads, ' out || fail "$(cat out)"
    grep -qE '^left  *blocked .* java.lang.Object .* right ' out || fail "$(cat out)"
    grep -qE '^locked  *blocked .* locker ' out || fail "$(cat out)"
    grep -q '^victim ' out || fail "$(cat out)"
    end
}

test_killed_top() {
    launch
    for signal in TERM HUP INT KILL; do
        set -m
        "$ORCA" top "$jvm" --json --delay 200ms >pictures 2>top.err &
        local top=$!
        wait_for 60 grep -q '"state":"recording"' pictures
        [ -d orca-top-* ] && same "$(stat -c %a orca-top-*)" 700
        kill -$signal $top
        wait $top
        nothing_left
        : >pictures
    done
    end
}

test_killed_jvm() {
    launch
    set -m
    "$ORCA" top "$jvm" --json --delay 200ms >pictures 2>top.err &
    local top=$!
    wait_for 60 grep -q '"state":"recording"' pictures
    kill -KILL "$jvm"
    wait $top || fail "top ended with $?"
    same "$(picture pictures .state)" gone
    same "$(state pictures locked)" blocked
    nothing_left
}

# A JVM that is stopped: said so; and what could not be taken away then is, later.
test_stopped_jvm() {
    launch
    set -m
    "$ORCA" top "$jvm" --json --delay 200ms >pictures 2>top.err &
    local top=$!
    wait_for 60 grep -q '"state":"recording"' pictures
    kill -STOP "$jvm"
    wait_for 60 grep -q '"state":"silent"' pictures
    kill -TERM $top
    wait $top || fail "top ended with $?"
    has top.err "does not answer: its recording will be removed as soon as it does"
    kill -CONT "$jvm"
    nothing_left
    end
}

test_detached() {
    launch
    set -m
    "$ORCA" top "$jvm" --json --delay 200ms >pictures 2>top.err &
    local top=$!
    wait_for 60 grep -q '"state":"recording"' pictures
    "$ORCA" detach "$jvm" 2>/dev/null
    wait $top || fail "top ended with $?"
    same "$(picture pictures .state)" ended
    nothing_left
    end
}

# Many virtual threads.
test_virtual() {
    need_jdk 21
    launch
    set -m
    "$ORCA" top "$jvm" --json --delay 500ms >pictures 2>top.err &
    local top=$!
    wait_for 60 grep -q '"state":"recording"' pictures
    say "virtual 12000" parked
    wait_for 60 eval '[ "$(picture pictures "[.now[] | select(.name | startswith(\"many-\"))] | length")" = 12000 ]'
    kill -TERM $top
    wait $top || fail "top ended with $?"
    same "$(state pictures locked)" blocked
    nothing_left
    end
}

# --- on a terminal -----------------------------------------------------------------------------------

screen() {
    tmux -L "$TMUX_NAME" capture-pane -p >screen
}
shows() { # PATTERN
    screen
    grep -q -- "$1" screen
}
see() { # PATTERN
    wait_for 60 shows "$1"
}
press() { # KEY...
    tmux -L "$TMUX_NAME" send-keys "$@"
}

# A shell in a terminal of 80x24; it says "$ " when it is ready.
open_terminal() {
    command -v tmux >/dev/null || skip "no tmux"
    tmux -L "$TMUX_NAME" -u -f /dev/null new-session -d -x 80 -y 24 \
        "cd '$TMP' && TMPDIR='$TMP' PS1='ready> ' exec sh" || fail "tmux"
    see '^ready>'
}

begin_top() {
    press "stty -a >stty.before; '$ORCA' top $jvm; ended=\$?; stty -a >stty.after; echo status \$ended" Enter
    see '^threads by pool '
}

test_screen() {
    launch
    open_terminal
    begin_top
    see "^$jvm TopLoad, Java $JDK_MAJOR"
    see '^ 1  lock of Sync.run '
    press t
    see '^thread  *state  *since '
    see '^locked  *blocked '
    see '^schön?\[31m?  *asleep when Orca attached '
    press p
    see 'p continue'
    cp screen paused
    # another top draws three pictures meanwhile: its clock is this one's
    run 0 "$ORCA" top "$jvm" --json -n 3
    screen
    same "$(cat screen)" "$(cat paused)"
    press p
    see 'p pause'
    press / v i c Enter                   # filter
    see '/ vic'
    wait_for 60 eval "! shows '^locked '"
    see '^victim '
    press Escape
    see '^locked '
    press t
    see '^ 1  lock of Sync.run '
    press 1
    see '^    rule  *dominant-lock '
    press Escape
    see '^threads by pool '
    press 9
    see 'no finding has this number now'
    press Escape
    press End
    see '^locker  *asleep when Orca attached '
    press Home
    see "^$jvm TopLoad"
    press h
    see '^orca top: keys'
    press h + d 0 . 5 Enter
    see 'every 500 ms'
    tmux -L "$TMUX_NAME" resize-window -x 40 -y 10
    see 'orca top needs 60x12'
    tmux -L "$TMUX_NAME" resize-window -x 80 -y 24
    see '^threads by pool '
    press q
    see '^status 0'
    ! shows '^threads by pool ' || fail "the picture is still there"
    same "$(cat stty.after)" "$(cat stty.before)"
    nothing_left
    end
}

# The JVM ends: the last picture stays until q.  And a terminal that goes away.
test_screen_ends() {
    launch
    open_terminal
    begin_top
    kill -KILL "$jvm"
    see '^the JVM has ended'
    see '^threads by pool '
    press q
    see '^status 0'
    same "$(cat stty.after)" "$(cat stty.before)"
    nothing_left
    press clear Enter
    launch
    begin_top
    tmux -L "$TMUX_NAME" kill-server
    nothing_left
    end
}
