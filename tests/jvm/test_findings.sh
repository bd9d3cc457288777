# Programs with one thing wrong each: `orca report` finds that, and nothing else.
# timeout: 240
. "$ROOT/tests/jvm/traced.sh"

# The rules that found something, sorted. How much of a path a lock is on, so whether it is a
# dominant one or only one with a queue, is a matter of the machine's load: here one name for both.
rules() {
    run 0 "$ORCA" report --json --findings "$TRACE"
    jq -r '[.findings[].rule | if . == "dominant-lock" then "contended-lock" else . end] |
        unique | join(" ")' out
}
finding() { # RULE
    jq -r --arg rule "$1" '.findings[] | select((.rule | if . == "dominant-lock" then "contended-lock" else . end) == $rule) | .text' out
}

# A program that ends by itself; its findings are exactly these.
program() { # OPTIONS NAME RULE...
    local options=$1 name=$2
    shift 2
    # A machine with much else to do can spoil what the program plays: then it plays again.
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        rm -f "$TRACE"
        run 0 traced "$options" -Xmx64m Findings "$name"
        [ "$(rules)" != "$*" ] || return 0
    done
    same "$(rules)" "$*"
}

test_healthy() {
    program "" healthy
    run 0 "$ORCA" report "$TRACE"
    has out "No findings."
}

test_philosophers() {
    program "" philosophers deadlock
    finding deadlock >text
    has text "Deadlock of 5 threads"
    has text "1 other thread waits behind them"
    run 0 "$ORCA" report --json --deadlocks "$TRACE"
    same "$(jq '.deadlocks | length' out)" 1
    same "$(jq -r '[.deadlocks[0].members[].name] | sort | join(" ")' out)" \
        "philosopher-0 philosopher-1 philosopher-2 philosopher-3 philosopher-4"
    same "$(jq -r '[.deadlocks[0].behind[].name] | join(" ")' out)" guest
    # Each waits for the next, and both stacks of each are there.
    same "$(jq '.deadlocks[0].members as $m | [range(5) | $m[.].on == $m[(. + 1) % 5].thread] | all' out)" true
    same "$(jq '[.deadlocks[0].members[].stack | any(.method | startswith("lambda$philosophers"))] | all' out)" true
}

test_lost_signal() {
    start_traced "" -Xmx64m Findings lost-signal
    wait_for 60 grep -q '^ready' out
    # Any moment may find all threads waiting: it has to last.
    wait_for 60 sh -c "'$ORCA' report --json '$TRACE' 2>/dev/null | grep -q '\"rule\": \"stuck\"'"
    end_with TERM 143
    same "$(rules)" "lost-signal stuck"
    finding lost-signal >text
    has text "producer called notify in Findings.lambda"
    has text "consumer began to wait in Findings.lambda"
}

test_convoy() {
    for _ in 1 2 3 4 5 6 7 8 9 10; do # as program does: a loaded machine spoils convoys
        program "" convoy contended-lock # one cause, one card
        finding contended-lock >text
        ! grep -qE '; [0-9]+ lock convoys? \(' text || break
    done
    has text 'Findings$Ledger; '
    # one of a loaded machine may hold it for longer than the auditor
    grep -qE '(auditor|clerk-[0-9]+) held the lock for .* hand-offs) to drain' text || fail "$(cat text)"
}

test_unbalanced_join() {
    program "" joins unbalanced-join
    finding unbalanced-join >text
    has text "main joined 5 threads in Findings."
    has text "; part-2 took "
}

test_notify_storm() {
    program "" storm contended-lock # those woken together queue for the monitor: its card says why
    finding contended-lock >text
    has text 'Findings$Turn; '
    grep -qE '; [0-9,]+ of [0-9,]+ wake-ups by notifyAll\(\) \([0-9]+ %\) were wasted' text || fail "$(cat text)"
}

test_held_while_waiting() {
    program "" held contended-lock # which says the sleep, too: neither that nor what it did to the lock is a finding of its own
    finding contended-lock >text
    has text 'Findings$Till'
    has text "held by sleeper"
    has text "% of the time sleeping"
}

test_held_during_io() {
    program "ownerstacks=all" io contended-lock # which says it: one cause, one finding
    finding contended-lock >text
    has text 'Findings$Till'
    grep -qE 'waiting for input|writing output' text || fail "$(cat text)"
}

test_serial_phase() {
    program "" serial serial-phase
    finding serial-phase >text
    has text "mostly collector ("
}

test_pool_saturation() {
    program "events=threads+parks+joins+interrupts+locks" pool pool-saturation
    finding pool-saturation >text
    has text "Pool pool-1-thread-#: 100 tasks waited"
    has text "one of the pool's 2 threads"
}

