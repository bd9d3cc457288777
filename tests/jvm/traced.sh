# traced.sh - what the tests of the agent have in common: a JVM with the agent, and questions to its trace.
#
#   traced OPTIONS JAVA-ARGUMENT...   runs a program of $CLASSES, recorded to app.otrace; its status
#   start_traced, end_with            the same, to be ended by a signal
#   events [ARGUMENT...]              "orca events" of app.otrace into the file "events"
#   info                              "orca info --json" of app.otrace into the file "info"
#
# A fact that depends on order is made certain by a handshake in the Java program (Sync.java), not by time.

LONG=${ORCA_LONG:-0}
TRACE=$TMP/app.otrace
: >"$TMP/.began"

agent() { # OPTIONS [AGENT]
    echo "-agentpath:${2:-$AGENT}=file=$TRACE,quiet${1:+,$1}"
}

# The agent with the checks of V=test, in "CHECKED": the first of a run's tests that wants it asks make, which takes half a second.
build_checked() {
    local lock=$ROOT/build/tests/jvm/.checked-lock
    CHECKED=$ROOT/build/test/liborca.so
    (
        flock 9
        [ "$(cat "$lock")" = "$RUN" ] && exit
        make -s -C "$ROOT" V=test build/test/liborca.so && echo "$RUN" >"$lock"
    ) >"$TMP/build.log" 2>&1 9>>"$lock" || fail "$(tail -n 20 "$TMP/build.log")"
}

# From JDK 21 to 23 who wants a monitor keeps its carrier, so programs that block in virtual threads need more than there
# are processors.
CARRIERS=()
[ "$JDK_MAJOR" -lt 21 ] || [ "$JDK_MAJOR" -gt 23 ] ||
    CARRIERS=(-Djdk.virtualThreadScheduler.parallelism=16 -Djdk.virtualThreadScheduler.maxPoolSize=64)

# Memory is kept small: several tests run at a time.
traced() { # OPTIONS JAVA-ARGUMENT...
    local options=$1
    shift
    "$JAVA" "$(agent "$options")" -XX:-UsePerfData "${CARRIERS[@]}" -cp "$CLASSES" "$@"
}

# The same in the background: its pid is in "jvm", its output in "out" and "err".
start_traced() { # OPTIONS JAVA-ARGUMENT...
    local options=$1
    shift
    : >out
    set -m # else it ignores SIGINT
    "$JAVA" "$(agent "$options")" -XX:-UsePerfData "${CARRIERS[@]}" -cp "$CLASSES" "$@" >out 2>err &
    jvm=$!
}

# Send it a signal, and wait for its end.
end_with() { # SIGNAL STATUS
    kill -"$1" "$jvm"
    wait "$jvm" 2>/dev/null
    same $? "$2"
}

# A program in the background that obeys lines written to descriptor 9; "jvm" is its pid when it is ready.
launch_told() { # CLASS JVM-OPTION... -- [ARGUMENT...]
    local class=$1 options
    shift
    split_words options "$@"
    rm -f in
    mkfifo in
    set -m
    : >java.out # what an earlier one said is not this one's
    "$JAVA" -Xmx64m -XX:-UsePerfData "${options[@]}" -cp "$CLASSES" "$class" "${rest[@]}" <in >java.out 2>java.err &
    jvm=$!
    exec 9>in
    wait_for 60 grep -q '^ready' java.out
}

say() { # WORD REPLY
    local before
    before=$(grep -c "^$2" java.out)
    echo "$1" >&9
    wait_for 60 eval "[ \$(grep -c '^$2' java.out) -gt $before ]"
}

# What leads to the control socket of a JVM; nothing when it has none.
control_socket() { # PID
    find "/proc/$1/fd" -lname '*/orca-control (deleted)' 2>/dev/null
}

# For a test's finish: no JVM of it goes on, and nothing of one stays in /tmp.
leave_no_jvm() {
    exec 9>&-
    end_jobs
    wait 2>/dev/null
    [ -z "${jvm:-}" ] || rm -f "/tmp/.java_pid$jvm" "/tmp/.attach_pid$jvm"
}

# Whether Killed.java has contended so often since it began.
contended() { # TIMES
    # shellcheck disable=SC2207 # two numbers
    local n=($(od -An -t d8 counts))
    [ $((n[0] + n[1])) -ge "$1" ]
}

