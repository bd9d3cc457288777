# What commands print of a JVM whose threads have names that would move the cursor, forge a line or turn text around.
. "$ROOT/tests/jvm/traced.sh"

# FILE: no control character but line breaks, no C1, no override, no line that a name made.
clean() {
    [ -s "$1" ] || fail "$1 is empty"
    ! LC_ALL=C grep -n -a -P '[\x01-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80\xae|^orca: all is well' "$1" >harm ||
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
