# What the tests rest on: a check that fails fails its test wherever it stands, and nobody else's process gets a signal.
# jdk: any

# A test file of one function, run as run_one does.
try() { # STATUS BODY...
    local want=$1
    shift
    printf '%s\n' 'test_it() {' "$@" '}' >it.sh
    rm -rf its
    mkdir its
    TMP=$PWD/its "$ROOT/tests/limit" 60 bash "$ROOT/tests/jvm/lib.sh" "$PWD/it.sh" test_it >said 2>&1
    same "$? $(tr '\n' ' ' <said)" "$want $(tr '\n' ' ' <said)"
}

test_what_fails_fails() {
    try 0 'same 1 1'
    try 1 'same 1 2' 'true'
    has said "FAILED: got '1' instead of '2'"
    try 1 '(cd / && same 1 2)' 'true'
    has said "FAILED: got '1' instead of '2'"
    try 1 'local n; n=$(fail inside)' 'true'
    has said "FAILED: inside"
    try 1 'echo 1 | while read -r n; do same "$n" 2; done' 'true'
    try 1 'run 0 false &' 'wait'
    try 1 'false'
    try 77 'skip why'
}

# What is left when a test has ended is ended, also what has left its group and lost its parent.
test_nobody_is_left() {
    try 0 'set -m' 'sleep 1000 & echo $! >pids' '(setsid sleep 1000 & echo $! >>pids)' \
        'setsid sh -c "trap : TERM HUP; echo \$\$ >>pids; while :; do sleep 1000; done" & wait_for 60 eval "[ \$(wc -l <pids) = 3 ]"'
    same "$(wc -l <its/pids)" 3
    local pid
    while read -r pid; do
        [ ! -e "/proc/$pid" ] || ! grep -q '^sleep\|^sh' "/proc/$pid/comm" || fail "$pid goes on"
    done <its/pids
}

# A process that is not of the test: of the one that runs it.
test_strangers_are_left_alone() {
    local stranger child
    set -m
    sleep 1000 &
    stranger=$!
    try 0 "kill -KILL $stranger && exit 9" "kill -KILL -- -$stranger && exit 9" "kill -0 $stranger && exit 9" \
        'sleep 1000 & kill -0 $! && kill $! && wait $!' 'same $? 143' 'kill -0 $! && exit 9' \
        '(sleep 1000 & echo $! >orphan)' 'kill -0 $(cat orphan)'
    has said "kill: $stranger is no process of this test"
    kill -0 $stranger || fail "the stranger was killed"
    kill -KILL $stranger
    wait $stranger
    same $? 137
    own $stranger && fail "$stranger has ended"
    true
}

test_a_hang_has_an_end() {
    run 124 "$ROOT/tests/limit" 1 sh -c 'trap : TERM; setsid sleep 1000 & while :; do sleep 1000; done'
    has err "sleep 1000"
    ORCA_TESTS_END=$(date +%s) run 124 "$ROOT/tests/limit" 1000 sleep 1001
    has err "sleep 1001"
    run 3 "$ROOT/tests/limit" 60 sh -c 'exit 3'
    run 143 "$ROOT/tests/limit" 60 sh -c 'kill $$'
}

# Under nohup, or in the background of a shell, some are ignored, and stay so in whatever is started.
test_signals_have_their_effect() {
    run 130 bash -c 'trap "" HUP INT QUIT; exec "$0" 60 bash -c "kill -INT \$\$"' "$ROOT/tests/limit"
    run 129 bash -c 'trap "" HUP INT QUIT; exec "$0" 60 sh -c "kill -HUP \$\$"' "$ROOT/tests/limit"
}
