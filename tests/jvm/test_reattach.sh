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
        case "$*" in *alloc*)
            events
            at_least "$(matching ' object_allocs? ')" 1 "of allocations"
            ;;
        esac
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

each_way() {
    rounds 2 -e all+alloc
    rounds 1 -e holds
    rounds 1 -m 'Reattached$Locked#next calls none'
}

# A class with a constant that is not a number would have one more of them each time, and be longer than what was freed.
test_not_a_number() {
    ${CC:-cc} -shared -fPIC -O1 -I"$JDK/include" -I"$JDK/include/linux" -o libbytecodes.so \
        "$ROOT/tests/jvm/bytecodes.c" || fail "cannot build bytecodes.c"
    launch_told Reattached -- "$PWD/libbytecodes.so"
    each_way
    say constants constants
    each_way
    each_way
    say constants constants
    same "$(grep '^constants [1-9][0-9]* [1-9][0-9]*$' java.out | sort -u | wc -l)" 1
    end
}

# The program sees the numbers that it had.
test_numbers_stay() {
    launch_told Reattached --
    say numbers numbers
    rounds 3 -e all+alloc
    say numbers numbers
    run 0 "$ORCA" attach "$jvm" -o "$TRACE" -e all+alloc
    say numbers numbers
    same "$(grep -c '^numbers 7ff8000000000000 .*7fc00000$' java.out)" 3
    same "$(grep '^numbers' java.out | sort -u | wc -l)" 1
    end
}
