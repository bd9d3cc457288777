# Locks taken in contradicting orders by a program that never deadlocks (LockOrder.java), as lock_order_tool.c
# reads the trace.
# timeout: 120
. "$ROOT/tests/jvm/traced.sh"

ALL=holds+threads+monitors+waits+parks+joins+interrupts

# Run a MODE with these events; what was found is in "found", side by side in "first" and "second".
find_in() { # EVENTS MODE
    ${CC:-cc} -std=c11 -D_GNU_SOURCE -O1 -g -I"$ROOT/src" -o tool "$ROOT/tests/jvm/lock_order_tool.c" \
        "$ROOT/build/release/lib.a" -lzstd || fail "cannot build the tool"
    run_traced 0 "events=$1" LockOrder "$2"
    ./tool "$TRACE" >found || fail "the tool failed"
    # The JDK's own threads and classes are none of this test's business.
    grep -E '^side thread=(first|second) ' found | sort >sides
    cat found
}

findings() {
    count found '^finding '
}

held_then_wanted() { # THREAD HELD WANTED
    at_least "$(grep -c "^side thread=$1 held=$2 wanted=$3 " sides)" 1 "$1: $2, then $3"
}

test_inverted() {
    find_in $ALL inverted
    same "$(findings)" 1
    held_then_wanted first 'LockOrder\$Left' 'LockOrder\$Right'
    held_then_wanted second 'LockOrder\$Right' 'LockOrder\$Left'
    has sides "wanted_at=given-back:LockOrder.forward:"
    has sides "wanted_at=given-back:LockOrder.backward:"
    has found "cycles=1 count=1 partial=0 checked=1 reach=reorderable"
}

# Joins are not recorded: nobody knows whether there was one.
test_only_holds() {
    find_in holds inverted
    same "$(findings)" 1
    has found "partial=1 checked=0 reach=candidate"
}

test_gate() {
    find_in $ALL gate
    same "$(findings)" 0
    has found "gate=1"
}

test_joined() {
    find_in $ALL joined
    same "$(findings)" 0
    has found "start_join=1"
}

test_ordered_by_notify() {
    find_in $ALL ordered
    same "$(findings)" 1
    has found "checked=1 reach=candidate"
}

test_locks() {
    find_in $ALL locks
    same "$(findings)" 1
    held_then_wanted first 'java.util.concurrent.locks.ReentrantLock\$NonfairSync' \
        'java.util.concurrent.locks.ReentrantLock\$NonfairSync'
    has sides "wanted_at=given-back:LockOrder.both:"
}

test_readers() {
    find_in $ALL readers
    same "$(findings)" 0
    has found "shared=1"
}

test_taken_again() {
    find_in $ALL again
    same "$(findings)" 0
}

test_many_objects() {
    find_in $ALL many
    same "$(findings)" 1
    has found "cycles=500 count=500"
}

# Without holds: from the owners that waiting threads saw.
test_contended() {
    find_in ${ALL#holds+} contended
    same "$(findings)" 1
    held_then_wanted first 'LockOrder\$Left' 'LockOrder\$Right'
    held_then_wanted second 'LockOrder\$Right' 'LockOrder\$Left'
    has sides "wanted_at=wanted:LockOrder.forward:$(site LockOrder.java forward) seen=1"
    has sides "wanted_at=wanted:LockOrder.backward:$(site LockOrder.java backward) seen=1"
    has found "partial=1 checked=0 reach=candidate"
}

test_contended_with_holds() {
    find_in $ALL contended
    same "$(findings)" 1
    has sides "wanted_at=wanted:LockOrder.forward:$(site LockOrder.java forward) seen=0"
    has found "partial=0 checked=1"
}

# What a user sees of it.
test_report() {
    find_in $ALL inverted
    run 0 "$ORCA" report --json "$TRACE"
    same "$(jq -r '[.findings[] | select(.rule == "inversion")] | length' out)" 1
    same "$(jq -r '.lock_orders | length' out)" 1
    same "$(jq -r '[.lock_orders[0].sides[].name] | sort | join(" ")' out)" "first second"
    same "$(jq -r '.lock_orders[0] | .sides[0].wanted == .sides[1].held and .sides[1].wanted == .sides[0].held' out)" true
    same "$(jq -r '.lock_orders[0].reorderable' out)" true
    run 0 "$ORCA" report --orders "$TRACE"
    has out "first takes LockOrder\$Right"
    has out "while holding LockOrder\$Left"
    has out "LockOrder.forward (LockOrder.java:"
    find_in $ALL gate
    run 0 "$ORCA" report --all "$TRACE"
    lacks out "Lock order inversion:"
    run 0 "$ORCA" report --orders "$TRACE"
    has out "No lock order inversion was found"
}
