# Contended monitors: who blocks, where, on what, for how long.  Owners in depth: test_owners.sh.
# timeout: 240
. "$ROOT/tests/jvm/traced.sh"

WAYS="block instance static clazz array recursive deep exact"

class_of() { # WAY
    case $1 in
    block) echo java.lang.Object ;;
    instance) echo 'Contention$Instance' ;;
    static | clazz) echo java.lang.Class ;;
    array) echo 'int[][]' ;;
    recursive) echo 'Contention$Recursive' ;;
    deep) echo 'Contention$Deep' ;;
    exact) echo 'Contention$Exact' ;;
    esac
}
method_of() { # WAY
    case $1 in
    instance) echo 'Contention$Instance.pass' ;;
    static) echo 'Contention$Static.pass' ;;
    *) echo "Contention.$1" ;;
    esac
}

# A class's name as a regular expression.
quoted_class() { # WAY
    class_of "$1" | sed 's/[][$.]/\\&/g'
}

# The one lock of each way; threads also meet on locks of the JDK, when classes are loaded and threads end.
lock_of() { # WAY
    sed -n "s/^[^ ]* $1-[012] monitor_contended_enter \(lock=[0-9]*\) class=$(quoted_class "$1") .* owner=holder-$1 .*/\1/p" events |
        sort -u
}

# Each thread of a way: one enter and one entered, on one lock, at least 20 ms apart.
check_way() { # WAY [LINES]
    local way=$1 line lines=${2:-} lock
    line=$(site Contention.java "$way")
    lock=$(lock_of "$way")
    same "$(awk -v way="^$way-[012]$" -v lock="$lock" '
        $4 != lock { next }
        $2 ~ way && $3 == "monitor_contended_enter" { from[$2] = $1; enters++ }
        $2 ~ way && $3 == "monitor_contended_entered" {
            entereds++
            if ($1 - from[$2] < 0.020) print "too short: " $0
        }
        END { print enters, entereds }' events)" "3 3"
    same "$(matching "^[^ ]* $way-[012] monitor_contended_enter .* class=$(quoted_class "$way") .* owner=holder-$way .* at=$(method_of "$way" | sed 's/[$.]/\\&/g')\(Contention\.java:($line${lines:+|$((line + 1))})\)")" 3
}

test_ways_to_write_it() {
    run_traced 0 "" Contention
    same "$(cat out)" "passed 32"
    events
    for way in $WAYS; do
        check_way "$way" or_next
    done
    same "$(matching 'monitor_contended_enter' 'lock=\?|at=\?')" 0
}

# The interpreter's frame is already at the next bytecode when it blocks, the compilers' is not: one site
# in the source must not become two.
test_line_of_a_block_in_the_interpreter() {
    run_traced 0 "" -Xint Contention
    events
    for way in $WAYS; do
        check_way "$way"
    done
}

test_compiled_code_too() {
    run_traced 0 "" -Xcomp -XX:CompileCommand=quiet -XX:CompileCommand=compileonly,'Contention*::*' Contention
    events
    for way in $WAYS; do
        check_way "$way"
    done
}

# Threads that end at the same time may block on their group's monitor (JDK 17), too.
only_block_at() { # METHOD
    awk -v at=" at=$1" '/^[^ ]/ { kept = index($0, at) } kept' events >kept && mv kept events
}

test_whole_stacks() {
    run_traced 0 depth=1024 Contention
    events -s -t deep-0 -k monitor_contended_enter
    only_block_at Contention.deep
    local depth
    depth=$(sed -n 's/.* depth=\([0-9]*\) .*/\1/p' events)
    at_least "$depth" 252 depth
    same "$(matching '^    at ')" "$depth"
    same "$(matching '^    at Contention\.deep\(Contention\.java:')" 250
    same "$(tail -n 1 events)" "$(grep '^    at java.lang.Thread.run(Thread.java:' events)"
    same "$(matching 'cut off')" 0
    events -t exact-0 -k monitor_contended_enter
    same "$(matching ' depth=64 ')" 1
}

