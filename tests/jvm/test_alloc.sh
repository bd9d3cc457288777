# The groups alloc, frees and sampled-alloc, against a program that knows what it allocates (Allocs.java).
# timeout: 300
. "$ROOT/tests/jvm/traced.sh"

KINDS='objects chains nested throwing clones arrays arrayClones copies reflection lambdas strings boxes threads'

# What each thread allocated of a class, by the beginning of the innermost frame, is what FILE's "expect" lines say.
# Into "compared": how many lines.
compare() { # FILE
    events
    awk '
        function key(name, i) {
            for (i = 4; i <= NF; i++)
                if (index($i, name "=") == 1)
                    return substr($i, length(name) + 2)
            return ""
        }
        function name_of(class) {
            sub(/\$\$Lambda.*/, "$$Lambda", class)
            return class
        }
        FNR == NR && $1 == "expect" { want[++n] = $3; class[n] = $2; thread[n] = $4; place[n] = $5; known[$2] = 1; next }
        FNR == NR { next }
        $3 != "object_allocs" && $3 != "object_alloc" { next }
        {
            c = name_of(key("class"))
            if (!(c in known))
                next
            for (i = 1; i <= n; i++)
                if (class[i] == c && (thread[i] == "*" || thread[i] == $2) && (place[i] == "-" || index(key("at"), place[i]) == 1))
                    got[i] += $3 == "object_alloc" ? 1 : key("count")
        }
        END {
            for (i = 1; i <= n; i++) {
                twin = 0
                for (k = 1; k < i; k++) # the same printed twice counts together
                    if (class[k] == class[i] && thread[k] == thread[i] && place[k] == place[i])
                        twin = k
                if (twin) { want[twin] += want[i]; want[i] = -1 }
            }
            for (i = 1; i <= n; i++)
                if (want[i] >= 0 && want[i] != got[i] + 0)
                    print class[i] " of " thread[i] " at " place[i] ": " got[i] + 0 " instead of " want[i]
            print n + 0 >"compared"
        }' "$1" events >differ
    [ ! -s differ ] || fail "$(head -n 8 differ)"
}

lost_none() {
    info
    same "$(value lost_total)" 0
}

allocs() { # OPTIONS [JVM-FLAG...] -- ARGUMENT...
    local options=$1 flags
    shift
    split_words flags "$@"
    rm -f "$TRACE"
    traced "$options" -Xmx256m "${flags[@]}" Allocs "${rest[@]}" >out 2>err || fail "exit status $?: $(tail -n 5 err)"
    [ ! -s err ] || fail "the program said: $(cat err)"
    has out done
}

# shellcheck disable=SC2086 # KINDS is a list
test_each_kind() {
    allocs events=threads+alloc -- 1000 $KINDS
    compare out
    at_least "$(cat compared)" 30 classes
    lost_none
    # The JVM makes some of its threads itself: no frame has the "new"
    same "$(matching ' stack=[1-9][0-9]* depth=0 ')" 0
    at_least "$(matching ' class=java.lang.Thread .* at=java.lang.Thread.<init>')" 1 threads
    # Orca's own are not among them, and no class's first object led to others without end
    same "$(matching 'class=java.lang.OrcaKind')" 0
    same "$(matching 'at=.*StackOverflowError|class=java.lang.StackOverflowError')" 0
    "$ORCA" report --alloc "$TRACE" >report
    grep -Eq 'Not counted: [1-9][0-9,]* objects, .*, that existed when the JVM was initialised' report ||
        fail "what was there before is not told"
}

# shellcheck disable=SC2086
test_compiled() {
    allocs events=threads+alloc -- 100000 $KINDS
    compare out
    lost_none
}

# shellcheck disable=SC2086
test_other_compilers_and_collectors() {
    for option in -Xint -XX:TieredStopAtLevel=1 -XX:-TieredCompilation -XX:+UseZGC -XX:+UseParallelGC -XX:+UseSerialGC \
        -XX:-UseCompressedOops -XX:-UseCompressedClassPointers -XX:ObjectAlignmentInBytes=16; do
        [ "$option" != -XX:-UseCompressedClassPointers ] || [ "$JDK_MAJOR" -lt 25 ] || continue
        allocs events=threads+alloc $option -- 5000 $KINDS
        compare out
        lost_none
    done
}

