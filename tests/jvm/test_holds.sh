# The group "holds": how long locks are held, against a program that measures it itself (Holds.java).
# timeout: 240
. "$ROOT/tests/jvm/traced.sh"

OPENS='--add-opens=java.base/java.util.concurrent.locks=ALL-UNNAMED'

# The hold events of the program's threads on the locks of FILE's "hold" lines, against these, in the order of each
# thread: the same lock and mode, and not shorter than INNER nor longer than OUTER.  Into "compared": how many.
compare() { # FILE
    events -k hold
    awk '
        function key(name, i) {
            for (i = 4; i <= NF; i++)
                if (index($i, name "=") == 1)
                    return substr($i, length(name) + 2)
            return ""
        }
        FNR == NR && $1 == "hold" { truth[$2, ++n[$2]] = $0; known[$3] = 1; total++; next }
        FNR == NR { next }
        $2 !~ /^t-/ || !(key("hash") in known) { next }
        {
            split(truth[$2, ++seen[$2]], t, " ")
            ns = ($1 - key("since")) * 1e9
            if (t[3] != key("hash") || t[4] != key("mode") || ns < t[5] - 2 || ns > t[6] + 2)
                print "instead of " truth[$2, seen[$2]] " (event " seen[$2] " of " $2 "): " $0
            same++
        }
        END {
            if (same != total)
                print same + 0 " holds of " total
            print same + 0 >"compared"
        }' "$1" events >differ
    [ ! -s differ ] || fail "$(head -n 5 differ)"
}

test_each_kind() {
    run_traced 0 events=holds "$OPENS" Holds each
    compare out
    at_least "$(cat compared)" 60 holds
    same "$(matching 'OrcaHolds')" 0
    # where each was given back
    same "$(matching " t-0 hold .* at=Holds\.throwing\(Holds\.java:")" 1
    same "$(matching " t-0 hold .* class=java.util.concurrent.locks.ReentrantLock.FairSync .* at=Holds\.reentrant\(Holds.java:")" 4
}

test_compiled_and_contended() {
    run_traced 0 events=holds,depth=4 "$OPENS" -Xmx256m Holds storm 30000
    compare out
    same "$(cat compared)" 120000
}

test_other_compilers_and_collectors() {
    for option in -Xint -XX:TieredStopAtLevel=1 -XX:+UseZGC -XX:+UseParallelGC; do
        rm -f "$TRACE"
        run_traced 0 events=all,depth=4 "$OPENS" $option -Xmx256m Holds storm 3000
        compare out
        same "$option $(cat compared)" "$option 12000"
    done
}

test_virtual_threads() {
    need_jdk 21
    run_traced 0 events=holds+virtual "$OPENS" Holds virtual
    compare out
    at_least "$(cat compared)" 60 holds
}

# One of ten, and no other than true ones.
test_sampled() {
    run_traced 0 events=holds,holdsample=10,depth=4 "$OPENS" -Xmx256m Holds storm 5000
    events -k hold
    local n
    n=$(matching ' t-. hold ')
    [ "$n" -gt 1500 ] && [ "$n" -lt 2500 ] || fail "$n of 20000 holds"
    same "$(value orca.holdsample)" 10
}

# The locks of these classes, in the code of these classes; the JDK's own only by name.
test_include() {
    run_traced 0 events=holds,include=Holds "$OPENS" Holds each
    events -k hold
    same "$(matching 'class=Holds')" 10 # a method, one that throws, three ends of another; two threads
    same "$(matching 'class=(java.lang.Object|java.util.concurrent)')" 0
    rm "$TRACE"
    run_traced 0 events=holds,exclude=Holds "$OPENS" Holds each
    events -k hold
    same "$(matching 'class=Holds')" 0
    at_least "$(matching 'class=java.util.concurrent.locks.StampedLock')" 1 "holds of locks"
    rm "$TRACE"
    run_traced 0 'events=holds,include=java.util.concurrent.locks.*+Holds*+java.lang.Object+java.lang.Class' "$OPENS" Holds each
    compare out
}

# A class that is loaded, and linked only when the group is on already.
test_loaded_not_linked() {
    rm -f in
    mkfifo in
    set -m
    "$JAVA" -XX:-UsePerfData "$OPENS" -cp "$CLASSES" Holds wait late <in >>java.out 2>java.err &
    jvm=$!
    exec 9>in
    wait_for 60 grep -q '^ready' java.out
    run 0 "$ORCA" attach "$jvm" -o "$TRACE" -e holds
    echo late >&9
    wait_for 60 grep -q '^late' java.out
    run 0 "$ORCA" detach "$jvm"
    events -k hold
    same "$(matching ' at=Holds\$Late\.run\(')" 1
    echo end >&9
    exec 9>&-
    wait "$jvm" || fail "the program ended with $?"
}

test_off_by_default() {
    run_traced 0 "" "$OPENS" Holds each
    events
    same "$(matching ' hold ')" 0
}

# Switched on and off in a running JVM; classes that are loaded by then included.
test_switched() {
    rm -f in
    mkfifo in
    set -m
    "$JAVA" -XX:-UsePerfData "$OPENS" -cp "$CLASSES" Holds wait <in >>java.out 2>java.err &
    jvm=$!
    exec 9>in
    wait_for 60 grep -q '^ready' java.out
    run 0 "$ORCA" attach "$jvm" -o "$TRACE"
    worked 1
    run 0 "$ORCA" attach "$jvm" --on holds
    : >java.out
    worked 1
    cp java.out during
    run 0 "$ORCA" attach "$jvm" --off holds
    worked 2
    run 0 "$ORCA" detach "$jvm"
    good_trace complete
    compare during
    at_least "$(cat compared)" 60 holds
    echo end >&9
    exec 9>&-
    wait "$jvm" || fail "the program ended with $?"
    no_crash
}

worked() { # HOW-OFTEN
    echo work >&9
    wait_for 60 eval "[ \$(grep -c '^worked' java.out) -ge $1 ]"
}

test_mistakes() {
    run 0 traced events=holds,holdsample=0 "$OPENS" Holds each
    has err "holdsample"
}

# Code that was rewritten for holds and allocations is written as the class file on disk has it: line tables, and
# locations, which are instructions of javap's.
test_locations_of_the_class_file() {
    command -v perl >/dev/null || skip "no perl"
    run_traced 0 events=all "$OPENS" Holds each
    "$ORCA" export --to orca -o text "$TRACE" 2>export.err || fail "$(cat export.err)"
    for class in Holds 'Holds$Kind' Sync; do
        "$JDK/bin/javap" -p -s -l -c -cp "$CLASSES" "$class" >class || continue
        perl "$ROOT/tests/jvm/locations.pl" "$class" text <class >found
        ! grep -v ' locations$' found >differ || fail "$class: $(head -n 5 differ)"
        cat found >>all-found
    done
    at_least "$(awk '{ n += $3 } END { print n }' all-found)" 100 locations
}
