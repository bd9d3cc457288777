# Each private fact of HotSpot (src/hotspot/facts.def) is broken in turn: a debug build of the agent finds it 8 bytes beside
# its place, a number 8 too large.  The program runs on, no wrong owner and no wrong stack is recorded, and what is lost is
# said: on stderr and at the report's head.
# timeout: 900
. "$ROOT/tests/jvm/traced.sh"

build_checked

record_facts() {
    rm -f "$TRACE"
    AGENT=$CHECKED run 0 traced cpu=5ms -Xmx64m Facts
    cp err said
    has out done
}

# What of the recording is right, wrong, lost.
judge() {
    awk '
    function owner() { return match($0, / owner=[^ ]*/) ? substr($0, RSTART + 7, RLENGTH - 7) : "?" }
    / monitor_contended_enter / && $2 ~ /-want$/ && !/ class=java.lang.ThreadGroup / { # as it ends
        whose = $2
        sub(/-want$/, "-holder", whose)
        if (owner() == whose) owners++
        else if (owner() ~ /^\?/) lost_owners += $2 ~ /^p/
        else print "wrong owner: " $0
        if (/ at=Facts\.want\(/) stacks++
        else if (/ stack=0/ || / at=\?/) lost_stacks++
        else print "wrong stack: " $0
    }
    / park_enter / && $2 ~ /-park$/ {
        parks++
        if (/ at=/ && !/ at=(Facts\.park|java\.util\.concurrent\.locks\.LockSupport|java\.lang\.VirtualThread|java\.lang\.System|jdk\.internal\.misc\.Unsafe)/)
            print "wrong stack: " $0
    }
    / cpu_sample / && $2 == "burner" {
        if (!/ error=0/) lost_samples++
        else if (/ at=(Facts|Sync|java|jdk|lib|ld-|\[)/) samples++ # Sync: the thread begins in it
        else print "wrong stack: " $0
    }
    END {
        if (lost_owners) print "lost owners"
        if (lost_stacks || !stacks) print "lost stacks"
        if (lost_samples > samples + 0 || !samples) print "lost samples"
        if (!parks) print "lost parks"
    }' events
}

# Losses are reported in these words.
said_of() {
    case $1 in
    owners) echo "recorded as unknown|owners of monitors are unknown" ;;
    stacks) echo "stacks" ;;
    samples) echo "there are no samples|have no stack|are not sampled" ;;
    parks) echo "parks|LockSupport.park|does not let Orca replace" ;;
    esac
}

check_fact() { # FACT
    local loss line
    echo "broken: $1"
    ORCA_BREAK=$1 record_facts
    if grep -q "runs without recording" said; then # nothing at all, and said so
        [ ! -e "$TRACE" ] || fail "$1: a trace"
        return
    fi
    events
    judge >judged
    ! grep '^wrong' judged || fail "$1: $(grep -m 1 '^wrong' judged)"
    while read -r _ loss; do
        grep -qE "$(said_of "$loss")" said || fail "$1: $loss are lost, and nothing says so"
    done < <(grep '^lost' judged)
    run 0 "$ORCA" report "$TRACE"
    grep -c '^LACKING' out >lacking
    run 0 "$ORCA" report --json "$TRACE"
    sed -n '/ events in /d; s/^orca: //p' said >lines
    same "$(cat lacking)" "$(wc -l <lines)"
    while read -r line; do
        has out "$line"
    done <lines
}

# All that are asked for on this JVM.
list_facts() {
    ORCA_FACTS=$TMP/asked record_facts
    events
    judge >judged
    same "$(cat judged)" ""
    sort -u asked >facts
    [ "$(wc -l <facts)" -gt 80 ] || fail "$(wc -l <facts) facts"
}

test_table() {
    local fact
    list_facts
    while read -r fact; do
        grep -qF "\"${fact%::*}\", \"${fact##*::}\"" "$ROOT/src/hotspot/facts.def" ||
            grep -qF "\"${fact%%::*}\", \"${fact#*::}\"" "$ROOT/src/hotspot/facts.def" ||
            grep -qF "${fact%::*}::" "$ROOT/src/hotspot/heap_use.c" || # a table of its own
            fail "facts.def has no row of $fact"
    done <facts
}

broken() { # PATTERN
    local fact
    list_facts
    grep -E "$1" facts >these
    [ -s these ] || fail "none of $1"
    # shellcheck disable=SC2046 # no name has a space
    for fact in $(some 6 $(cat these)); do
        check_fact "$fact"
    done
}
test_threads() { broken '^(JavaThread|Thread|OSThread|LockStack|ObjectMonitor)::'; }
test_methods() { broken '^(Method|ConstMethod|ConstantPool|Klass|InstanceKlass|Symbol|constant|sizeof|Abstract_VM_Version|java_lang_Class|Array.*)::'; }
test_code() { broken '^(nmethod|CompiledMethod|CodeBlob|CodeHeap|CodeCache|VirtualSpace|HeapBlock|GrowableArray.*|StubQueue|StubRoutines|AbstractInterpreter|Java(Call|Frame).*|UpcallStub.*)::'; }
test_heap() { broken '^(JVMFlag|Perf|Compressed|Collected|Universe|G1|Z|X|Serial|Gen|PS|Parallel|Shenandoah)'; }
