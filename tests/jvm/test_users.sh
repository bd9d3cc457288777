# Several users on one machine: who may control a JVM, who may not, and what others can do against it.
# timeout: 240
. "$ROOT/tests/jvm/users.sh"

# The folder in which the JVM's control socket was made.
made_in() {
    find "/proc/$jvm/fd" -type l -printf '%l\n' 2>/dev/null | sed -n 's|^\(.*\)/[^/]*/orca-control (deleted)$|\1|p'
}

not_loaded() {
    lacks "/proc/$jvm/maps" liborca
    ! grep '^orca' java.err || fail "the agent has said something"
}

# All that a command can ask of an agent.
control() { # RUNNER...
    run 0 "$@" "$ORCA" attach "$jvm" -o "$TRACE"
    run 0 "$@" "$ORCA" status "$jvm"
    has out "$TRACE"
    run 0 "$@" "$ORCA" query "$jvm" thread main
    has out main
    run 0 "$@" "$ORCA" dump "$jvm" -o "$TMP/home/dumped.otrace"
    has err "dumped.otrace: "
    run 0 "$@" "$ORCA" top "$jvm" --batch --count 1
    has out Attachable
    run 0 "$@" "$ORCA" detach "$jvm"
    has err "app.otrace: "
    same "$(stat -c '%a %u' home/app.otrace home/dumped.otrace | sort -u)" "600 $USER_ID"
    rm home/app.otrace home/dumped.otrace
    # a recording of its own, which goes again
    run 0 "$@" "$ORCA" top "$jvm" --batch --count 1
    has out Attachable
    wait_for 60 eval '"$ORCA" status '"$jvm"' | grep -q "recorded    no"'
    ! grep '^orca' java.err || fail "the agent has said something"
}

test_root_controls_a_users_jvm() {
    need_users
    launch --
    control env
    control as_user
    end
}

test_names_that_others_take() {
    need_users
    local name=/tmp/.orca-$USER_ID
    launch --
    as_other mkdir "$name"
    control as_user
    as_other rmdir "$name"
    as_other touch "$name"
    control as_user
    rm "$name"
    as_other ln -s /tmp "$name"
    control as_user
    control env
    end
    rm "$name"
}

# In which folder the socket is made; it works in each.
test_folders_of_the_socket() {
    need_users
    local long
    as_user mkdir -m 700 "$RUN"
    try() { # FOLDER NAME=VALUE
        launch "$2" -- "$(agent "")"
        same "$2: $(made_in)" "$2: $1"
        run 0 as_user "$ORCA" status "$jvm"
        has out "$TRACE"
        run 0 "$ORCA" status "$jvm"
        has out "$TRACE"
        end
        good_trace complete
        rm "$TRACE"
    }
    try "$RUN" XDG_RUNTIME_DIR="$RUN"
    same "$(ls -A "$RUN")" ""
    try /tmp NONE=
    try /tmp XDG_RUNTIME_DIR=
    try /tmp XDG_RUNTIME_DIR=run
    try /tmp XDG_RUNTIME_DIR="$RUN/none"
    chmod 750 "$RUN"
    try /tmp XDG_RUNTIME_DIR="$RUN"
    chmod 500 "$RUN"
    try /tmp XDG_RUNTIME_DIR="$RUN"
    chmod 700 "$RUN"
    ln -s "$RUN" "$RUN.link"
    try /tmp XDG_RUNTIME_DIR="$RUN.link"
    long=$RUN/$(printf 'd%.0s' $(seq 100))
    as_user mkdir -m 700 "$long"
    try /tmp XDG_RUNTIME_DIR="$long"
    chown "$OTHER_ID" "$RUN"
    try /tmp XDG_RUNTIME_DIR="$RUN"
    mkdir -p /run/user
    mkdir "/run/user/$USER_ID" || skip "no /run/user"
    try /tmp NONE=
    chmod 700 "/run/user/$USER_ID"
    try /tmp NONE=
    chown "$USER_ID:$USER_ID" "/run/user/$USER_ID"
    try "/run/user/$USER_ID" NONE=
    chown "$USER_ID" "$RUN"
    try "$RUN" XDG_RUNTIME_DIR="$RUN"
    same "$(find "/run/user/$USER_ID" "$RUN" /tmp -maxdepth 1 -name '.orca*' -user "$USER_ID")" ""
}

# The folder goes, as /run/user/UID does when its user logs out; the JVM goes on.
test_the_folder_goes() {
    need_users
    as_user mkdir -m 700 "$RUN"
    launch XDG_RUNTIME_DIR="$RUN" -- "$(agent "")"
    same "$(made_in)" "$RUN"
    rmdir "$RUN"
    run 0 as_user "$ORCA" status "$jvm"
    has out "$TRACE"
    end
}

refused() { # TEXT RUNNER... -- COMMAND...
    local text=$1 runner
    shift
    split_words runner "$@"
    run 1 "${runner[@]}" "$ORCA" "${rest[@]}"
    same "$(grep -c '' err)" 1
    has err "$text"
}

