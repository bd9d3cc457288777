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

# What the last picture of a file says of one thread (lock), up to the next one.
row() { # FILE NAME
    tail -n 1 "$1" | grep -o "\"name\":\"$2\".*" | sed 's/,{"id":[0-9]*,"name":".*//; s/\],"locks":.*//'
}
lock() { # FILE CLASS
    tail -n 1 "$1" | sed 's/.*"locks"://' | grep -o "\"class\":\"$2\".*" | sed 's/,{"id":.*//'
}
number() { # KEY, of a row on the standard input
    grep -o "\"$1\":[0-9]*" | head -n 1 | cut -d : -f 2
}
word() { # KEY
    grep -o "\"$1\":\"[^\"]*\"" | head -n 1 | cut -d '"' -f 4
}
state() { # FILE NAME
    row "$1" "$2" | word state
}

# So many percent of the picture's span, at least and at most.
share() { # NS LEAST MOST WHAT
    local span
    span=$(tail -n 1 pictures | number span_ns)
    [ $(($1 * 100)) -ge $((span * $2)) ] && [ $(($1 * 100)) -le $((span * $3)) ] ||
        fail "$4: $1 ns of $span, not $2 to $3 %"
}

test_shares() {
    launch
    run 0 "$ORCA" top "$jvm" --json -n 6 --window 4s
    cp out pictures
    same "$(wc -l <pictures)" 6
    same "$(tail -n 1 pictures | word state)" recording
    share "$(row pictures victim | number held_up_ns)" 12 45 "victim held up"
    share "$(row pictures victim | number sleeping)" 40 85 "victim sleeping"
    share "$(row pictures locked | number held_up_ns)" 98 100 "locked held up"
    share "$(row pictures sleeper | number sleeping)" 0 0 "sleeper, of which no event tells the end"
    share "$(row pictures parker | number parked)" 98 100 "parker"
    share "$(row pictures waiter | number waiting)" 98 100 "waiter"
    share "$(row pictures main | number held_up_ns)" 0 0 "main"
    same "$(state pictures locked) $(state pictures sleeper) $(state pictures parker) $(state pictures waiter) $(state pictures main)" \
        "lock unknown parked waiting running"
    same "$(row pictures locked | word owner)" locker
    same "$(row pictures locked | word class)" 'java.util.concurrent.locks.ReentrantLock$NonfairSync'
    at_least "$(row pictures victim | number held_up_count)" 10 "times that victim was held up"
    share "$(lock pictures 'TopLoad$Till' | number held_up_ns)" 12 45 "the lock"
    at_least "$(lock pictures 'TopLoad$Till' | number worst_ns)" 20000000 "its longest wait"
    at_least "$(grep -c '"owner":"holder"' pictures)" 1 "pictures that know who has the lock"
    nothing_left
    end
}

test_tables() {
    launch
    run 0 "$ORCA" top "$jvm" --batch -n 2 --delay 500ms
    has out "$jvm TopLoad, Java $JDK_MAJOR"
    has out "at a lock"
    grep -qE '^locked  *lock  *>[^ ]*  *(100|[1-9][0-9])%  *0%  *0  *ReentrantLock#[0-9]*  *locker ' out || fail "$(cat out)"
    grep -q '^schön?\[31m?  *unknown ' out || fail "the name with controls: $(cat out)"
    ! grep -q "$(printf '\033')" out || fail "a control character"
    grep -q '^lock  *queue ' out || fail "no table of locks"
    run 2 "$ORCA" top
    run 2 "$ORCA" top "$jvm" --window 2h
    run 1 "$ORCA" top 999999999
    nothing_left
    end
}

# A thread that was found asleep may have gone on without an event: it does not sleep for ever, and when it is seen to run, it runs.
test_found_asleep() {
    launch
    say late asleep
    run 0 "$ORCA" top "$jvm" --json -n 40 --delay 250ms
    cp out pictures
    same "$(grep -c '"name":"late"[^{}]*"state":"sleeping"' pictures)" 0
    at_least "$(grep -c '"name":"late"[^{}]*"state":"unknown"' pictures)" 1 "pictures in which it is not known"
    same "$(state pictures late)" running
    nothing_left
    end
}

# Whether a picture says that victim was held up so often.
held_up() { # TIMES
    run 0 "$ORCA" top "$jvm" --json -n 1
    [ "$(row out victim | number held_up_count)" -ge "$1" ]
}

# A recording that was there is left as it was.
test_joined() {
    launch "$(agent maxsize=4m)"
    wait_for 60 held_up 10
    cp out pictures
    share "$(row pictures victim | number held_up_ns)" 8 60 "victim held up before"
    same "$(row pictures locked | word owner)" locker
    run 0 "$ORCA" status "$jvm" --json
    same "$(tr -d ' \n' <out | grep -o '"recorded":[a-z]*')" '"recorded":true'
    has out "$TRACE"
    end
    good_trace complete
}

