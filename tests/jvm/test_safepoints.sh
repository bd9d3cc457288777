# The group safepoints: what the trace has against what the JVM itself logs into a file (-Xlog:safepoint), by a program that
# makes known ones (Safepoints.java).
# timeout: 120
. "$ROOT/tests/jvm/traced.sh"

finish() {
    leave_no_jvm
}

launch() { # OPTION...
    launch_told Safepoints "-Xlog:safepoint:file=$TMP/vm.log:timenanos" "$@" --
}

end() {
    say end end
    wait "$jvm" || fail "the program ended with $?"
    no_crash
}

# "OPERATION REACHING TOTAL" of each safepoint, in ns, as it is recorded, and as the JVM logs it between the first and the
# last of them: Orca listens once it is there, and no longer when it leaves.
agrees_with_log() {
    good_trace complete
    events
    awk '$3 == "safepoint" {
        for (i = 4; i <= NF; i++) { split($i, part, "="); v[part[1]] = part[2] }
        printf "%s %.0f %.0f\n", v["operation"], (v["reached"] - v["since"]) * 1e9, ($1 - v["since"]) * 1e9 }' events >got
    sed -nE 's/^\[([0-9]+)ns\] *Safepoint "([^"]*)", .*Reaching safepoint: ([0-9]+) ns.*, Total: ([0-9]+) ns.*/\1 \2 \3 \4/p' vm.log |
        awk -v start="$(od -An -t u8 -j 48 -N 8 "$TRACE")" -v first="$(awk '$3 == "safepoint" { print $1; exit }' events)" -v n="$(wc -l <got)" '
            $1 - start > first * 1e9 - 1 && n-- > 0 { print $2, $3, $4 }' >wanted
    cmp -s wanted got || fail "$(diff wanted got | head -n 10)"
    awk '$3 == "safepoint" { split($5, a, "="); split($6, b, "="); if (a[2] > b[2] || b[2] > $1 || a[2] < last) print; last = $1 }' events >wrong
    same "$(cat wrong)" ""
}

made() { # OPERATION; how many are recorded
    grep -c "^$1 " got
}

known() { # COLLECTOR OPERATION
    launch "$(agent events=safepoints+gc)" "-XX:+Use$1GC"
    say dumps dumps
    say gc gc
    end
    agrees_with_log
    same "$(made ThreadDump)" 20
    at_least "$(made "$2")" 3 "safepoints of the collector"
}

test_serial() {
    known Serial '[GS][a-zA-Z]*'
}

test_parallel() {
    known Parallel 'Parallel.*'
}

test_g1() {
    known G1 G1CollectFull
}

# A pause of the collector is inside of its safepoint.
test_z() {
    known Z '[XZ].*'
    awk '$3 == "safepoint" { split($5, a, "="); from[n] = a[2]; to[n++] = $1 }
        $3 == "gc_start" { at = $1 }
        $3 == "gc_finish" { start[m] = at; finish[m++] = $1 }
        END { for (i = 0; i < m; i++) { inside = 0
            for (k = 0; k < n; k++) inside += from[k] <= start[i] && finish[i] <= to[k]
            if (inside != 1) print start[i] } }' events >wrong
    same "$(cat wrong)" ""
}

# All wait for a loop without a poll: the time until they stand is its rest.
test_counted_loop() {
    launch "$(agent events=safepoints)" -XX:-UseCountedLoopSafepoints
    say loop loop
    end
    agrees_with_log
    at_least "$(awk '$2 > most { most = $2 } END { print most }' got)" 10000000 "ns until all stood, the longest"
}

logging() {
    "$JDK/bin/jcmd" "$jvm" VM.log list | sed -n '/^Log output configuration/,$p'
}

# Attached twice; the JVM's log is configured as before, whatever was done to it in between; nothing stays open.
test_attach() {
    launch
    [ -x "$JDK/bin/jcmd" ] || skip "this JVM has no jcmd"
    logging >before
    for _ in 1 2; do
        rm -f "$TRACE"
        run 0 "$ORCA" attach "$jvm" -e gc+safepoints -o "$TRACE"
        logging >during
        same "$(grep -c 'file=/proc/self/fd/[0-9]* .*safepoint=info timenanos' during)" 1
        say dumps dumps
        run 0 "$ORCA" detach "$jvm"
        logging >after
        cmp before after || fail "the JVM's log: $(diff before after)"
        same "$(find "/proc/$jvm/fd" -lname '*orca-safepoints*')" ""
        agrees_with_log
        same "$(made ThreadDump)" 20
    done
    run 0 "$ORCA" attach "$jvm" -e gc+safepoints -o disabled.otrace
    "$JDK/bin/jcmd" "$jvm" VM.log disable >/dev/null
    logging >before
    run 0 "$ORCA" detach "$jvm"
    logging >after
    cmp before after || fail "the JVM's log: $(diff before after)"
    end
    same "$(grep -vE '^(orca|WARNING): ' java.err)" ""
    info disabled.otrace
    same "$(value orca.safepoints)" "until VM.log disable switched the JVM's log off"
}

# Switched off and on again while it goes on.
test_switched() {
    launch "$(agent events=gc)"
    say dumps dumps
    run 0 "$ORCA" attach "$jvm" --on safepoints
    say dumps dumps
    run 0 "$ORCA" attach "$jvm" --off safepoints
    say dumps dumps
    end
    good_trace complete
    events
    same "$(matching ' safepoint operation=ThreadDump ')" 20
    same "$(find "/proc/$jvm/fd" -lname '*orca-safepoints*' 2>/dev/null)" ""
}

# The JVM writes its log on a thread of its own, later: the times are those of the safepoints.
test_asynchronous_log() {
    launch "$(agent events=safepoints)" -Xlog:async
    say dumps dumps
    say gc gc
    end
    agrees_with_log
    same "$(made ThreadDump)" 20
}

# Where it cannot work it is off: one line, and the rest is recorded.
test_limited_files() {
    ulimit -f 10000000
    launch "$(agent events=safepoints+gc)"
    say gc gc
    end
    same "$(cat java.err)" "orca: safepoints are not recorded: the size of files is limited (ulimit -f)"
    good_trace complete
    events
    same "$(matching ' safepoint ')" 0
    at_least "$(matching ' gc_finish ')" 3 collections
    info
    has info "safepoints are not recorded: the size of files is limited (ulimit -f)"
}

test_without_control() {
    run 0 "$JAVA" "-agentpath:$AGENT=file=$TRACE,quiet,control=off,events=safepoints+gc" -Xmx64m -cp "$CLASSES" Sampled 100
    has err "safepoints are not recorded: with control=off, nothing would switch the JVM's log off again"
    info
    has info "safepoints are not recorded: with control=off,"
    events
    same "$(matching ' safepoint ')" 0
}
