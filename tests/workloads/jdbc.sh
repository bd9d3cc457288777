# shellcheck shell=sh disable=SC2154 # variables of lib.sh
# jdbc.sh - what the databases' workloads share.  Sourced by them after lib.sh, never run.

# Runs programs/Accounts.java with each URL in turn.  What it prints is the same with each, with and
# without the agent; and where each object is counted, the clients' sum is that of the JVM.
accounts() { # JAR URL...; a URL that has $tmp/db in it has no database there yet
    jar=$1
    shift
    turns=4000
    [ $short = no ] || turns=400
    "$jdk/bin/javac" -d "$tmp" "$here/programs/Accounts.java" || fail "cannot compile Accounts.java"
    for url; do
        for r in $runs; do
            rm -rf "$tmp/db"*
            # shellcheck disable=SC2086 # an option or none
            run "$r" 900 "$jdk/bin/java" $gc_option -cp "$tmp:$jar" \
                Accounts "$url" $turns "$tmp/$r.bytes"
            [ "$status" -eq 0 ] || fail "$r: $url: exit status $status: $(last_words "$r")"
            grep -q '^entry [0-9]' "$out/$r.out" || fail "$r: $url: $(last_words "$r")"
            [ -e "$tmp/sums" ] || cp "$out/$r.out" "$tmp/sums"
            cmp -s "$tmp/sums" "$out/$r.out" ||
                fail "$r: $url: the sums differ: $(first_differences "$tmp/sums" "$out/$r.out")"
        done
        same_output
        case $runs in
        *recorded*)
            check_trace 5
            check_readers
            check_allocated 'client-*' "$tmp/recorded.bytes"
            ;;
        esac
    done
    echo "$((4 * turns)) transactions with each of $#"
}
