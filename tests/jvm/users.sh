# users.sh - for tests with users of their own: a JVM of one (Attachable.java), and another one.
. "$ROOT/tests/jvm/traced.sh"

# Users that nobody else is; two runs of a test beside each other have others.
USER_ID=$((20000 + $$ % 10000))
OTHER_ID=$((USER_ID + 10000))
RUN=/tmp/orca-run-$USER_ID # short, as a socket's name must be
as_user() {
    setpriv --reuid "$USER_ID" --regid "$USER_ID" --clear-groups "$@"
}
as_other() {
    setpriv --reuid "$OTHER_ID" --regid "$OTHER_ID" --clear-groups "$@"
}

with_caps() { # CAPABILITIES COMMAND...
    local caps=+$1
    shift
    setpriv --reuid "$OTHER_ID" --regid "$OTHER_ID" --clear-groups --inh-caps "$caps" --ambient-caps "$caps" "$@"
}

finish() {
    leave_no_jvm
    rm -rf "/tmp/.orca-$USER_ID" "/run/user/$USER_ID" "$RUN" "$RUN.link"
    find /dev/shm -maxdepth 1 -user "$USER_ID" -delete
}

need_users() {
    [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null || skip "needs root and setpriv"
    chmod a+rx .
    as_user "$JAVA" -version >/dev/null 2>&1 || skip "another user cannot run this JDK here"
    as_user test -r "$CLASSES/Attachable.class" -a -x "$TMP" -a -x "$ORCA" -a -r "$AGENT" ||
        skip "another user cannot read the tests here"
    unset XDG_RUNTIME_DIR TMPDIR
    mkdir home
    chown "$USER_ID:$USER_ID" home
    TRACE=$TMP/home/app.otrace
}

# A JVM of the user; "jvm" is its pid. With further words before --: its environment.
launch() { # [NAME=VALUE...] -- JVM-OPTION...
    local words
    split_words words "$@"
    rm -f in
    mkfifo in
    set -m
    : >java.out # what an earlier one said is not this one's
    (cd /tmp && exec env "${words[@]}" setpriv --reuid "$USER_ID" --regid "$USER_ID" --clear-groups \
        "$JAVA" -Xmx64m -XX:-UsePerfData "${rest[@]}" -cp "$CLASSES" Attachable) <in >java.out 2>java.err &
    jvm=$!
    exec 9>in
    wait_for 60 grep -q '^ready' java.out
}

end() {
    say end sum
    wait "$jvm" || fail "the program ended with $?"
    no_rings "$jvm"
}
