# orca query object, refs, class and orca heap live, against a program that knows its objects (Heaped.java).
# timeout: 180
. "$ROOT/tests/jvm/traced.sh"

launch() { # [JVM-OPTION...] -- [ARGUMENT...]
    launch_told Heaped "$@"
}
finish() { leave_no_jvm; }

# Everything recorded from the start of the JVM.
launch_recorded() { # GROUPS [JVM-OPTION...]
    local groups=$1
    shift
    launch "$(agent "events=threads+$groups,ring=64m,ringmem=512m")" "$@" --
    run 0 "$ORCA" dump "$jvm"
    events
}
# The numbers of the objects of a class, oldest first.
number_of() { # CLASS
    sed -n "s/.* object_alloc object=\([0-9]*\) class=$1 .*/\1/p" events
}
line() { # FILE PATTERN
    grep -qE -- "$2" "$1" && return 0
    fail "no line $2 in: $(head -n 25 "$1")"
}

object_is_right() {
    local leaf inner outer row
    leaf=$(number_of 'Heaped\$Leaf')
    outer=$(number_of 'Heaped\$Holder' | sed -n 2p)
    inner=$(number_of 'Heaped\$Holder' | sed -n 1p)
    run 0 "$ORCA" query "$jvm" object "$leaf"
    line out "^Heaped\\\$Leaf @[0-9A-F]{8}, object $leaf, [0-9]+ bytes$"
    line out '^    outlived [0-9]+ collections$'
    line out '^    allocated [0-9.]+ m?s ago by main$'
    line out "^        at Heaped\.makeLeaf\(Heaped\.java:$(site Heaped.java leaf)\)$"
    line out '^        at Heaped\.main\(Heaped\.java:[0-9]+\)$'
    line out '^    flag = true$'
    line out '^    letter = "$'
    line out '^    ratio = 0.5$'
    line out '^    half = nan$|^    half = NaN$'
    line out '^    small = -1$'
    line out "^    self = Heaped\\\$Leaf #$leaf$"
    line out '^    name = java.lang.String #[0-9]+$'
    line out '^    number = 1234567890123  \(Heaped\$Base\)$'
    line out '^    of = null  \(Heaped\$Base\)$'
    lacks out shared
    # from object to object: the array and the text, whose numbers this answer has given
    local numbers name
    numbers=$(sed -n 's/^    numbers = int\[\] #//p' out)
    name=$(sed -n 's/^    name = java.lang.String #//p' out)
    run 0 "$ORCA" query "$jvm" object "$numbers"
    same "$(grep -c '^    \[[012]\] = [789]$' out)" 3
    run 0 "$ORCA" query "$jvm" object "$name"
    line out '^    "leaf"$'
    run 0 "$ORCA" query "$jvm" object "$name" --json
    same "$(tr -d ' \n' <out | grep -o '"text":"leaf","text_length":4')" '"text":"leaf","text_length":4'
    run 0 "$ORCA" query "$jvm" object "$leaf" --json
    line out '"thread_name": "main"'
    run 1 "$ORCA" query "$jvm" object 4294967296000
    has err "no live object has the number 4294967296000"
    run 1 "$ORCA" query "$jvm" object lock:99999
    has err "no lock has the id 99999"

    run 0 "$ORCA" query "$jvm" refs "$leaf"
    line out "^    field of -> Heaped\\\$Leaf #$leaf$|^    element 0 -> Heaped\\\$Leaf #$leaf$"
    line out "^    Heaped\\\$Holder #$inner -> field of -> Heaped\\\$Leaf #$leaf$"
    line out "^    java.lang.Object\[\] #[0-9]+ -> element 0 -> Heaped\\\$Leaf #$leaf$"
    line out "^    Heaped\\\$Leaf #$leaf -> field self -> Heaped\\\$Leaf #$leaf$"
    line out "^    Heaped\\\$Leaf #$leaf -> field numbers -> int\[\] #$numbers$"
    same "$(grep -c ' -> field self -> ' out)" 2
    run 0 "$ORCA" query "$jvm" refs "$leaf" --depth 2
    line out "^    Heaped\\\$Holder #$outer -> field of -> Heaped\\\$Holder #$inner$"
    line out "^    java.lang.String #$name -> field value -> byte\[\] #[0-9]+$"
    run 0 "$ORCA" query "$jvm" refs "$inner" --json
    line out '"how": "static field"'
    line out '"field": "shared"'
    line out '"field": "why"'
    run 2 "$ORCA" query "$jvm" refs "$leaf" --depth 9
    run 1 "$ORCA" query "$jvm" refs 4294967296000
    has err "no live object has the number"

    run 0 "$ORCA" query "$jvm" class 'Heaped$Leaf'
    # HotSpot 17 with ZGC is not asked for all its objects
    [ "$JDK_MAJOR $COLLECTOR" = "17 -XX:+UseZGC" ] || line out '^    1 instances, [0-9]+ B$'
    line out '^    static java.lang.Object shared$'
    line out '^    int\[\] numbers$'
    lacks java.err Exception
}

