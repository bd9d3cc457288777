# Who ended each wait, by the analyser (wakers_tool.c), against what the program knows.
# timeout: 120
. "$ROOT/tests/jvm/traced.sh"

wakers() {
    ${CC:-cc} -std=c11 -D_GNU_SOURCE -O1 -g -I"$ROOT/src" -o tool "$ROOT/tests/jvm/wakers_tool.c" \
        "$ROOT/build/release/lib.a" -lzstd || fail "cannot build the tool"
    ./tool "$TRACE" >wakers || fail "the tool failed"
}

# The notified thread is the one whose wait returned without an exception.
test_interrupt_and_notify_in_one_block() {
    run_traced 0 "" WhoWoke 300
    wakers
    awk 'FNR == NR { if ($1 == "woke") how[$2] = $3; next }
        $1 == "wait" && $3 == "waiting" && ($2 in how) {
            n++
            if ($4 != how[$2] || $5 != "main") { split($2, a, "-"); if (!(a[2] in bad)) wrong++; bad[a[2]]; print $0 ": it was " how[$2] >"wrong" }
        }
        END { print n, wrong + 0 }' out wakers >sums
    echo "waits, wrong rounds: $(cat sums); $(cut -d ' ' -f 3 out | sort | uniq -c | tr '\n' ' ')"
    [ ! -e wrong ] || head wrong
    same "$(cat sums)" "1200 0"
    at_least "$(count out ' interrupt$')" 50 "interrupted"
    at_least "$(count out ' notify$')" 100 "notified"
}