# Each object's event, with a number of its own.
# shellcheck disable=SC2086
test_each_object() {
    allocs events=threads+alloc+frees,ring=64m,ringmem=512m -- 500 $KINDS
    compare out
    lost_none
    grep -o ' object_alloc object=[0-9]*' events | sort | uniq -d >twice
    [ ! -s twice ] || fail "$(head -n 3 twice)"
}

test_without_stacks() {
    allocs events=threads+alloc,allocstacks=off -- 20000 objects chains nested arrays threads
    sed -i '/short\[\]/d' out # the JDK has a few
    sed -i 's/ [^ ]*$/ -/' out
    compare out
    same "$(matching ' object_allocs .* stack=[1-9]')" 0
    # sizes, of objects and of arrays
    same "$(bytes_of 'Allocs$Plain')" "$((20000 * 16))"
    same "$(bytes_of 'Allocs$Plain[]')" "$(awk 'BEGIN {
        for (i = 0; i < 20000; i++)
            sum += int((16 + 4 * (i % 7) + 7) / 8) * 8 + 2 * 32
        print sum
    }')"
}

bytes_of() { # CLASS
    awk -v class="class=$1" '$3 == "object_allocs" && $4 == class { sub(/.* bytes=/, ""); n += $1 } END { print n + 0 }' events
}

without_stacks() { # ARGUMENT of allocs...
    allocs "$@"
    sed -i '/short\[\]/d; s/ [^ ]*$/ -/' out
    compare out
    lost_none
}

# The same whether the threads count themselves or each object is reported.
test_without_stacks_compiled_otherwise() {
    for option in -Xint -XX:TieredStopAtLevel=1 -XX:-TieredCompilation -XX:+UseZGC -XX:+UseParallelGC \
        -XX:-UseCompressedOops -XX:ObjectAlignmentInBytes=16; do
        without_stacks events=threads+alloc,allocstacks=off $option -- 5000 objects chains nested throwing clones arrays threads
    done
}

test_without_stacks_more_than_there_is_room_for() {
    without_stacks events=threads+alloc,allocstacks=off -- 200 manyThreads manyClasses
}

test_without_stacks_virtual() {
    need_jdk 21
    without_stacks events=threads+alloc,allocstacks=off -- 5000 virtual objects
}

test_virtual_threads() {
    need_jdk 21
    allocs events=threads+alloc -- 5000 virtual
    compare out
    allocs events=threads+virtual+alloc,ringmem=512m -- 5000 virtual
    compare out
}

# Who waits while its class is described keeps its carrier, which otherwise would no longer report anything.
test_virtual_threads_that_wait_for_a_description() {
    need_jdk 21
    run_traced 0 events=threads+alloc -Xmx64m -Djdk.virtualThreadScheduler.parallelism=1 \
        -Djdk.virtualThreadScheduler.maxPoolSize=1 --add-opens java.base/java.lang=ALL-UNNAMED FirstMet
    compare out
    lost_none
}

test_selected() {
    allocs 'events=threads+alloc,include=Allocs$Arg+short[]' -- 1000 nested arrays objects
    grep -E 'expect (Allocs\$Arg|short\[\]) ' out >some
    compare some
    same "$(awk '/ object_allocs / { print $4 }' events | sort -u | tr '\n' ' ')" 'class=Allocs$Arg class=short[] '
    allocs 'events=threads+alloc,exclude=java.*+jdk.*+sun.*+*[]' -- 1000 nested arrays objects
    grep -E 'expect Allocs\$(Arg|Plain) ' out >some
    compare some
    same "$(matching 'class=(java|.*\[\])')" 0
}