# An object that nothing refers to is reported dead after a collection.
lives_right() {
    local n
    n=$(number_of 'Heaped\$Holder' | sed -n 3p)
    run 0 "$ORCA" heap live "$jvm" --full --top 1000
    line out '^ +3 +[0-9]+ B +Heaped\$Holder$'
    line out '^ +1 +[0-9]+ B +Heaped\$Leaf$'
    line out "^ +1 +[0-9]+ B +Heaped\\\$Leaf +Heaped\.makeLeaf\(Heaped\.java:$(site Heaped.java leaf)\)$"
    line out '^ +[0-9,]+ +[0-9.]+ [kM]?B  +[0-9]( to [0-9]+)?$'
    lacks out '~'
    lacks out '(--full)'
    say d dropped
    run 0 "$ORCA" heap live "$jvm" --full --json
    same "$(tr -d ' \n' <out | grep -o '"class":"Heaped$Holder","stack":[0-9]*,"site":"[^"]*","collections":[0-9]*,"estimated":false,"samples":0,"objects":[0-9]*' |
        sed 's/.*://' | awk '{ n += $1 } END { print n }')" 2
    run 1 "$ORCA" query "$jvm" object "$n"
    run 0 "$ORCA" detach "$jvm"
    events
    same "$(matching " object_free object=$n ")" 1
    # what only a question has given a number has no events
    same "$(sed -n 's/.* object_\(alloc\|free\) object=\([0-9]*\) .*/\1 \2/p' events | sort -u |
        awk '$1 == "alloc" { a[$2] = 1 } $1 == "free" { f[$2] = 1 } END { for (o in f) if (!(o in a)) n++; print n + 0 }')" 0
}

all_of_it() { # JVM-OPTION...
    COLLECTOR=$1
    launch_recorded alloc+frees "$@"
    object_is_right
    lives_right
}
test_g1() { all_of_it -XX:+UseG1GC -Xmx128m; }
test_parallel() { all_of_it -XX:+UseParallelGC -Xmx128m; }
test_z() { all_of_it -XX:+UseZGC -Xmx128m; }
test_check_jni() {
    all_of_it -Xcheck:jni -Xmx128m
    # JVMTI gives a local reference to every class
    grep -v 'JNI local refs: [0-9]*, exceeds capacity' java.out >said
    lacks said WARNING
}

test_sampled() {
    launch "$(agent events=threads+sampled-alloc,samplebytes=16k)" -Xmx128m -- 20
    run 0 "$ORCA" heap live "$jvm" --full
    line out '^~[0-9,]+ live objects, ~[0-9.]+ [kM]B, allocated since their recording began; ~ estimated from [0-9,]+ samples$'
    # 20 MB of 1 kB each: 1250 samples
    local mb
    mb=$(sed -n 's/^ *~[0-9,]* *~\([0-9]*\) MB *byte\[\]$/\1/p' out | head -n 1)
    [ "${mb:-0}" -ge 17 ] && [ "$mb" -le 24 ] || fail "$mb MB: $(cat out)"
}

# Whether the question has come so far, or has ended (bash has taken note of it then, or has not yet): 0 it is being asked,
# 1 it is connected, 2 it waits for its answer.
at_step() { # STEP
    local state
    own "$question" || return 0
    state=$(sed -n 's/^State:.\(.\).*/\1/p' "/proc/$question/status")
    [ -n "$state" ] && [ "$state" != Z ] || return 0
    [ "$1" != 0 ] || { grep -q '^orca$' "/proc/$question/comm"; return; }
    ls -l "/proc/$question/fd" | grep -q socket && { [ "$1" = 1 ] || [ "$state" = S ]; }
}

# ^C at several moments of a question, each with a full collection: the JVM answers the next one, and keeps nothing.
test_interrupted() {
    local fds i question interrupted=0
    launch "$(agent events=threads+sampled-alloc,samplebytes=16k)" -Xmx512m -- 200
    run 0 "$ORCA" heap live "$jvm"
    fds=$(ls "/proc/$jvm/fd" | wc -l)
    for i in 1 2 3 4 5 6 7; do
        "$ORCA" heap live "$jvm" --full >asked 2>&1 &
        question=$!
        wait_for 60 at_step $((i % 3))
        kill -INT $question 2>/dev/null
        wait $question
        case $? in
        0) ;;
        130) interrupted=$((interrupted + 1)) ;;
        *) fail "heap live: $(cat asked)" ;;
        esac
    done
    at_least $interrupted 1 "questions that were interrupted"
    run 0 "$ORCA" heap live "$jvm" --full
    line out '^~[0-9,]+ live objects, '
    wait_for 60 eval "[ \$(ls /proc/$jvm/fd | wc -l) = $fds ]"
    say a allocated
    lacks java.err Exception
    kill -TERM "$jvm"
    wait "$jvm" 2>/dev/null
    good_trace complete
}

test_nothing_recorded() {
    launch --
    run 1 "$ORCA" heap live "$jvm"
    has err "orca attach $jvm -e threads+sampled-alloc begins"
    run 1 "$ORCA" query "$jvm" refs 1
    has err "is not recorded by Orca"
    run 0 "$ORCA" attach "$jvm" -o "$TRACE" -e threads
    run 1 "$ORCA" heap live "$jvm"
    has err "orca attach $jvm --on sampled-alloc begins"
    run 1 "$ORCA" query "$jvm" object 4000000000
    has err "no objects are recorded (group sampled-alloc or frees)"
    run 2 "$ORCA" heap live
    run 2 "$ORCA" heap
    run 1 "$ORCA" heap what
    has err "what: No such file"
    run 0 "$ORCA" heap live --help
    has out "--full"
    run 0 "$ORCA" heap dump --help
    has out "--objects"
}
