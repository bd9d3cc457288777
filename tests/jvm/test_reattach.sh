# orca attach and detach, again and again: what the JVM does not give back (Reattached.java).
# timeout: 240
. "$ROOT/tests/jvm/traced.sh"

finish() {
    leave_no_jvm
}

rounds() { # N ATTACH-ARGUMENT...
    local n=$1
    shift
    for _ in $(seq 1 "$n"); do
        run 0 "$ORCA" attach "$jvm" -o "$TRACE" "$@"
        run 0 "$ORCA" detach "$jvm"
        rm -f "$TRACE"
    done
}

used() {
    say used used >&2
    sed -n 's/^used //p' java.out | tail -n 1
}

end() {
    echo end >&9
    wait "$jvm" || fail "the program ended with $?"
    no_crash
}

# From JDK 20 on no compiled native method is given back, nor the version of the class that it is of.
test_metaspace() {
    local before after compiled
    launch_told Reattached --
    rounds 10
    before=$(used)
    rounds 16
    after=$(used)
    # A version of Thread that stays is 45 kB, one of Semaphore 7 kB, and an attach makes two; what is freed is not always used
    # again at once.
    [ $(((after - before) / 16)) -lt 8000 ] || fail "$(((after - before) / 16)) bytes more with each attach"
    compiled=$("$JDK/bin/jcmd" "$jvm" Compiler.codelist | grep -c 'Unsafe.park(ZJ)V')
    [ "$compiled" -lt 8 ] || fail "Unsafe.park is compiled $compiled times"
    end
}

# A class with a constant that is not a number has one more of them each time, or twice as many.
test_not_a_number() {
    launch_told Reattached --
    rounds 20 -e all+alloc
    used >/dev/null
    end
}
