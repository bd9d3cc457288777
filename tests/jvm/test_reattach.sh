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

# What an attach leaves, bytes.  JDK 17's sweeper frees code late, and what it is of with it: a leak is in each of five looks,
# what is late is not.
stays_below() { # BYTES ROUNDS ATTACH-ARGUMENT...
    local most=$1 n=$2 before after each
    shift 2
    before=$(used)
    for _ in 1 2 3 4 5; do
        rounds "$n" "$@"
        after=$(used)
        each=$(((after - before) / n))
        [ "$each" -ge "$most" ] || return 0
        before=$after
    done
    fail "$each bytes more with each attach"
}

end() {
    echo end >&9
    wait "$jvm" || fail "the program ended with $?"
    no_crash
}

# The recording begins before anything that it records: by its beginning what threads were in is found.  The sleeps of these
# threads are recorded from the first moment of a second attach on.
test_beginning() {
    launch_told Reattached --
    for _ in $(seq 12); do
        run 0 "$ORCA" attach "$jvm" -o "$TRACE"
        run 0 "$ORCA" detach "$jvm"
        events
        same "$(head -n 1 events | cut -d ' ' -f 3)" recording_start
        at_least "$(matching ' sleep_enter ')" 1 sleeps
        rm -f "$TRACE"
    done
    end
}

# From JDK 20 on no compiled native method is given back, nor the version of the class that it is of.
test_metaspace() {
    local compiled
    launch_told Reattached --
    rounds 10
    # A version of Thread that stays is 45 kB, one of Semaphore 7 kB, and an attach makes two; what is freed is not always used
    # again at once.
    stays_below 8000 16
    compiled=$("$JDK/bin/jcmd" "$jvm" Compiler.codelist | grep -c 'Unsafe.park(ZJ)V')
    [ "$compiled" -lt 8 ] || fail "Unsafe.park is compiled $compiled times"
    end
}

# Classes of the boot loader stay as they were rewritten for the group alloc: changed anew they would be 700 kB (17), 1.2 MB (25).
test_metaspace_alloc() {
    launch_told Reattached --
    rounds 2 -e all+alloc
    stays_below 120000 6 -e all+alloc
    end
}

each_way() {
    rounds 2 -e all+alloc
    rounds 1 -e holds
    rounds 1 -m 'Reattached$Locked#next calls none'
}

# A class with a constant that is not a number would have one more of them each time, and be longer than what was freed.
test_not_a_number() {
    ${CC:-cc} -shared -fPIC -O1 -I"$JNI_INCLUDE" -I"$JNI_INCLUDE/linux" -o libbytecodes.so \
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

# Of the JDK's classes a further attach changes only Object for the group alloc, and none for the default groups.
test_changed_again() {
    launch_told Reattached "-Xlog:redefine+class+load=info:file=$TMP/redefined" --
    used >used # loads classes of the management, interfaces without code among them
    rounds 2
    changed_by >before
    rounds 1
    same "$(changed_by | comm -13 before - | cut -d ' ' -f 2-)" ""
    rounds 2 -e threads+alloc
    changed_by >before
    rounds 1 -e threads+alloc
    same "$(changed_by | comm -13 before - | cut -d ' ' -f 2- | sort -u | grep -v '^Reattached')" java.lang.Object
    end
}
changed_by() { # "NUMBER CLASS", each time that a class was changed
    sed -n 's/.*redefined name=\([^,]*\),.*/\1/p' redefined | awk '{ print ++n[$1], $1 }' | sort
}
