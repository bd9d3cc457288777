# JVMs that are stopped, and agents that do not answer, or without an end: every command says so, soon, and ends
# when it was asked to. No limit of time is tried out here: the default limits are longer than a test may take.
# timeout: 120
. "$ROOT/tests/jvm/traced.sh"

finish() {
    local pid
    for pid in $(jobs -p); do
        kill -CONT "$pid" 2>/dev/null
    done
    [ -z "${freezer:-}" ] || freeze no
    leave_no_jvm
    [ -z "${freezer:-}" ] || rmdir "$freezer"
}

# The pid of a fake in the background is in "jvm"; the one of its job in "job".
fake() { # MODE [FOLDER]
    [ -x fake ] || ${CC:-cc} -std=c11 -D_GNU_SOURCE -O1 -I"$ROOT/src" -pthread -o fake "$ROOT/tests/jvm/fake_agent.c" \
        "$ROOT/build/release/lib.a" -ldl || fail "cannot build the fake"
    : >fake.out
    ./fake "$JDK/lib/server/libjvm.so" "$@" >fake.out 2>fake.err &
    job=$!
    wait_for 60 grep -q '^ready' fake.out
    jvm=$(sed -n 's/^ready //p' fake.out)
}

# Every command that asks a JVM, with this pid, one a line.
commands() { # PID
    cat <<END
detach $1
query $1 locks
heap live $1
heap dump $1 -o none.hprof
heap dump $1 --to tptp -o none.trcxml
dump $1
dump $1 -o none.otrace
dump $1 --rotate
attach $1
attach $1 --on locks
top $1 -n 1
END
}

test_stopped() {
    launch_told Heaped --
    "$ORCA" attach "$jvm" -o app.otrace 2>attach.err || fail "$(cat attach.err)"
    kill -STOP "$jvm"
    wait_for 60 eval '! grep -L "^State:.[tT]" /proc/$jvm/task/*/status | grep -q .'
    local line
    while read -r line; do
        # shellcheck disable=SC2086 # words
        run 1 "$ORCA" $line
        has err "JVM $jvm (Heaped) is stopped: resume it with 'kill -CONT $jvm'"
    done < <(commands "$jvm")
    run 0 "$ORCA" status "$jvm"
    has out "recorded    no: JVM $jvm (Heaped) is stopped: resume it with 'kill -CONT $jvm'"
    run 0 "$ORCA" status --timeout 5s
    grep "^ *$jvm " out | grep -q 'is stopped' || fail "the list lacks it: $(cat out)"
    kill -CONT "$jvm"
    # What was not asked is not done later.
    run 0 "$ORCA" status "$jvm"
    has out "recorded    for"
    run 0 "$ORCA" detach "$jvm"
    same "$(ls)" "$(ls -I 'none*')"
}

# A group of processes that can be frozen, in the hierarchy that this machine has: "freezer" is its folder.
need_freezer() {
    local at
    for at in /sys/fs/cgroup/freezer /sys/fs/cgroup/unified /sys/fs/cgroup; do
        [ -e "$at/cgroup.procs" ] && mkdir "$at/orca-$$" 2>/dev/null || continue
        freezer=$at/orca-$$
        [ -e "$freezer/freezer.state" ] || [ -e "$freezer/cgroup.freeze" ] && return
        rmdir "$freezer"
    done
    freezer=
    skip "no cgroup can be made here"
}
freeze() { # yes | no
    if [ -e "$freezer/freezer.state" ]; then
        [ "$1" = yes ] && echo FROZEN >"$freezer/freezer.state" || echo THAWED >"$freezer/freezer.state"
    else
        [ "$1" = yes ] && echo 1 >"$freezer/cgroup.freeze" || echo 0 >"$freezer/cgroup.freeze"
    fi
}

# As a container that is paused: no thread is in a state of its own.
test_frozen() {
    need_freezer
    launch_told Heaped --
    "$ORCA" attach "$jvm" -o app.otrace 2>attach.err || fail "$(cat attach.err)"
    echo "$jvm" >"$freezer/cgroup.procs" || skip "a process cannot be moved into $freezer"
    freeze yes
    wait_for 60 grep -q -e FROZEN -e '^frozen 1' "$freezer/freezer.state" "$freezer/cgroup.events"
    local line
    while read -r line; do
        # shellcheck disable=SC2086 # words
        run 1 "$ORCA" $line
        has err "JVM $jvm (Heaped) is frozen with its container or cgroup: resume it with 'docker unpause', or the way it was frozen"
    done < <(commands "$jvm")
    run 0 "$ORCA" status "$jvm"
    has out "is frozen with its container or cgroup"
    freeze no
    run 0 "$ORCA" detach "$jvm"
}

test_held_by_a_debugger() {
    fake traced
    local line
    while read -r line; do
        # shellcheck disable=SC2086 # words
        run 1 "$ORCA" $line
        has err "JVM $jvm (fake) is stopped by a debugger: resume it there, or detach the debugger"
    done < <(commands "$jvm")
}

# A thread that a debugger holds keeps no other from answering.
test_one_thread_is_held() {
    fake half
    run 0 "$ORCA" status "$jvm"
    same "$(sed -n 's/^recorded  *//p' out)" no
}

# Something is on the terminal while the command waits; the word names what to do about it.
test_says_that_it_waits() {
    fake silent
    local line pid
    while read -r line; do
        # shellcheck disable=SC2086 # words
        "$ORCA" $line >out 2>err &
        pid=$!
        wait_for 60 grep -q "JVM $jvm (fake) has not answered yet: waiting for at most .*; --timeout=TIME changes that" err
        kill -KILL $pid 2>/dev/null || fail "it has ended: $line"
        wait $pid 2>/dev/null
    done < <(commands "$jvm" | grep -v -e hprof)
    "$ORCA" status "$jvm" >out 2>err &
    pid=$!
    wait_for 60 grep -q "JVM $jvm (fake) has not answered yet" err
    kill -KILL $pid
}

# The limit is the user's.
test_gives_up_when_it_was_told() {
    fake silent
    local line
    while read -r line; do
        # shellcheck disable=SC2086 # words
        run 1 "$ORCA" $line --timeout 300ms
        grep -q "JVM $jvm (fake): the agent \(has not answered within 300 ms, and may still follow the request\|accepted no connection within 300 ms\)" err ||
            fail "$line: $(cat err)"
    done < <(commands "$jvm" | grep -v -e hprof)
    has err "accepted no connection" # by now as many wait as may
    run 0 "$ORCA" status "$jvm" --timeout 300ms
    has out "within 300 ms"
    run 2 "$ORCA" detach "$jvm" --timeout 0
}

# Three that answer when all three have been asked.
test_status_asks_all_at_once() {
    mkdir all
    mkfifo all/go
    for _ in 1 2 3; do
        fake idle all
    done
    "$ORCA" status --timeout 10m >out 2>err &
    local status=$!
    wait_for 60 eval '[ "$(wc -c <all/asked)" = 3 ]'
    exec 8>all/go
    kill -KILL $status
}

test_answers_without_an_end() {
    fake endless
    local line
    while read -r line; do
        # shellcheck disable=SC2086 # words
        run 1 "$ORCA" $line --timeout 50s
        has err "JVM $jvm (fake): the agent's answer has more than"
    done < <(commands "$jvm" | grep -v -e hprof)
    run 0 "$ORCA" status "$jvm" --timeout 50s
    has out "the agent's answer has more than 256 kB"
}
