# A part of what "./dev truth" asks, of Orca alone: it may say too little, and nothing that is wrong (docs/quality/truth.md).
# timeout: 150
. "$ROOT/tests/jvm/traced.sh"

GROUPS_ASKED=threads+virtual+monitors+waits+parks+sleeps+joins+interrupts+semaphores+locks

PROGRAMS=$ROOT/build/tests/jvm/truth:$CLASSES

# What was said into "verdicts": nothing wrong.
nothing_wrong() { # WHAT
    local wrong right silent
    wrong=$(grep -c '^wrong' verdicts) right=$(grep -c '^right' verdicts) silent=$(grep -c '^not-said' verdicts)
    echo "$1: $right right, $wrong wrong, $silent not said"
    [ "$wrong" = 0 ] || fail "$1: $(grep '^wrong' verdicts)"
}

# All verdicts are right but at most so many of a hundred that are not said, or not known.
asked() { # PROGRAM MODE NOT-SAID-PERCENT [+GROUP] [RIGHT]
    command -v node >/dev/null || skip "there is no node, which reads what Orca says"
    run 0 "$JAVA" "$(agent "events=$GROUPS_ASKED${4:-},ownerstacks=all")" -Djdk.virtualThreadScheduler.parallelism=96 \
        -Djdk.virtualThreadScheduler.maxPoolSize=256 -XX:-UsePerfData -cp "$PROGRAMS" "$1" "$2" brief ${6:+"$6"}
    same "$(tail -n 1 out)" done
    node "$ROOT/tests/truth/judge.mjs" orca "$2" out "$TRACE" "$ORCA" >verdicts 2>judge.err || fail "$(cat judge.err)"
    nothing_wrong "$1, $2"
    local right silent
    right=$(grep -c '^right' verdicts) silent=$(grep -c '^not-said' verdicts)
    at_least "$right" "${5:-10}" "right answers of $1, $2"
    [ $((silent * 100)) -le $(((right + silent) * $3)) ] || fail "$1, $2: $(grep '^not-said' verdicts)"
}

modes() {
    [ "$JDK_MAJOR" -ge 25 ] || { echo platform && return; }
    some 2 platform unmounted mounted
}

test_monitors() {
    for mode in $(modes); do
        # an owner may be busy when it is asked what it executes; of an unmounted one little is known; who gave a monitor on
        # is often not certain without the group holds
        [ "$mode" = unmounted ] && unsaid=60 || unsaid=40
        asked Monitors "$mode" $unsaid
    done
}

# Who gave a monitor on where others may have had it in between, of which no event tells: never wrong; where threads queue for
# a lock, certain now and then without holds, and nearly always with them.
test_barging() {
    for mode in $(modes); do
        asked Barging "$mode" 100
        at_least "$(grep -c '^right.stormed-by' verdicts)" 5 "certain hand-offs, $mode"
        asked Barging "$mode" 10 +holds
    done
}

# The same where the others wait for input: that is as good as a wait.
test_barging_beside_calls() {
    asked Barging platform 100 +io 10 reads # what else the program is given
    at_least "$(grep -c '^right.stormed-by' verdicts)" 5 "certain hand-offs beside calls"
}

test_parks() {
    for mode in $(modes); do
        asked Parks "$mode" 5
    done
}

test_sleeps_and_joins() {
    for mode in $(modes); do
        asked Sleeps "$mode" 10
    done
}

test_waiting() {
    for mode in $(modes); do
        asked Waiting "$mode" 5
    done
}

# The JVM says that the time was up; whether it was, or the notify came first, the agent or the analysis finds out, or it is not known.
test_races() {
    for mode in $(modes); do
        asked Races "$mode" 15
    done
}