# Allocated less freed is what lives after a collection, and what the JVM's own histogram says.
# Of what the collection in front of a histogram frees the JVM tells some time later.
settled() {
    "$JDK/bin/jcmd" "$jvm" GC.class_histogram >histogram
    "$ORCA" dump "$jvm" && events &&
        [ "$(numbers object_free 'Allocs$Plain')" = "$(freed 'Allocs$Plain')" ]
}
live() { # GROUPS JVM-FLAG...
    local groups=$1
    shift
    rm -f "$TRACE"
    start_traced "events=threads+$groups,ring=64m,ringmem=512m" -Xmx512m "$@" -Dafter=60000 Allocs 5000 keep
    wait_for 60 grep -q '^done' out
    wait_for 60 settled
    end_with TERM 143
    events
    lost_none
}
numbers() { # KIND CLASS
    awk -v kind="$1" -v class="class=$2" '$3 == kind && ($4 == class || $5 == class) { n++ } END { print n + 0 }' events
}
in_histogram() { # CLASS
    awk -v class="$1" '$4 == class { print $2 }' histogram
}
freed() { # CLASS, of which there were 5000
    echo $((5000 - $(in_histogram "$1" | grep . || echo 0)))
}
lives_right() { # JVM-FLAG...
    live alloc+frees "$@"
    same "$(numbers object_alloc 'Allocs$Arg')" 5000
    same "$(numbers object_free 'Allocs$Arg')" 0
    same "$(in_histogram 'Allocs$Arg')" 5000
    same "$(numbers object_alloc 'Allocs$Plain')" 5000
    same "$(numbers object_free 'Allocs$Plain')" "$(freed 'Allocs$Plain')"
}
test_live_g1() { lives_right -XX:+UseG1GC; }
test_live_parallel() { lives_right -XX:+UseParallelGC; }
test_live_z() { lives_right -XX:+UseZGC; }

# Samples: as many as the bytes allocated let expect, and their weights add up to these.
test_sampled() {
    for option in -XX:+UseG1GC -XX:+UseZGC -XX:+UseParallelGC -Xint; do
        allocs events=threads,samplebytes=16k $option -- 200000 warm objects
        events
        # 3.2 MB of objects of 16 bytes: 195 samples, with a standard deviation of 14
        local samples bytes
        samples=$(matching ' main object_sample .*class=Allocs\$Plain ')
        at_least "$samples" 120 samples
        [ "$samples" -le 270 ] || fail "$samples samples"
        bytes=$(sed -n 's/.* main object_sample .*class=Allocs\$Plain .* weight=//p' events | awk '{ n += $1 } END { print int(n / 1000) }')
        [ "$bytes" -ge 2000 ] && [ "$bytes" -le 4500 ] || fail "$option: $bytes kB instead of 3200"
        same "$(matching ' main object_sample .*class=Allocs\$Plain .*at=Allocs.objects\(Allocs.java:')" "$samples"
        allocs events=threads,samplebytes=16k $option -Dafter=500 -- 2500 warm garbage collect
        events
        # Objects that are larger than the interval are nearly all sampled: 99.8 % of 2500. (The first one of a thread that ran when
        # sampling began may be that of the JVM's own interval, 512 KiB: "warm" allocates it.)
        samples=$(matching ' main object_sample .*class=byte\[\] .*at=Allocs.garbage')
        at_least "$samples" 2450 samples
        at_least "$(matching ' object_free .*class=byte\[\] .*at=Allocs.garbage')" "$((samples - 2))" frees
    done
}

# What Orca allocates to install itself, and to answer, is not the program's.
test_own_are_not_sampled() {
    : >out
    : >java.out
    "$JAVA" -Xmx256m -XX:-UsePerfData -cp "$CLASSES" Allocs 0 forever >java.out 2>&1 &
    jvm=$!
    wait_for 60 grep -q '^ready' java.out
    run 0 "$ORCA" attach "$jvm" -o "$TRACE" -e all --options=samplebytes=256
    run 0 "$ORCA" query "$jvm" locks
    run 0 "$ORCA" query "$jvm" class Allocs
    run 0 "$ORCA" attach "$jvm" --off locks+holds
    goes_on java.out
    run 0 "$ORCA" detach "$jvm"
    kill "$jvm"
    events -s
    at_least "$(matching ' main object_sample ')" 5 samples
    awk '/^[0-9]/ { sample = $3 == "object_sample" } sample && /orca\.probe|java\.lang\.Orca/' events >own
    [ ! -s own ] || fail "$(head -n 5 own)"
}