test_stacks_are_cut_at_the_depth_asked_for() {
    run_traced 0 depth=64 Contention
    events -s -t deep-0 -k monitor_contended_enter
    same "$(matching ' depth=64 at=Contention.deep')" 1
    same "$(matching '^    at Contention\.deep\(Contention\.java:')" 64
    same "$(matching 'cut off')" 1
    events -s -t block-0 -k monitor_contended_enter
    same "$(matching 'cut off')" 0
    run_traced 0 depth=1 Contention
    events -s -t deep-0 -k monitor_contended_enter
    same "$(matching ' depth=1 at=Contention.deep')" 1
    run_traced 0 depth=0 Contention
    events -t deep-0 -k monitor_contended_enter
    same "$(matching ' depth=0 at=\?')" 1
    same "$(value lost_total)" 0
}

test_a_stack_of_just_that_depth_is_not_cut() {
    run_traced 0 depth=64 Contention
    events -s -t exact-0 -k monitor_contended_enter
    same "$(matching ' depth=64 ')" 1
    same "$(matching 'cut off')" 0
}

# Ten thousand locks, each an id and a definition of its own.
test_many_locks() {
    run_traced 0 cost=off ManyLocks 10000 10
    same "$(cat out)" "passed 10000"
    events -t blocker-
    grep ' class=ManyLocks\$Lock ' events >locks
    same "$(grep -c ' monitor_contended_enter ' locks)" 10000
    same "$(sed -En 's/^[^ ]* blocker-([0-9]) monitor_contended_enter .* owner=(holder-\1|\?) .*/\1/p' locks | sort | uniq -c | tr -s ' ' | tr '\n' ,)" \
        "$(seq -s , -f ' 1000 %g' 0 9),"
    # Mostly the holder lets go as soon as the blocker's state says so, which is before the owner is read.
    at_least "$(grep -c ' owner=holder-' locks)" 500 "known owners"
    same "$(grep -c ' monitor_contended_entered ' locks)" 10000
    same "$(grep -o ' lock=[0-9]* ' locks | sort -u | grep -c '')" 10000
    at_least "$(value locks)" 10000 "lock definitions"
}

test_include_and_exclude() {
    run_traced 0 'include=Contention$*' Contention
    events
    same "$(matching ' monitor_contended_enter ')" 12
    same "$(matching ' monitor_contended_enter ' 'class=Contention\$(Instance|Recursive|Deep|Exact) ')" 12
    same "$(matching ' monitor_contended_entered ')" 12
    run_traced 0 'exclude=java.*+Contention$Deep' Contention
    events
    # (An int[] is what classes are initialized under; threads may meet there.)
    same "$(matching ' monitor_contended_enter .*class=(Contention|int\[\]\[\])')" 12
    same "$(matching 'class=(java.*|Contention\$Deep) ')" 0
    run_traced 0 'include=Contention$*,exclude=*Deep' Contention
    events
    same "$(matching ' monitor_contended_enter ')" 9
    run_traced 0 'include=no.such.Thing' Contention
    events
    same "$(matching ' (monitor|wait)_(contended|enter|exit)')" 0
    same "$(value locks)" 0
    at_least "$(matching ' thread_start$')" 30 "thread starts"
}

test_groups() {
    run_traced 0 events=threads Contention
    events
    same "$(matching ' monitor_| wait_| gc_')" 0
    at_least "$(matching ' thread_start$')" 30 "thread starts"
    run_traced 0 events=monitors Contention
    events
    same "$(matching ' thread_(start|end|alive)$| wait_| gc_')" 0
    check_way recursive or_next
    run_traced 0 events=gc -XX:+UseSerialGC -Xmx64m Owners 1 0
    events
    at_least "$(matching ' gc_start used=')" 1 collections
    same "$(matching ' gc_start used=')" "$(matching ' gc_finish collector=')"
    same "$(matching ' VM_Thread gc_')" "$(matching ' gc_')"
}
