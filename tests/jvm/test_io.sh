# Waits in input and output: what a program that knows them did (InOut.java) against what is recorded.
# timeout: 120
. "$ROOT/tests/jvm/traced.sh"

# Each wait of the file "did", in the file "events": one of its kind and peer in its thread, that took as long as the program
# says at least, and no longer than its call; of those that may take no time, all together no longer.
check_waits() {
    events
    awk '
        function key(name, i) {
            for (i = 4; i <= NF; i++)
                if (index($i, name "=") == 1)
                    return substr($i, length(name) + 2)
            return "?"
        }
        function wait(thread, kind, peer, ns) {
            at = thread " " kind " " peer
            longest[at] = ns > longest[at] ? ns : longest[at]
            sum[at] += ns
            longest[kind] = ns > longest[kind] ? ns : longest[kind]
        }
        FNR == NR && $1 == "did" { kind[$2] = $3; peer[$2] = $4; least[$2] = $5; most[$2] = $6; next }
        FNR == NR { next }
        $3 == "io" { wait($2, names[key("what")], key("peer"), ($1 - key("since")) * 1e9) }
        $3 == "park_enter" { parked[$2] = $1; what[$2] = "" }
        $3 == "park_io" { what[$2] = names[key("what")]; of[$2] = key("peer") }
        $3 == "park_exit" && what[$2] { wait($2, what[$2], of[$2], ($1 - parked[$2]) * 1e9) }
        BEGIN { n = split("input output connect accept select sync open lock lookup process", names, " ") }
        END {
            for (t in kind) {
                at = t " " kind[t] " " peer[t]
                if (kind[t] == "park") { # what its channel group does instead
                    at = "select"; most[t] = 1e18; sum[at] = longest[at]
                }
                if (!(at in longest) || longest[at] < least[t] * 0.95 || sum[at] > most[t])
                    printf "%s: longest %d, sum %d, not %d to %d\n", at, longest[at], sum[at], least[t], most[t]
                checked++
            }
            if (checked < 14) printf "%d waits only\n", checked
        }' did events >wrong
    [ ! -s wrong ] || fail "$(cat wrong)"
}

check() { # HOW
    run 0 sh -c "(echo; echo) | \"\$0\" \"\$@\"" "$JAVA" "$(agent io=0)" -XX:-UsePerfData -Xmx128m -cp "$CLASSES" InOut "$1"
    cp out did
    lacks did failed
    good_trace complete
    check_waits
    at_least "$(matching " what=10 $(sed -n 's/^child /peer=/p' did) ")" 1 "the child's end"
}

test_platform() {
    check platform
}
test_virtual() {
    need_jdk 21
    check virtual
}

# The park of a virtual thread is its wait for its socket. Until JDK 21 a thread of the JDK's registers the descriptor.
test_virtual_read() {
    need_jdk 21
    run_traced 0 "" VirtualRead
    cp out did
    events
    local peer
    peer=$(sed -n 's/^peer //p' did)
    at_least "$(matching "^[^ ]* reader park_io what=1 peer=$peer")" 1 "parks of the reader"
    run 0 "$ORCA" report --json --all "$TRACE"
    # of the reader alone
    same "$(jq --arg peer "$peer" '.io[] | select(.what == "input" and .peer == $peer) | .threads == 1 and .max_ns >= 15000000' out)" true
}

# Attached to when its libraries are loaded; and again, when the first recording is over.
test_attach() {
    launch_told InOut -- platform
    run 0 "$ORCA" attach "$jvm" -o first.otrace
    run 0 "$ORCA" detach "$jvm"
    run 0 "$ORCA" attach "$jvm" -o "$TRACE" --options io=0
    say "" done
    run 0 "$ORCA" detach "$jvm"
    cp java.out did
    check_waits
    echo >&9
    wait "$jvm" || fail "$(cat java.err)"
}
finish() {
    leave_no_jvm
}

# Event loops of native transports wait in other calls than the JDK's; a call that only looks is not a wait.
test_selects() {
    ${CC:-cc} -shared -fPIC -O1 -I"$JNI_INCLUDE" -I"$JNI_INCLUDE/linux" -o libselects.so "$ROOT/tests/jvm/selects.c" || fail "cannot build"
    local native=
    [ "$JDK_MAJOR" -lt 24 ] || native=--enable-native-access=ALL-UNNAMED
    # shellcheck disable=SC2086 # one word or none
    run_traced 0 io=0 $native Selects "$PWD/libselects.so"
    same "$(cat out)" "$(printf 'pwait 0\npwait2 0')"
    "$ORCA" events -k io "$TRACE" | awk '/ what=5 / && match($0, /since=[0-9.]+/) && $1 - substr($0, RSTART + 6, RLENGTH - 6) > 0.19 {
        sub(/.* at=/, ""); print }' >waits
    same "$(cat waits)" "$(printf 'Selects.pwait(native)\nSelects.pwait2(native)')"
}