test_by_jvm() {
    # the JVM's own callback begins for a thread that runs already with its next half MiB or so
    allocs events=threads+alloc,allocby=jvm -- 2000 warm objects chains nested
    compare out
}

# In a running JVM: from now on, and no more, and again.
test_attach() {
    rm -f "$TRACE"
    : >out
    : >java.out
    "$JAVA" -Xmx256m -XX:-UsePerfData -Dgo="$PWD/go" -Dafter=60000 -cp "$CLASSES" Allocs 2000 objects arrays copies threads >java.out 2>&1 &
    jvm=$!
    wait_for 60 grep -q '^ready' java.out
    run 0 "$ORCA" attach "$jvm" -o "$TRACE" -e threads+alloc
    : >go
    wait_for 60 grep -q '^done' java.out
    run 0 "$ORCA" detach "$jvm"
    compare java.out
    lost_none
    TRACE=$TMP/second.otrace
    run 0 "$ORCA" attach "$jvm" -o "$TRACE" -e threads
    run 0 "$ORCA" attach "$jvm" --on sampled-alloc+alloc
    run 0 "$ORCA" attach "$jvm" --off alloc
    run 0 "$ORCA" detach "$jvm"
    lacks java.out Exception
    kill "$jvm"
}

# "all" and single groups in each order; what would record nothing is an error.
test_sets_and_groups() {
    local groups
    for groups in all+alloc alloc+all threads+alloc; do
        rm -f "$TRACE"
        run_traced 0 "events=$groups" Allocs 100 objects
        events
        at_least "$(matching ' object_allocs ')" 10 "of allocations with $groups"
    done
    rm -f "$TRACE"
    run_traced 0 events=frees+all+alloc Allocs 100 objects
    events
    at_least "$(matching ' object_alloc ')" 100 "of objects with frees"
    rm -f "$TRACE"
    run_traced 0 events=all Allocs 100 objects
    events
    same "$(matching ' object_allocs? ')" 0
}

test_without_effect() {
    rm -f "$TRACE"
    local option
    for option in events=all+frees events=frees allocby=jvm allocstacks=off holdsample=5 cpuclock=timer \
        contanalysis=off,events=threads+locks; do
        run 0 traced "$option" -version
        has err 'orca: '
        has err 'the program runs without recording'
        [ ! -e "$TRACE" ] || fail "$option recorded"
    done
    has err 'contanalysis=off leaves out the group locks'
}

longer() { # FILE LINES
    [ "$(wc -l <"$1")" -gt "$2" ]
}

# Until it has allocated twice more.
goes_on() { # FILE
    wait_for 60 longer "$1" "$(($(wc -l <"$1") + 2))"
}

# Its objects are counted, then followed, then counted again; in another recording of the same JVM, too.
test_attach_and_follow() {
    : >out
    : >java.out
    "$JAVA" -Xmx256m -XX:-UsePerfData -cp "$CLASSES" Allocs 0 forever >java.out 2>&1 &
    jvm=$!
    wait_for 60 grep -q '^ready' java.out
    for TRACE in "$TMP/first.otrace" "$TMP/second.otrace"; do
        run 0 "$ORCA" attach "$jvm" -o "$TRACE" -e threads+alloc --options=allocstacks=off
        goes_on java.out
        run 0 "$ORCA" attach "$jvm" --on frees
        goes_on java.out
        run 0 "$ORCA" attach "$jvm" --off frees
        goes_on java.out
        run 0 "$ORCA" detach "$jvm"
        events
        at_least "$(matching ' main object_alloc .*class=Allocs\$Plain')" 100 'objects followed'
        at_least "$(awk '$3 == "object_allocs" && $4 == "class=Allocs$Plain" { sub(/.* count=/, ""); n += $1 } END { print n + 0 }' events)" \
            200 'objects counted'
    done
    lacks java.out Exception
    kill "$jvm"
}

test_check_jni() {
    allocs events=threads+alloc+frees+sampled-alloc,ringmem=512m -Xcheck:jni -- 300 objects arrays clones threads
    lacks out WARNING
    lacks out Warning
    compare out
}

