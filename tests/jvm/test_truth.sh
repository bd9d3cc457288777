# A part of what "./dev truth" asks, of Orca alone: it may say too little, and nothing that is wrong (docs/truth.md).
# timeout: 150
. "$ROOT/tests/jvm/traced.sh"

GROUPS_ASKED=threads+virtual+monitors+waits+parks+sleeps+joins+interrupts+semaphores+locks

PROGRAMS=$ROOT/build/tests/jvm/truth:$CLASSES

# All verdicts are right but at most so many of a hundred that are not said, or not known.
asked() { # PROGRAM MODE NOT-SAID-PERCENT [+GROUP]
    command -v node >/dev/null || skip "there is no node, which reads what Orca says"
    run 0 "$JAVA" "$(agent "events=$GROUPS_ASKED${4:-},ownerstacks=all")" -Djdk.virtualThreadScheduler.parallelism=96 \
        -Djdk.virtualThreadScheduler.maxPoolSize=256 -XX:-UsePerfData -cp "$PROGRAMS" "$1" "$2" brief
    same "$(tail -n 1 out)" done
    node "$ROOT/tests/truth/judge.mjs" orca "$2" out "$TRACE" "$ORCA" >verdicts 2>judge.err || fail "$(cat judge.err)"
    local wrong right silent
    wrong=$(grep -c '^wrong' verdicts) right=$(grep -c '^right' verdicts) silent=$(grep -c '^not-said' verdicts)
    echo "$1, $2: $right right, $wrong wrong, $silent not said"
    [ "$wrong" = 0 ] || fail "$1, $2: $(grep '^wrong' verdicts)"
    at_least "$right" 10 "right answers of $1, $2"
    [ $((silent * 100)) -le $(((right + silent) * $3)) ] || fail "$1, $2: $(grep '^not-said' verdicts)"
}

modes() {
    echo platform
    [ "$JDK_MAJOR" -lt 25 ] || printf '%s\n' mounted unmounted
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

test_deadlocks() {
    for mode in $(modes); do
        asked Deadlocks "$mode" 20
    done
}

test_counts_under_load() {
    asked Counts platform 10
}