# The segments tile the time from the path's beginning to its end, to the nanosecond.
test_critical_path() {
    program "" joins unbalanced-join
    run 0 "$ORCA" report --json --path "$TRACE"
    same "$(jq '.critical_path as $p | .critical_path_segments as $s |
        $s[0].from == $p.from and $s[-1].to == $p.to and
        ([range($s | length - 1) | $s[.].to == $s[. + 1].from] | all) and
        ([$s[] | .to - .from] | add) == $p.ns and ([$p.kinds[]] | add) == $p.ns' out)" true
    # whether they or the thread that started them have more of the path depends on how long the JVM took to start
    same "$(jq -r '.critical_path | .name + " " + ([.threads[].name | select(startswith("part-"))][0])' out)" "main part-2"
    # where threads begin or end together, a lock of the JDK can lead to another one for an instant
    run 0 "$ORCA" report --json --path --follow part-1 "$TRACE"
    same "$(jq -r '.critical_path | .name + " " + ([.threads[] | select((.name | startswith("part-")) and .ns >= 100000000).name] | join(" "))' out)" "part-1 part-1"
}

# The line of whatever the reader calls the program.
test_app() {
    run 0 traced "" -Xmx64m Findings held
    run 0 "$ORCA" report --app 'shop.*,Findings' "$TRACE"
    has out 'wait in   Findings.lambda$held$'
    run 0 "$ORCA" report --sites --app java.lang.Thread "$TRACE"
    has out 'java.lang.Thread.run'
    run 1 "$ORCA" report --app shop.* "$TRACE"
    has err "orca: --app: no class of the recording is 'shop.*'"
}

# With itself nothing has changed; without the lock it is gone.
test_diff() {
    run 0 traced "" -Xmx64m Findings held
    mv "$TRACE" held.otrace
    run 0 "$ORCA" diff --json held.otrace held.otrace
    same "$(jq -r '[.rows[].verdict] | unique | join(" ")' out)" same
    run 0 traced "" -Xmx64m Findings healthy
    run 0 "$ORCA" diff --json held.otrace "$TRACE"
    same "$(jq -r '.rows[] | select(.kind == "resource" and .name == "Findings$Till") | "\(.verdict) \(.b.count)"' out)" \
        "better 0"
    run 0 "$ORCA" diff held.otrace held.otrace
    same "$(sed -n 2p out)" "No resource with long waits got better or worse."
    run 0 "$ORCA" diff held.otrace "$TRACE"
    sed -n 2p out | grep -qE '^Findings\$Till: better \(chance: less than (0\.)?1 %\)\.$' || fail "$(head -n 5 out)"
    sed -n 3p out | grep -qE '^  in A      [0-9]+ % of busy time: [0-9.]+ waits per second of [0-9.]+ [^ ]*s on average, [0-9.]+ threads$' || fail "$(head -n 5 out)"
    same "$(sed -n 4p out)" "  in B      not waited for"
    sed -n 5p out | grep -qE '^  held by A sleeper.*sleeping: Findings' || fail "$(head -n 6 out)"
    has out "Findings only in A"
    grep -qE '^- (contended|dominant)-lock: Findings\$Till' out || fail "$(cat out)"
    program "" storm contended-lock # the same rule, of another lock
    run 0 "$ORCA" diff held.otrace "$TRACE"
    sed -n '/^Findings only in A/,/^$/p' out | grep -qE '^- (contended|dominant)-lock: Findings\$Till' || fail "$(cat out)"
    sed -n '/^Findings only in B/,/^$/p' out | grep -qE '^- (contended|dominant)-lock: Findings\$Turn' || fail "$(cat out)"
    run 2 "$ORCA" diff held.otrace
    has err "name two traces"
    run 1 "$ORCA" diff held.otrace nothing.otrace
    has err "nothing.otrace"
}

# It goes on over the JVM's shutdown, to the thread that this waited for.
test_path_over_a_shutdown_hook() {
    run_traced 0 "" Hook
    run 0 "$ORCA" report --json --path "$TRACE"
    same "$(jq -r '.critical_path | "\(.name) \(.threads[0].name) \(.ns >= 100000000)"' out)" "hook main true"
    run_traced 0 "" Hook worker
    run 0 "$ORCA" report --json --path "$TRACE"
    same "$(jq -r '.critical_path | "\(.name) \([.threads[].name] | map(select(. == "main" or . == "worker")) | sort | join(" ")) \(.ns >= 200000000)"' out)" \
        "hook main worker true"
}

# A text does not say which threads are daemons; that the JVM ended though one lived does.
test_path_beside_a_daemon_in_the_texts() {
    run 0 "$JAVA" "-agentpath:$AGENT=quiet,file=app.otrace,format=otrace+orca+tptp" -Xmx64m -cp "$CLASSES" Hook daemon
    path() { # FILE
        run 0 "$ORCA" report --json "$1"
        jq -r '(.critical_path | "\(.name) \(.ns) " + ([.threads[] | "\(.name) \(.ns)"] | join(" "))), (.stuck | length),
            (.threads[] | select(.name == "daemon" or .name == "parked") | "\(.name) \(.daemon) \(.running_ns < .life_ns / 2)")' out
    }
    path app.otrace >of_trace
    same "$(cut -d ' ' -f 1 of_trace | tr '\n' ' ')" "hook 0 daemon parked "
    path app.orca >of_text
    same "$(cat of_text)" "$(cat of_trace)"
    # TPTP's XML has no form for parks: a thread that only parks runs there
    path app.trcxml | grep -v '^parked' >of_text
    same "$(cat of_text)" "$(grep -v '^parked' of_trace)"
}