# The same recordings as text and as TPTP's XML, and read again; of what these formats have no form for, nothing is said.
test_read_back() {
    for program in Waiting Races; do
        asked $program platform 15
        mv out truth
        run 0 "$ORCA" export "$TRACE" --to orca -o text
        run 0 "$ORCA" export "$TRACE" --to tptp -o text
        for format in text:orca trcxml:trcxml; do
            node "$ROOT/tests/truth/judge.mjs" orca-${format%:*} platform truth text.${format#*:} "$ORCA" >verdicts 2>judge.err || fail "$(cat judge.err)"
            nothing_wrong "$program, read back from .${format#*:}"
            # the text has no form for what tells the races apart: chance leaves a few of some hundred
            [ $program-${format%:*} = Races-text ] ||
                at_least "$(grep -c '^right' verdicts)" 30 "right answers of $program from .${format#*:}"
        done
    done
}

# Of locks and threads without any wait nothing is said, beside others that contend.
test_quiet() {
    for mode in $(modes); do
        asked Quiet "$mode" 0 '' 8
    done
}

# What query, top, dump and view say while a program stands still, recorded from its beginning or attached to in the middle.
live() { # MODE WORD RIGHT JVM-OPTION...
    local mode=$1 what=$2 least=$3
    shift 3
    rm -f "$TRACE" asked.*
    CLASSES=$PROGRAMS launch_told Live "$@" -Djdk.virtualThreadScheduler.parallelism=96 -Djdk.virtualThreadScheduler.maxPoolSize=256 -- "$mode"
    [ "$what" = recorded ] || run 0 "$ORCA" attach "$jvm" -e $GROUPS_ASKED --options ownerstacks=all -o "$TRACE"
    node "$ROOT/tests/truth/ask_live.mjs" "$ORCA" "$jvm" java.out asked 2>ask.err || fail "$(cat ask.err)"
    echo >&9
    exec 9>&-
    wait "$jvm"
    same $? 0
    node "$ROOT/tests/truth/judge.mjs" orca "$mode" java.out "$TRACE" "$ORCA" asked >verdicts 2>judge.err || fail "$(cat judge.err)"
    nothing_wrong "Live, $mode, $what"
    at_least "$(grep -c '^right' verdicts)" "$least" "right answers of Live"
}

test_live() {
    for mode in $(modes); do
        live "$mode" recorded 240 "$(agent "events=$GROUPS_ASKED,ownerstacks=all")"
        live "$mode" attached 220
    done
}

# Where virtual threads keep their carriers, and only those say what they wait for.
test_live_mounted() {
    need_jdk 21
    [ "$JDK_MAJOR" -lt 24 ] || skip "live asks that"
    live mounted attached 220
}

test_deadlocks() {
    for mode in $(modes); do
        asked Deadlocks "$mode" 20
    done
}

test_counts_under_load() {
    asked Counts platform 10
}

# Of the samples on paths whose leaf is known: all, and those that name it, into "counts" by path.
count_leaves() { # TRUTH
    node "$ROOT/tests/truth/leaf.mjs" count orca "$1" "$TRACE" "$ORCA" >counts 2>count.err || fail "$(cat count.err)"
    cat counts
    read -r all right <<<"$(awk '{ all += $3; right += $4 } END { print all + 0, right + 0 }' counts)"
}

# Of each path, too: one kind of code of many would not be missed in the sum.
leaves_are_right() {
    at_least "$all" 300 "samples"
    at_least $((right * 10)) $((all * 9)) "of $all samples, those that name the leaf, in tenths"
    same "$(awk '$3 >= 10 && $4 * 10 < $3 * 7' counts)" ""
}

test_leaves() {
    command -v node >/dev/null || skip "there is no node, which reads what Orca says"
    local ms all right
    for ms in 20 60 180; do # until there are enough, on a busy machine
        rm -f "$TRACE"
        run 0 "$JAVA" "$(agent cpu=1ms)" -Xms128m -Xmx128m -XX:+AlwaysPreTouch -Xbatch -XX:-UsePerfData -cp "$PROGRAMS" Paths "$ms" </dev/null
        count_leaves out
        [ "$all" -lt 300 ] || break
    done
    leaves_are_right
}

# Of code that was compiled before the attach calls and the polls of loops are described: loops have their methods, inlined ones too.
test_leaves_of_older_code() {
    command -v node >/dev/null || skip "there is no node, which reads what Orca says"
    local ms all right
    for ms in 20 60 180; do
        rm -f "$TRACE"
        CLASSES=$PROGRAMS launch_told Paths -Xms128m -Xmx128m -XX:+AlwaysPreTouch -Xbatch -- "$ms"
        run 0 "$ORCA" attach "$jvm" --cpu 1ms -o "$TRACE"
        echo >&9
        exec 9>&-
        wait "$jvm"
        same $? 0
        grep -E '^leaf (plain|loop|monomorphic|bimorphic|megamorphic|hidden|lambda|handle|switch|synchronized)' java.out >loops
        count_leaves loops
        [ "$all" -lt 300 ] || break
    done
    leaves_are_right
}