# --- what lives ----------------------------------------------------------------------------------------

# A number of the class Sessions$Session in "live.json": "objects" of an amount, or its "error_permille"; null.
of_sessions() { # AMOUNT KEY
    jq -r --arg what "$1" --arg key "$2" \
        '[.allocations.classes[] | select(.class == "Sessions$Session")][0][$what] | if . then .[$key] else "null" end' live.json
}
what_lives() { # of one moment: the trace goes on
    "$ORCA" dump "$jvm" 2>dump.err && cp "$TRACE" moment.otrace && "$ORCA" report --live --json moment.otrace >live.json
}
found() {
    what_lives && [ "$(of_sessions live objects)" != null ]
}

# Within four of the errors that it says of itself.
about() { # GOT PERMILLE WANTED
    [ "$(($1 > $3 ? $1 - $3 : $3 - $1))" -le "$(($3 * $2 * 4 / 1000))" ] || fail "$1 +- $2 permille instead of $3"
}

# 40,000 sessions live of 4 million that were made.  Until a collection of the whole heap has looked, nobody knows it.
lives_or_is_withheld() { # JVM-FLAG...
    rm -f "$TRACE"
    : >java.out
    mkfifo in
    "$JAVA" "$(agent events=threads+gc+sampled-alloc,samplebytes=4k)" -Xmx512m "$@" -cp "$CLASSES" Sessions 40000 4000000 \
        <in >java.out 2>java.err &
    jvm=$!
    exec 9>in
    wait_for 60 grep -q '^ready' java.out
    what_lives || fail "$(cat dump.err)"
    [ "$(of_sessions live objects)" = null ] || about "$(of_sessions live objects)" "$(of_sessions live error_permille)" 40000
    "$ORCA" report --live moment.otrace >report || fail "no report"
    if [ "$(of_sessions live objects)" = null ]; then
        has report 'is unknown: no full collection'
        lacks report 'found live'
    fi
    "$JDK/bin/jcmd" "$jvm" GC.run >gc.out
    wait_for 60 found
    about "$(of_sessions live objects)" "$(of_sessions live error_permille)" 40000
    say more made
    what_lives || fail "$(cat dump.err)"
    # none of the 40,000 lives, but only a later collection of the whole heap can find that out
    [ "$(of_sessions live objects)" -le 50000 ] || fail "$(of_sessions live objects) are said to live"
    at_least "$(of_sessions not_freed objects)" "$(of_sessions live objects)" 'sessions not freed'
    "$ORCA" report --live moment.otrace >report || fail "no report"
    has report 'found live'
    run 0 "$ORCA" heap live "$jvm" --full
    about "$(sed -nE 's/^~([0-9,]+) +~.* Sessions\$Session$/\1/p' out | tr -d ,)" 80 40000
    exec 9>&-
    wait "$jvm" || fail "the program ended with $?"
}
test_found_live_g1() { lives_or_is_withheld -XX:+UseG1GC; }
test_found_live_parallel() { lives_or_is_withheld -XX:+UseParallelGC; }
test_found_live_z() { lives_or_is_withheld -XX:+UseZGC; }

# Which kind of collection it was, the JVM does not say: withheld.
test_found_live_unknown_kinds() {
    rm -f "$TRACE"
    traced events=threads+gc+sampled-alloc,samplebytes=4k -Xmx512m Sessions 40000 4000000 >out 2>err || fail "$(cat err)"
    "$ORCA" report --live "$TRACE" >report || fail "no report"
    has report 'is unknown: no full collection'
    "$ORCA" report --live --json "$TRACE" | grep -q '"live": null' || fail "live is told"
}

# The constructor of a Thread runs in the native thread that is being attached, before the JVM can block that: JDK 19 and
# later crash where it would have to wait for a lock. So nothing of Orca's does there.
test_attaching_thread() {
    need_jdk 21
    launch_told Attaching "$(agent events=threads+alloc)" --add-opens java.base/java.lang=ALL-UNNAMED --
    run 0 "$ORCA" query "$jvm" locks
    echo end >&9
    wait "$jvm" || fail "the program ended with $?"
    no_crash
    good_trace complete
}
