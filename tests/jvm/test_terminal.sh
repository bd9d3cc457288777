# What commands print of a JVM whose threads have names that would move the cursor, forge a line or turn text around.
. "$ROOT/tests/jvm/traced.sh"

# FILE: no control character but line breaks, no C1, no override, no line that a name made.
clean() {
    [ -s "$1" ] || fail "$1 is empty"
    ! LC_ALL=C grep -n -a -P '[\x01-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8b-\x8f\xa8-\xae]|\xe2\x81[\xa0-\xaf]|\xd8\x9c|\xef\xbb\xbf|^orca: all is well' "$1" >harm ||
        fail "$2: $(head -n 3 harm | cat -v)"
}

# COMMAND... of orca: both outputs are clean.
shows() {
    "$ORCA" "$@" >shown 2>&1
    clean shown "orca $*"
}

test_names_of_threads() {
    export LC_ALL=C.UTF-8
    launch_told Named --
    shows query "$jvm" locks
    grep -a -q stuck shown || fail "query locks lacks who is stuck: $(cat shown)"
    shows query "$jvm" locks --held
    id=$("$ORCA" query "$jvm" locks --json | grep -o '"id": *[0-9]*' | head -n 1 | tr -dc 0-9)
    shows query "$jvm" thread "$id"
    shows query "$jvm" thread "$(printf 'no\033[2Jbody')"
    run 0 "$ORCA" attach "$jvm" -o "$TRACE"
    clean err attach
    shows status "$jvm"
    shows status
    shows top "$jvm" --batch --count 1
    run 0 "$ORCA" detach "$jvm"
    clean err detach
    shows report "$TRACE"
    grep -a -q stuck shown || fail "report lacks who is stuck: $(cat shown)"
    shows report --deadlocks "$TRACE"
    shows events -s "$TRACE"
    shows info "$TRACE"
    echo >&9
    wait "$jvm" || fail "the program ended with $?"
    no_crash
}

# Files whose names hold a colour, an override, an Arabic letter mark, a C1 control, a byte that is not text and a line.
test_names_of_files() {
    export LC_ALL=C.UTF-8
    local odd file
    odd=$(printf 'x\033[31m\342\200\256\330\234\302\233\377\norca: all is well')
    cp "$ROOT/tests/golden/hot/shop.otrace" "$odd.otrace"
    cp "$ROOT/tests/golden/report-orca-waits/input.orca" "$odd.orca"
    printf 'JAVA PROFILE 1.0.2\0\0\0\0\010\0\0\0\0\0\0\0\0\034\0\0' >"$odd.hprof"
    shows heap "$odd.hprof"
    shows heap --diff "$odd.hprof" "$odd.hprof"
    for file in "$odd.otrace" "$odd.orca" "$odd.none"; do
        shows info "$file"
        shows report "$file"
        shows diff "$file" "$file"
        shows heap "$file"
    done
    shows events "$odd.otrace"
    shows export "$odd.otrace" --to orca
    shows import "$odd.orca" -o "$odd.2.otrace"
    shows "$odd"
    shows info "--$odd"
    # JSON loses nothing of it.
    file=$(printf 'y\342\200\256\330\234\302\233.otrace')
    cp "$odd.otrace" "$file"
    "$ORCA" info --json "$file" >shown 2>&1
    clean shown json
    grep -qF '\u202e\u061c\u009b' shown || fail "$(grep -m 1 file shown)"
}

# Exact bytes into a pipe or a file, but for the formats that are shown to somebody; on a terminal nothing raw.
test_exports_on_a_terminal() {
    export LC_ALL=C.UTF-8
    command -v script >/dev/null || skip "needs script"
    launch_told Named --
    run 0 "$ORCA" attach "$jvm" -e threads+monitors+waits+parks -o "$TRACE"
    run 0 "$ORCA" detach "$jvm"
    echo >&9
    wait "$jvm"
    # every thread waits, and stands in front of its stack
    local all="--states blocked,waiting,parked,joining,sleeping,reacquiring --threads"
    # shellcheck disable=SC2086 # a list of words
    "$ORCA" export "$TRACE" --to collapsed $all -o - >shown 2>/dev/null
    grep -a -q "stuck.*blocked on" shown || fail "who is stuck is not there: $(cat -v shown)"
    clean shown collapsed
    script -qec "'$ORCA' export '$TRACE' --to collapsed $all -o -" /dev/null </dev/null 2>&1 | tr -d '\r' >shown
    clean shown "collapsed on a terminal"
}