# What Killed.java knows of its contentions ("counts"), against the file "events":
# number <= entered <= enter <= number + 1, for both pairs; and every definition resolves.
counts_agree() { # [FLOOR]
    local i number enter entered numbers floors
    # shellcheck disable=SC2207 # two numbers
    numbers=($(od -An -t d8 counts)) floors=($(od -An -t d8 "${1:-counts}"))
    for i in 0 1; do
        number=${numbers[i]}
        enter=$(matching " pair-$i-blocker monitor_contended_enter .* class=Killed\\\$Lock .* at=Killed\\\$Pair\\.block\\(")
        entered=$(matching " pair-$i-blocker monitor_contended_entered .* class=Killed\\\$Lock ")
        at_least "$entered" "${floors[i]}" "of ${floors[i]} contentions of pair $i, entered"
        at_least "$enter" "$entered" "enter of pair $i"
        at_least $((number + 1)) "$enter" "what the program knows of pair $i, of $enter"
    done
    same "$(matching ' (monitor_contended|wait)_(enter|entered|exit) .*lock=\?|at=\?\.')" 0
    same "$(matching '^[^ ]* (#[0-9]+|\?) (monitor|wait)_')" 0
}

# The usual case: ends with that status, prints nothing on stderr, and its trace is complete and lossless.
run_traced() { # STATUS OPTIONS JAVA-ARGUMENT...
    local status=$1
    shift
    run "$status" traced "$@"
    same "$(grep -v '^OpenJDK 64-Bit Server VM warning: Option' err)" ""
    no_crash
    good_trace complete
}

no_crash() {
    local logs
    logs=$(ls "$TMP"/hs_err* "$TMP"/core* 2>/dev/null)
    [ -z "$logs" ] || fail "the JVM crashed: $(head -n 30 $logs)"
}

events() {
    "$ORCA" events "$@" "$TRACE" >events 2>events.err || fail "orca events: $(cat events.err)"
}

info() { # [TRACE]
    "$ORCA" info --json "${1:-$TRACE}" >info 2>info.err || fail "orca info: $(cat info.err)"
}

# A number or a word of "info"; 0 when it is not there.
value() { # KEY
    local v
    v=$(sed -n "s/^ *\"$1\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}$/\1/p" info | head -n 1)
    echo "${v:-0}"
}

# Nothing lost, nothing damaged, ended in this state, and nothing left in shared memory.
good_trace() { # STATE
    info
    same "$(value state)" "$1"
    same "$(value lost_total)" 0
    same "$(value damaged)" 0
    no_rings "$(value pid)"
}

# Since the test began: process ids come again.
no_rings() { # PID
    local rings
    rings=$(find /dev/shm -maxdepth 1 -name "orca-$1-*" -newer "$TMP/.began")
    [ -z "$rings" ] || fail "left behind: $rings"
}

# How many lines of "events" match each of the extended patterns (one to three).
matching() { # PATTERN...
    case $# in
    1) LC_ALL=C grep -cE -- "$1" events ;;
    2) LC_ALL=C grep -E -- "$1" events | LC_ALL=C grep -cE -- "$2" ;;
    *) LC_ALL=C grep -E -- "$1" events | LC_ALL=C grep -E -- "$2" | LC_ALL=C grep -cE -- "$3" ;;
    esac
}

at_least() { # GOT WANTED WHAT
    [ "$1" -ge "$2" ] || fail "$3: $1, not at least $2"
}

# The line of a Java source that carries the comment "// site: NAME".
site() { # FILE NAME
    grep -n "// site: $2\$" "$ROOT/tests/jvm/$1" | cut -d : -f 1
}

