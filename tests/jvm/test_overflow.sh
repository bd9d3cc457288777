# Stacks that overflow in code that was rewritten: a probe that cannot run must leave every lock as it would have been,
# and must not be tried for ever (Overflow.java).
# timeout: 120
. "$ROOT/tests/jvm/traced.sh"

overflow() { # OPTION...
    rm -f "$TRACE"
    run_traced 0 events=all,depth=8 "$@" Overflow 16
    same "$* $(cat out)" "$* 128 rounds"
}

test_interpreted() { overflow -Xint; }
test_quick_compiler() { overflow -XX:TieredStopAtLevel=1; }
test_compiled() { overflow; }

# Every callback, probe and wrapped method on the last pages of a stack (LastPage.java), with stacks that are asked for deeper
# than these pages have room for: they are cut, and a message says so.
last_page() { # DEPTH EVENTS KIND...
    local depth=$1 events=$2
    shift 2
    rm -f "$TRACE"
    run 0 traced "events=$events,depth=$depth,samplebytes=1,methods=LastPage#user" -XX:+UseSerialGC LastPage 6 "$@"
    same "$(grep -c ' overflowed$' out)" "${#@}"
    no_crash
    info
    same "$(value state)" complete
    cut=$(sed -n "s/.*cut near the end of the thread's stack \([0-9]*\).*/\1/p" info)
}

LAST_PAGE=(monitors waits notifies parks sleeps joins interrupts thrown semaphores locks threads methods objects classes errors)

test_last_page_half_depth() { last_page 512 all "${LAST_PAGE[@]}"; }
test_last_page_full_depth() {
    last_page 1024 all "${LAST_PAGE[@]}"
    at_least "${cut:-0}" 100 "stacks that were cut"
}
test_last_page_alloc() {
    last_page 1024 all+alloc monitors notifies thrown semaphores locks methods objects classes errors
    at_least "${cut:-0}" 100 "stacks that were cut"
}

# An exception at each instruction of the rewritten code, and a second one up to 12 instructions behind it; then one at each
# of the probes' own code (Thrown.java).  What the program does by itself is what it must do then.
thrown() { # CLASSES SECONDS OPTION...
    local classes=$1 seconds=$2
    shift 2
    "$JAVA" "$@" "-agentpath:$THROW=$classes" -XX:-UsePerfData -cp "$CLASSES" ThrownRounds "$THROW" "$seconds" >out 2>err ||
        fail "$(head -n 3 err)"
    same "$(wc -l <out)" 8
}

test_thrown_anywhere() {
    THROW=$TMP/libthrow.so
    "${CC:-cc}" -std=c11 -D_GNU_SOURCE -shared -fPIC -I"$JNI_INCLUDE" -I"$JNI_INCLUDE/linux" -o "$THROW" \
        "$ROOT/tests/jvm/throw_agent.c" || fail "cc"
    thrown Thrown 12
    mv out plain
    thrown Thrown 12 "$(agent events=all)"
    # it was rewritten: each shape has more instructions
    paste plain out | awk '$4 <= $2 { print; bad = 1 } END { exit bad }' >differ || fail "$(cat differ)"
    thrown Thrown+java/lang/OrcaHolds 0 "$(agent events=all)"
}
