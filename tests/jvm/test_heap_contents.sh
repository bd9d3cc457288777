# orca heap: what dumps of a program of known contents hold (HeapContents.java).
# timeout: 180

# Starts the program and dumps it to first.hprof, and after 1,000 more entries to app.hprof.
dumps() { # OPTION...
    mkfifo lines
    "$JAVA" -Xmx128m "$@" -cp "$CLASSES" HeapContents <lines >ready 2>err &
    pid=$!
    exec 9>lines
    wait_for 60 grep -q ready ready
    "$JDK/bin/jcmd" $pid GC.heap_dump -overwrite "$TMP/first.hprof" >/dev/null || fail "no dump"
    echo >&9
    wait_for 60 second_ready
    "$JDK/bin/jcmd" $pid GC.heap_dump -overwrite "$TMP/app.hprof" >/dev/null || fail "no second dump"
}
second_ready() { [ "$(count ready ready)" -ge 2 ]; }

# A number of the JSON: the first one of this key behind the first line that has TEXT.
number() { # TEXT KEY
    awk -v text="$1" -v key="\"$2\":" 'index($0, text) { on = 1 }
        on && index($0, key) { gsub(/[^0-9-]/, "", $2); print $2; exit }' out
}

check_strings() {
    run 0 "$ORCA" heap --strings --top 100 --json app.hprof
    same "$(number '"a duplicate of a name"' strings)" 501
    has out '"HeapContents$Owner.name"'
    same "$(number '"HeapContents$Owner.name"' references)" 500
    same "$(number '"中文字"' length)" 3
    same "$(number '"中文字"' strings)" 41
    # 500 Strings, of 24 to 40 bytes, and arrays of 40 to 64
    wasted=$(number '"a duplicate of a name"' wasted)
    [ "$wasted" -ge $((500 * 64)) ] && [ "$wasted" -le $((500 * 104)) ] || fail "$wasted wasted"
}

check_collections() {
    run 0 "$ORCA" heap --collections --top 1000 --json app.hprof
    same "$(number '"HeapContents$Owner.some"' number)" 300
    same "$(number '"HeapContents$Owner.some"' empty)" 200
    [ "$(number '"java.util.HashSet"' quarter)" -ge 50 ] || fail "HashSet"
    [ "$(number '"java.util.HashMap"' empty)" -ge 300 ] || fail "HashMap"
    [ "$(number '"java.util.HashMap"' empty)" -le 400 ] || fail "HashMap"
    local bytes number
    number=$(sed -n '/"arrays":/,$p' out | awk '/"long\[\]"/ { on = 1 } on && /"number"/ { gsub(/[^0-9]/, "", $2); print $2; exit }')
    bytes=$(sed -n '/"arrays":/,$p' out | awk '/"long\[\]"/ { on = 1 } on && /"bytes"/ { gsub(/[^0-9]/, "", $2); print $2; exit }')
    [ "$number" -ge 20 ] && [ "$number" -le 40 ] && [ "$bytes" -ge 160320 ] || fail "long[]: $number, $bytes"
}

check_threads() {
    run 0 "$ORCA" heap --threads --top 1 app.hprof
    has out '"holder" 0x'
    # which frame holds what: the lines behind it, up to the next frame
    sed -n '/at HeapContents.Holder.inner /,/ at /p' out >inner
    sed -n '/at HeapContents.Holder.run /,$p' out >outer
    has inner 'int[250000]'
    has outer 'HeapContents$Marker'
    lacks outer 'int[250000]'
    grep -qE 'HeapContents.Holder.inner \(HeapContents.java:[0-9]+\)' out || fail "no line"
}

check_suspects() {
    run 0 "$ORCA" heap --suspects app.hprof
    has out '1. java.lang.Object['
    grep -q '21,000 HeapContents.Entry' out || fail "$(cat out)"
    has out 'static LEAK'
    has out '.elementData'
}

check_diff() {
    run 0 "$ORCA" heap --diff first.hprof --json app.hprof
    same "$(sed -n '/"diff":/,$p' out | awk '/HeapContents.Entry"/ { on = 1 } on && /"instances"/ { gsub(/[^0-9]/, "", $2); print $2 }' | head -n 2 | tr '\n' ' ')" '20000 21000 '
    run 0 "$ORCA" heap --diff first.hprof --retained --top 2 app.hprof
    has out 'HeapContents$Entry'
    has out '+1,000'
}

check() { # OPTION...
    dumps "$@"
    check_strings
    check_collections
    check_threads
    check_suspects
    check_diff
}

test_contents() { check; }
test_contents_serial_full_references() { check -XX:+UseSerialGC -XX:-UseCompressedOops; }
test_contents_z() { check -XX:+UseZGC; }
test_contents_strings_not_compact() { check -XX:-CompactStrings; }
test_compressed_is_the_same() {
    dumps
    kill -KILL $pid
    run 0 "$ORCA" heap --strings --collections --suspects --threads --diff first.hprof --retained app.hprof
    gzip app.hprof
    cp out plain
    run 0 "$ORCA" heap --strings --collections --suspects --threads --diff first.hprof --retained app.hprof.gz
    same "$(tail -n +3 out | md5sum)" "$(tail -n +3 plain | md5sum)"
}