# The program's own truth, on lines of its output:
#     strict HASH THREAD HOLDER     THREAD blocked on the object once, and HOLDER owned it then
#     hold HASH THREAD FROM TO      THREAD held the object at least from FROM to TO (System.nanoTime)
# Each strict line must be one enter, with that owner or none, and one entered after it.  The owner of any
# other enter on an object with "hold" lines must have owned it at some time between enter and entered.
# REACQUIRES: threads (a pattern) whose entered may come without an enter: JDK 25 posts one when a virtual
# thread gets its monitor back after Object.wait.
# Into "owners": strict N wrong N unknown N other N wrong N unknown N pairs N unnamed N; pairs are the enters and
# entereds that do not match, unnamed the owners known by number only.  Into "owners.err": what is wrong.
check_owners() { # TRUTH [REACQUIRES]
    events -k monitor_contended_enter,monitor_contended_entered
    awk -v reacquires="${2:-^$}" -v start="$(od -An -t u8 -j 48 -N 8 "$TRACE")" '
        function key(name, i) {
            for (i = 4; i <= NF; i++)
                if (index($i, name "=") == 1)
                    return substr($i, length(name) + 2)
            return ""
        }
        function complain(text) {
            if (++complaints <= 20)
                print text >"/dev/stderr"
        }
        FNR == NR && $1 == "strict" { holder[$3, $2] = $4; n_strict++; next }
        FNR == NR && $1 == "hold" {
            n = ++n_holds[$2]
            who[$2, n] = $3; from[$2, n] = $4; to[$2, n] = $5
            next
        }
        FNR == NR { next }
        { hash = key("hash"); at = start + $1 * 1e9 }
        $3 == "monitor_contended_enter" {
            if (($2, hash) in entered_at) { complain($2 " enters " hash " twice"); bad_pairs++ }
            entered_at[$2, hash] = at
            owner[$2, hash] = key("owner")
            next
        }
        !(($2, hash) in entered_at) {
            if ($2 !~ reacquires) { complain($2 " entered " hash " out of nothing"); bad_pairs++ }
            next
        }
        {
            o = owner[$2, hash]; t = entered_at[$2, hash]
            delete entered_at[$2, hash]
            if (($2, hash) in holder) {
                if (($2, hash) in seen) { complain($2 " blocks on " hash " again"); bad_pairs++ }
                seen[$2, hash] = 1
                if (o == "?") strict_unknown++
                else if (o ~ /^#/) unnamed++
                else if (o != holder[$2, hash]) {
                    strict_wrong++
                    complain("owner " o " instead of " holder[$2, hash] ": " $0)
                }
            } else if (hash in n_holds) {
                others++
                if (o == "?") unknown++
                else if (o ~ /^#/) unnamed++
                else if (!held(hash, o, t - 1000, at + 1000)) {
                    wrong++
                    complain("owner " o " did not hold " hash " between " t " and " at ": " $0)
                }
            }
        }
        # A hold ends for others when the next one has begun, and begins when the one before ends.
        function held(h, o, a, b,    lo, hi, mid, i) {
            lo = 1; hi = n_holds[h]
            while (lo < hi) { # the first hold that may reach beyond a
                mid = int((lo + hi) / 2)
                if (mid < n_holds[h] && from[h, mid + 1] < a) lo = mid + 1
                else hi = mid
            }
            for (i = lo; i <= n_holds[h] && (i == 1 || to[h, i - 1] <= b); i++)
                if (who[h, i] == o) return 1
            return 0
        }
        END {
            for (k in holder)
                if (!(k in seen)) { complain("no events for " k); bad_pairs++ }
            for (k in entered_at) { complain("never entered: " k); bad_pairs++ }
            printf "strict %d wrong %d unknown %d other %d wrong %d unknown %d pairs %d unnamed %d\n",
                n_strict, strict_wrong, strict_unknown, others, wrong, unknown, bad_pairs, unnamed
        }' "$1" events >owners 2>owners.err || fail "check_owners: $(cat owners.err)"
}

# Zero wrong, all of the strict ones there, and at most that many of a hundred strict ones unknown.
owners_are_right() { # TRUTH UNKNOWN-PERCENT [REACQUIRES]
    local strict wrong unknown other_wrong pairs
    check_owners "$1" "${3:-^$}"
    echo "owners: $(cat owners)"
    read -r _ strict _ wrong _ unknown _ _ _ other_wrong _ _ _ pairs _ <owners
    same "$wrong wrong, $other_wrong wrong, $pairs unpaired $(cat owners.err)" "0 wrong, 0 wrong, 0 unpaired "
    at_least "$strict" 1 "strict facts"
    [ $((unknown * 100)) -le $((strict * $2)) ] || fail "$unknown of $strict owners unknown"
}