test_deadlock() {
    launch
    set -m
    "$ORCA" top "$jvm" --json --delay 500ms >pictures 2>top.err &
    local top=$!
    wait_for 60 grep -q '"deadlocked":0' pictures
    say deadlock deadlocked
    wait_for 60 grep -q '"deadlocked":2' pictures
    kill -TERM $top
    wait $top || fail "top ended with $?"
    same "$(row pictures left | word owner) $(row pictures right | word owner)" "right left"
    nothing_left
    # ... and one that was there before
    run 0 "$ORCA" top "$jvm" -n 3
    grep -q '^DEADLOCK of 2 threads: left, right$\|^DEADLOCK of 2 threads: right, left$' out || fail "$(cat out)"
    grep -q '^left  *DEADLOCK .* Object[@#][0-9A-F]*  *right ' out || fail "$(cat out)"
    end
}

# What a flight recorder has overwritten, the JVM is asked for.
test_overwritten() {
    launch "$(agent maxsize=4m,depth=4)"
    say deadlock deadlocked
    say storm stormed
    run 0 "$ORCA" top "$jvm" -n 1
    grep -q '^DEADLOCK of 2 threads: ' out || fail "$(cat out)"
    grep -q '^left  *DEADLOCK .* Object@[0-9A-F]*  *right ' out || fail "$(cat out)"
    grep -qE '^locked  *lock  *>[^ ]* *100% .* Reentran[^ ]*  *locker ' out || fail "$(cat out)"
    grep -q '^waiter  *waiting  *>[^ ]* .* Object@[0-9A-F]* ' out || fail "$(cat out)"
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
    same "$(tail -n 1 pictures | word state)" gone
    same "$(state pictures locked)" lock
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
    has top.err "does not answer: its recording is taken away as soon as it does"
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
    same "$(tail -n 1 pictures | word state)" ended
    nothing_left
    end
}

# More virtual threads than are followed one by one.
test_virtual() {
    need_jdk 21
    launch
    set -m
    "$ORCA" top "$jvm" --json --delay 500ms --rows 30 >pictures 2>top.err &
    local top=$!
    wait_for 60 grep -q '"state":"recording"' pictures
    say "virtual 12000" parked
    wait_for 60 eval '[ "$(tail -n 1 pictures | sed "s/.*\"states\"//" | number parked)" -gt 8000 ]'
    same "$(state pictures locked)" lock
    kill -TERM $top
    wait $top || fail "top ended with $?"
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
    see '^locked  *lock '
}

test_screen() {
    launch
    open_terminal
    begin_top
    see "^$jvm TopLoad, Java $JDK_MAJOR"
    see '^thread  *state  *since  *held up\* for '
    see '^lock  *queue waiters '
    see '^ReentrantLock#[0-9]* '
    see '^schön?\[31m? '
    press s                               # sort: next column
    see '^thread .*for\* '
    press r
    see '^thread .*for^ '
    press '<'
    see '^thread .*held up\* '
    press p
    see '  PAUSED'
    cp screen paused
    # another top draws three pictures meanwhile: its clock is this one's
    run 0 "$ORCA" top "$jvm" --json -n 3
    screen
    same "$(grep -v PAUSED screen)" "$(grep -v PAUSED paused)"
    press p
    wait_for 60 eval 'screen; ! grep -q PAUSED screen'
    press / v i c Enter                   # filter
    see '/ vic'
    wait_for 60 eval "! shows '^locked '"
    see '^victim '
    press Escape
    see '^locked '
    press Enter                           # the first row's thread
    see '^thread locked, daemon'
    see '^lock for '
    see 'at java.util.concurrent.locks.ReentrantLock.lock(ReentrantLock.java:'
    see '^owner: locker'
    see "^    unknown; orca query $jvm thread 'locker' asks for its stack" # it was found asleep
    press End
    see '^its last waits'
    press Escape
    see '^victim '
    press Tab Home Enter
    see '^lock ReentrantLock#'
    see '1 held up, 0 waiting'
    press Escape h
    see '^orca top: keys'
    press h + d 0 . 5 Enter
    see 'every 500ms'
    tmux -L "$TMUX_NAME" resize-window -x 140 -y 40
    see '^thread  *state  *since .* waits times/s '
    tmux -L "$TMUX_NAME" resize-window -x 40 -y 10
    see 'orca top needs 60x12'
    tmux -L "$TMUX_NAME" resize-window -x 80 -y 24
    see '^victim '
    press q
    see '^status 0'
    ! shows '^victim ' || fail "the picture is still there"
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
    see '^locked  *lock '
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
