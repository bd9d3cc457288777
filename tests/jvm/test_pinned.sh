# Virtual threads that block while a frame pins them to their carrier (Pinned.java).
# timeout: 120
. "$ROOT/tests/jvm/traced.sh"

check() { # HOW
    need_jdk 24 # before, a monitor pins, too
    run 0 traced "" -Xmx64m -Djdk.reflect.useNativeAccessorOnly=true Pinned "$1"
    run 0 "$ORCA" report --json --findings "$TRACE"
    jq -r '.findings[] | select(.rule == "pinned") | .text' out >text
}
test_native() {
    check native
    grep -qE '^Virtual threads block while pinned at .*NativeAccessor.invoke0 \(native\); 10 threads kept a carrier for [0-9.]+ s \(10 waits' text || fail "$(cat text)"
    has text 'wait in Pinned.nap (Pinned.java:'
}
test_initialiser() {
    check init
    grep -qE '^Virtual threads block while pinned at Pinned.Slow.<clinit> \(Pinned.java:[0-9]+\); 1 thread kept a carrier for 2[0-9]+ ms' text || fail "$(cat text)"
}
test_not_pinned() {
    check free
    same "$(cat text)" ""
}
