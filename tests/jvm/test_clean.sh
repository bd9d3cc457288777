# orca clean, and what orca status says of what is left behind: with a user whose files nobody else has.
. "$ROOT/tests/jvm/users.sh"

clean() { # STATUS [ARGUMENT...]
    local status=$1
    shift
    run "$status" as_user "$ORCA" clean "$@"
}
rings() {
    find /dev/shm -maxdepth 1 -name 'orca-*.rings' -user "$USER_ID"
}
kill_it() {
    kill -KILL "$jvm"
    wait "$jvm" 2>/dev/null
}
# A recording that was killed: its trace is "TRACE", its rings "left".
left_behind() {
    need_users
    launch -- "$(agent "")"
    kill_it
    left=$(rings)
    [ -n "$left" ] || fail "no rings"
}

test_a_trace_that_is_there_keeps_its_rings() {
    left_behind
    run 0 as_user "$ORCA" status
    has out "left behind by ended recordings:"
    has out "$left: "
    has out "rings of $TRACE, which is incomplete; to complete it: orca info $TRACE"
    lacks out "to remove it: orca clean"
    run 0 as_user "$ORCA" status --json
    same "$(tr -d ' \n' <out | grep -c '"removable":false,"trace":"'"$TRACE"'","trace_is":"needed"')" 1
    clean 0
    has out "kept $left: "
    clean 0 "$left"
    has out "kept $left: "
    same "$(rings)" "$left"
    good_trace recovered
    clean 0
    same "$(cat out)" ""
    has err "nothing was left behind"
}

test_rings_of_a_deleted_trace_go() {
    left_behind
    rm "$TRACE"
    run 0 as_user "$ORCA" status
    has out "1 file that nothing needs; to remove it: orca clean"
    lacks out "$left"
    clean 0 --dry-run
    has out "would remove $left: "
    has out "rings of $TRACE, which was deleted"
    same "$(rings)" "$left"
    # of somebody else they stay, also for root
    run 0 as_other "$ORCA" clean
    run 0 as_other "$ORCA" status
    lacks out "$left"
    run 1 "$ORCA" clean "$left"
    has err "$left: other users can write to it: it stays"
    same "$(rings)" "$left"
    clean 0
    has out "removed $left: "
    same "$(rings)" ""
    run 0 as_user "$ORCA" status
    lacks out "left behind"
}

test_a_trace_that_was_moved() {
    left_behind
    as_user mkdir home/other
    mv "$TRACE" home/other/app.otrace
    clean 0 home/other --dry-run
    has out "kept $left: "
    has out "rings of home/other/app.otrace, which is incomplete"
    TRACE=$TMP/home/other/app.otrace
    good_trace recovered
}

# While it runs, recorded or just ended; also when its trace was removed in that time.
test_a_jvm_that_lives() {
    need_users
    launch -- "$(agent "")"
    left=$(rings)
    rm "$TRACE"
    run 0 as_user "$ORCA" status
    lacks out "left behind"
    clean 0
    has err "nothing was left behind"
    clean 1 "$left"
    has err "$left: a JVM records into it: the file stays"
    run 0 as_user "$ORCA" status "$jvm"
    has out "$TRACE"
    same "$(rings)" "$left"
    end
}

# On a disk that is not there now; on one that is.
test_a_disk_that_is_away() {
    [ "${PRIVATE_MOUNTS:-}" = yes ] || {
        unshare -m true 2>/dev/null || skip "needs unshare -m (root)"
        PRIVATE_MOUNTS=yes exec unshare -m bash "$ROOT/tests/jvm/lib.sh" "${BASH_SOURCE[0]}" test_a_disk_that_is_away
    }
    need_users
    mkdir disk
    mount -t tmpfs -o size=8m,mode=1777 tmpfs disk || skip "cannot mount"
    TRACE=$TMP/disk/app.otrace
    launch -- "$(agent "")"
    kill_it
    left=$(rings)
    mkdir elsewhere
    mount --move disk elsewhere || mount --bind disk elsewhere || skip "cannot move the mount"
    mountpoint -q disk && umount disk
    clean 0
    has out "kept $left: "
    has out "their trace was on a disk, or in a container, that is not here; to remove them anyway: orca clean $left"
    same "$(rings)" "$left"
    clean 0 elsewhere
    has out "rings of elsewhere/app.otrace, which is incomplete"
    clean 0 "$left"
    has out "removed $left: "
    same "$(rings)" ""
}

# What agents of earlier versions left, and a folder of one that was killed while it made its socket.
test_sockets() {
    need_users
    perl -MIO::Socket::UNIX -e 1 2>/dev/null || skip "needs perl"
    local old=/tmp/.orca-$USER_ID new=/tmp/.orca-u$USER_ID
    as_user mkdir -m 700 "$old" "$new"
    as_user perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Local => $ARGV[0], Listen => 1) or die' "$old/12.sock"
    set -m
    as_user perl -MIO::Socket::UNIX -e 'my $s = IO::Socket::UNIX->new(Local => $ARGV[0], Listen => 1) or die;
        open my $f, ">", $ARGV[1]; $s->accept while 1' "$old/13.sock" "$TMP/home/listens" &
    wait_for 60 test -e home/listens
    clean 0
    lacks out "$USER_ID" # they are new: a JVM may just be making its socket
    touch -d '1 minute ago' "$old" "$new"
    run 0 as_user "$ORCA" status
    has out "2 files that nothing needs; to remove them: orca clean"
    clean 0 --dry-run
    has out "would remove $old/12.sock: a socket that no process listens to"
    lacks out 13.sock
    has out "would remove $new: "
    [ -S "$old/12.sock" ] && [ -d "$new" ] || fail "removed already"
    clean 0
    has out "removed $old/12.sock: "
    has out "removed $new: "
    same "$(ls "$old")" 13.sock
    [ ! -e "$new" ] || fail "$new is there"
    kill %1
    wait
    touch -d '1 minute ago' "$old"
    clean 0
    has out "removed $old/13.sock: "
    has out "removed $old: "
    [ ! -e "$old" ] || fail "$old is there"
}
