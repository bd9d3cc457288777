# Threads that wait for a class to be initialised, of which the JVM reports nothing (Initialised.java).
# timeout: 120
. "$ROOT/tests/jvm/traced.sh"

# The first finding, which is the only one about it: who runs the initialiser, and what that does.
check() { # HOW DOES
    run 0 traced "" -Xmx64m Initialised "$1"
    run 0 "$ORCA" report --json --findings "$TRACE"
    jq -r '.findings[0].card | .title, (.lines[] | "\(.label) \(.text)")' out >card
    same "$(head -n 1 card)" 'initialisation of Initialised$Table'
    # a thread that gets no processor for 150 ms when the initialiser has ended is not known to have waited for it
    grep -qE '^ ?[3-7] threads wait [0-9.]+ s on average, once each' card || fail "$(cat card)"
    grep -qE "^held by request-[0-7], [0-9]+ % of the time $2" card || fail "$(cat card)"
    grep -qE '^(null)? ?Initialised.Table.(load|read) \(Initialised.java:[0-9]+\)' card || fail "$(cat card)"
    same "$(jq '[.findings[] | select(.rule == "class-initialisation")] | length' out)" 1
    lacks card 'int[]'
}
test_initialiser_that_reads() { check input 'waiting for input'; }
test_initialiser_that_sleeps() { check sleep 'sleeping'; }
