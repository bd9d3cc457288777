# What a lock's owner executes while others wait for it, against a program that says so itself (OwnerStacks.java).
# timeout: 240
. "$ROOT/tests/jvm/traced.sh"

MS=1200
[ "$LONG" = 0 ] || MS=20000

# Each owner_stack event against the truth's "phase" lines: the owner was in Owner.own (or a rival in want) then,
# down to the thread's run; and where its stack names a phase's method, that method was being executed.  Into "agreed": stacks, and those of
# them in a phase, and how many phases' methods were seen.
compare() { # TRUTH
    events -s -k owner_stack
    awk -v start="$(od -An -t u8 -j 48 -N 8 "$TRACE")" '
        FNR == NR && $1 == "phase" {
            n[$2]++
            hash[$2, n[$2]] = $3; method[$2, n[$2]] = $4; from[$2, n[$2]] = $5; to[$2, n[$2]] = $6
            phases[$4] = 1
            next
        }
        FNR == NR { next }
        $3 == "owner_stack" { check(); event = $0; at = start + $1 * 1e9; cut = 0; phase = ""; own = 0
            owner = key("owner"); object = key("hash"); bottom = ""; ours = index($0, "class=OwnerStacks$Lock") > 0
            next
        }
        $1 == "..." { cut = 1 }
        $1 == "at" {
            bottom = $2
            if (index($2, "OwnerStacks$Owner.own(") == 1 || index($2, "OwnerStacks.want(") == 1)
                own++
            else if (phase == "" && match($2, /^OwnerStacks\$Owner\.[a-zA-Z]+\(/)) {
                m = substr($2, 19, RLENGTH - 19)
                if (m in phases) phase = m
            }
        }
        function key(name, i) {
            for (i = 4; i <= NF; i++)
                if (index($i, name "=") == 1)
                    return substr($i, length(name) + 2)
            return ""
        }
        function wrong(why) { if (++complaints <= 20) print why ": " event " phase " phase " bottom " bottom; bad++ }
        function check(    i) {
            if (event == "" || !ours) return
            stacks++
            if (own != 1 && !cut) { wrong("not in own"); return }
            if (!cut && bottom !~ /^java\.lang\.(Thread|VirtualThread)\.run\(|^jdk\.internal\.vm\.Continuation\./) { wrong("not whole"); return }
            if (phase == "") return
            i = next_of[owner] ? next_of[owner] : 1
            while (i <= n[owner] && to[owner, i] < at) i++
            next_of[owner] = i > 20 ? i - 20 : 1
            for (; i <= n[owner] && from[owner, i] <= at; i++)
                if (method[owner, i] == phase && hash[owner, i] == object) {
                    if (!(phase in seen)) kinds++
                    seen[phase] = 1
                    right++
                    return
                }
            wrong("another phase at " at)
        }
        END { check(); print stacks + 0, right + 0, kinds + 0 >"agreed"; exit bad > 0 }
    ' "$1" events >differ || fail "$(head -n 20 differ)"
    echo "${2-} agreed: $(cat agreed); $(grep ownerstacks info)"
}

stacks() { # LEAST MODE JVM-FLAG...
    local least=$1 mode=$2 ms
    shift 2
    # An owner without a processor does not answer in time: a longer recording asks more of them.
    for ms in "$MS" $((MS * 3)) $((MS * 9)); do
        rm -f "$TRACE"
        run_traced 0 ownerstacks=all -Xmx128m "$@" OwnerStacks "$mode" "$ms"
        compare out "$mode $*"
        [ "$(cut -d ' ' -f 2 agreed)" -lt "$least" ] || break
    done
    at_least "$(cut -d ' ' -f 2 agreed)" "$least" "stacks in a phase"
}

test_default() {
    stacks 5 monitors
    stacks 5 fast
}
test_interpreter() { stacks 5 fast -Xint; }
test_c1() { stacks 5 fast -XX:TieredStopAtLevel=1; }
test_c2_at_once() { stacks 5 fast -XX:-TieredCompilation; }
test_z() { stacks 5 fast -XX:+UseZGC; }
test_parallel() { stacks 5 fast -XX:+UseParallelGC; }

# Owners that are mounted; one that sleeps is not, on JDK 25, and cannot be asked.
test_virtual_owners() {
    need_jdk 25
    stacks 1 virtual
}

# Locks of java.util.concurrent, whose rivals park.
test_parks() {
    stacks 5 queue
    stacks 5 queue -XX:+UseParallelGC -XX:-UseCompressedOops
    stacks 5 queue -XX:+UseSerialGC
}

# A collector that moves objects while threads run: the owner cannot look for itself, so there is none.
test_parks_z() {
    rm -f "$TRACE"
    run_traced 0 ownerstacks=all -XX:+UseZGC OwnerStacks queue 300
    compare out
    same "$(cat agreed)" "0 0 0"
}

test_parks_of_virtual_owners() {
    need_jdk 25
    stacks 1 virtual-queue
}

test_none_and_auto() {
    run_traced 0 ownerstacks=none OwnerStacks fast 300
    events
    same "$(matching ' owner_stack ')" 0
    # An owner without a processor does not answer in time: a longer recording asks more of them.
    for ms in 500 1000 2000 4000 8000; do
        rm "$TRACE"
        run_traced 0 "" OwnerStacks fast $ms
        compare out
        [ "$(cut -d ' ' -f 1 agreed)" = 0 ] || break
    done
    at_least "$(cut -d ' ' -f 1 agreed)" 1 "stacks within the budget"
}

# Signals of others, before and while ours are sent: the JVM ignores them as it did.
test_foreign_signals() {
    start_traced ownerstacks=all OwnerStacks fast 2000
    for i in $(seq 50); do
        kill -URG "$jvm" 2>/dev/null
        sleep 0.02
    done
    wait "$jvm"
    same $? 0
    no_crash
    good_trace complete
    compare out
    at_least "$(cut -d ' ' -f 2 agreed)" 5 "stacks in a phase"
}

test_mistakes() {
    run 0 traced ownerstacks=sometimes OwnerStacks fast 10
    has err "ownerstacks"
}

# Code that was compiled before the attach has no description of each instruction: the line is that of a place near by, and says so.
test_code_that_is_older_than_the_attach() {
    local seconds
    set -m
    : >java.out
    "$JAVA" -Xmx64m -Xbatch -XX:-TieredCompilation -XX:-UsePerfData -cp "$CLASSES" OldCode >java.out 2>&1 &
    jvm=$!
    wait_for 60 grep -q '^ready' java.out
    # An owner without a processor does not answer in time: a longer recording asks more of them.
    for seconds in 1 3 9; do
        rm -f "$TRACE"
        run 0 "$ORCA" attach "$jvm" -o "$TRACE" --for "${seconds}s"
        events -k owner_stack
        run 0 "$ORCA" report --json "$TRACE"
        jq -c '[.findings[] | select(.resource.name == "OldCode") | .holders[0] | [.does, .at.method, .at.approximate, .line_from]] | unique' out >holder
        { ! older_holder_is_right || [ "$(matching 'at=OldCode\.quote\(.* near=1')" = 0 ]; } || break
    done
    kill -KILL "$jvm"
    same "$(matching 'at=OldCode\.quote\(OldCode\.java\)')" 0
    at_least "$(matching "at=OldCode\.quote\(OldCode\.java:($(grep -n '// loop' "$ROOT/tests/jvm/OldCode.java" | cut -d: -f1 | paste -sd'|'))\) near=1")" 1 "owners in the loop"
    older_holder_is_right || fail "the holder is $(cat holder)"
    run 0 "$ORCA" report --all --json "$TRACE"
    at_least "$(jq '[.owner_sites[] | select(.class == "OldCode" and .at.method == "quote" and .at.approximate)] | length' out)" 1 \
        "call sites of owners near a line"
    run 0 "$ORCA" report "$TRACE"
    ! grep -q true holder || has out 'OldCode.quote (near OldCode.java:'
}

# Its line is near one where the code is the older one, which JDK 25 keeps; 17 and 21 compile it anew after an attach.
older_holder_is_right() {
    local near='true'
    [ "$JDK_MAJOR" -ge 25 ] || near='(true|null)'
    grep -qxE "\[\[\"computes\",\"quote\",$near,null\]\]" holder
}