test_another_user_is_refused() {
    need_users
    local who=$USER_ID verb
    launch --
    for verb in attach status dump detach "top --batch --count 1" "query locks"; do
        # shellcheck disable=SC2086 # words
        set -- $verb
        refused "process $jvm (java) belongs to user #$who; run: sudo -u '#$who' orca attach $jvm" as_other -- "$1" "$jvm" "${@:2}"
        not_loaded
    done
    # With the one capability one may look, but HotSpot takes no command from who is neither its user nor root.
    with_caps sys_ptrace true 2>/dev/null || skip "no capabilities can be given"
    for verb in attach "top --batch --count 1" "query locks"; do
        # shellcheck disable=SC2086 # words
        set -- $verb
        refused "JVM $jvm (Attachable) belongs to user #$who; run: sudo -u '#$who' orca attach $jvm" with_caps sys_ptrace -- "$1" "$jvm" "${@:2}"
        not_loaded
    done
    run 0 as_user "$ORCA" attach "$jvm" -o "$TRACE"
    for verb in status dump detach; do
        refused "belongs to user #$who" as_other -- $verb "$jvm"
    done
    refused "belongs to user #$who" with_caps sys_ptrace -- dump "$jvm"
    # The agent looks, too, who may open the JVM's files and so get through to it.
    perl -MIO::Socket::UNIX -e 1 2>/dev/null || skip "needs perl"
    local place
    place=$(control_socket "$jvm")
    as_other perl -MIO::Socket::UNIX -e 'exit(IO::Socket::UNIX->new(Peer => $ARGV[0]) ? 1 : 0)' "$place" || fail "others can connect"
    with_caps sys_ptrace perl -MIO::Socket::UNIX -e 'exit(IO::Socket::UNIX->new(Peer => $ARGV[0]) ? 1 : 0)' "$place" || fail "they can connect"
    ptrace+=(--inh-caps +sys_ptrace,+dac_override --ambient-caps +sys_ptrace,+dac_override)
    with_caps sys_ptrace,+dac_override perl -MIO::Socket::UNIX -e 'my $c = IO::Socket::UNIX->new(Peer => $ARGV[0]) or die "$!";
        print $c "stop\n"; local $/; print <$c>' "$place" >answer || fail "no answer"
    same "$(cat answer)" "error 1 it takes requests from its own user, #$who, and from root only, as the JVM sees them"
    run 0 as_user "$ORCA" detach "$jvm"
    end
}

# Root of the machine is nobody to a JVM whose user name space does not have it.
test_root_that_the_jvm_does_not_know() {
    need_users
    as_user unshare --user --map-current-user true 2>/dev/null || skip "no user name space can be made"
    rm -f in
    mkfifo in
    set -m
    : >java.out
    (cd /tmp && exec setpriv --reuid "$USER_ID" --regid "$USER_ID" --clear-groups unshare --user --map-current-user \
        "$JAVA" -Xmx64m -XX:-UsePerfData -cp "$CLASSES" Attachable) <in >java.out 2>java.err &
    jvm=$!
    exec 9>in
    wait_for 60 grep -q '^ready' java.out
    refused "JVM $jvm (Attachable) is in a user name space in which root of this one has no rights; run: sudo -u '#$USER_ID' -g '#$USER_ID' orca attach $jvm" \
        env -- attach "$jvm"
    not_loaded
    control as_user
    end
}

# A killed JVM leaves nothing of its control socket behind.
test_nothing_is_left() {
    need_users
    launch -- "$(agent "")"
    same "$(made_in)" /tmp
    kill -KILL "$jvm"
    wait "$jvm" 2>/dev/null
    same "$(find /tmp -maxdepth 1 -name '.orca*' -user "$USER_ID")" ""
    good_trace recovered
}

# What an agent of an earlier version records can still be seen and ended; not by its socket's name alone.
test_agents_of_earlier_versions() {
    need_users
    ${CC:-cc} -shared -fPIC -O1 -I"$JNI_INCLUDE" -I"$JNI_INCLUDE/linux" -o libearlier.so \
        "$ROOT/tests/jvm/earlier_agent.c" || fail "cannot build the agent"
    chmod a+rx libearlier.so
    launch -- "-agentpath:$TMP/libearlier.so"
    wait_for 60 test -S "/tmp/.orca-$USER_ID/$jvm.sock"
    for runner in env as_user; do
        run 0 $runner "$ORCA" status "$jvm"
        has out "/none/?[31m.otrace"
        run 0 $runner "$ORCA" status
        has out "/none/?[31m.otrace"
        lacks out $'\e'
    done
    # A folder of somebody else's is not looked into: neither there nor in a JVM that has no agent.
    chown -R "$OTHER_ID" "/tmp/.orca-$USER_ID"
    run 0 "$ORCA" status "$jvm"
    has out "recorded    no"
    chown -R "$USER_ID" "/tmp/.orca-$USER_ID"
    chmod 755 "/tmp/.orca-$USER_ID"
    run 0 "$ORCA" status "$jvm"
    has out "recorded    no"
    end
}