# A call that does not block is not an event; the names of peers and files are not recorded.
test_options() {
    run 0 sh -c "(echo; echo) | \"\$0\" \"\$@\"" "$JAVA" "$(agent io=50ms,iodetails=hashed)" -XX:-UsePerfData -cp "$CLASSES" InOut platform
    events -k io
    awk '$4 != "what=4" { split($0, s, "since="); if ($1 - s[2] + 0 < 0.05) print }' events >short # but a first connection
    [ ! -s short ] || fail "$(cat short)"
    at_least "$(matching ' reader io what=1 peer=#[0-9a-f]{8} ')" 1 "the reader's wait"
    lacks events 127.0.0.1
    run 0 sh -c "(echo; echo) | \"\$0\" \"\$@\"" "$JAVA" "-agentpath:$AGENT=file=$TMP/none.otrace,quiet,iodetails=none" -XX:-UsePerfData -cp "$CLASSES" InOut platform
    "$ORCA" events -k io none.otrace >events
    at_least "$(matching ' reader io what=1 lock=\? ')" 1 "the reader's wait"
    lacks events peer=
    run 0 sh -c "(echo; echo) | \"\$0\" \"\$@\"" "$JAVA" "-agentpath:$AGENT=file=$TMP/off.otrace,quiet,events=threads+parks" -XX:-UsePerfData -cp "$CLASSES" InOut platform
    "$ORCA" events off.otrace >events
    same "$(matching ' (park_)?io ')" 0
}

# Four workers, two connections: the first finding is what they share, what those do who have one, and whom they wait for.
test_finding() {
    run_traced 0 "" TwoLines 30
    server=$(sed -n 's/^server //p' out)
    run 0 "$ORCA" report --json "$TRACE"
    same "$(jq -r '.findings[0] | "\(.resource.name) \(.holders[0].does) \(.holders[0].peer) \(.holders[0].from)"' out)" "TwoLines.LINES input $server recorded"
    same "$(jq -r '.findings[0].holders[0].share > 0.9' out)" true
    same "$(jq -r --arg p "$server" '.io[] | select(.what == "input" and .peer == $p) | "\(.threads) \(.count >= 100) \(.ns > 100 * 45 * 1000 * 1000)"' out)" "4 true true"
    # Nothing of a thread's life is there twice, and the server's answers are what the path waits for.  Whoever waits for a
    # processor also counts as running here.
    same "$(jq -r '[.threads[] | select(.name | test("worker")) | .io_ns > 1000 * 1000 * 1200 and .running_ns < .io_ns and .running_ns + .io_ns <= .life_ns] | all' out)" true
    same "$(jq -r '.critical_path.kinds | .io > .run' out)" true
}

# Who answers has read it from somebody, without blocking in it: each answer tells from whom. The first connection tells who
# listens, and the end of a child what that executed.
test_answers() {
    run_traced 0 "" Answers
    server=$(sed -n 's/^server //p' out)
    events -k io,io_read
    at_least "$(matching " io_read peer=$server since=")" 30 "answers that were read"
    same "$(matching " io what=4 peer=listening_$server ")" 1
    same "$(matching " io_read peer=client_")" 0
    at_least "$(matching " io what=10 peer=process_sleep ")" 1 "the child's end"
}

# A child that the JDK forks runs its library's code, until it becomes another program: nothing is recorded there, not in
# rings that the child does not have.
test_forked_child() {
    local how
    for how in FORK VFORK POSIX_SPAWN; do
        rm -f "$TRACE"
        run 0 "$JAVA" "$(agent io=0)" "-Djdk.lang.Process.launchMechanism=$how" -Xmx64m -cp "$CLASSES" Child
        same "$(tr '\n' ' ' <out)" "missing child 3 "
        no_crash
        good_trace complete
        events -k io
        at_least "$(grep -c ' what=' events)" 1 "calls of input and output with $how"
    done
}

# Whether the trace, as it is on the disk, has an open call of that thread.
is_open() { # THREAD
    "$ORCA" events -k io_open "$TRACE" 2>/dev/null | grep -q " $1 io_open "
}

# What "orca report" says of the call of the asker: calls, and whether they took a second.
asked() {
    run 0 "$ORCA" report --json --io "$TRACE"
    jq -r --arg p "$server" '.io[] | select(.what == "input" and .peer == $p) | "\(.count) \(.threads) \(.ns > 1000 * 1000 * 1000)"' out
}

# A call that has not returned when the JVM is killed has its other end, and counts until it was seen last.
test_open_at_the_end() {
    launch_told OpenCall "$(agent '')" --
    server=$(sed -n 's/^server //p' java.out)
    wait_for 60 is_open asker
    wait_for 60 is_open acceptor
    end_with KILL 137
    "$ORCA" events -k io_open "$TRACE" >events
    at_least "$(matching " asker io_open what=1 peer=$server ")" 1 "open reads"
    at_least "$(matching " acceptor io_open what=4 peer=listening_127.0.0.1:")" 1 "open accepts"
    same "$(asked)" "1 1 true"
}

# One that returns has been one call.
test_open_and_returned() {
    launch_told OpenCall "$(agent '')" --
    server=$(sed -n 's/^server //p' java.out)
    wait_for 60 is_open asker
    echo >&9
    wait "$jvm"
    good_trace complete
    same "$(asked)" "1 1 true"
}
