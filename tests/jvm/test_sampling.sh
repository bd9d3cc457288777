# The groups cpu and wall: what threads execute, by their processor time and by the clock.
# timeout: 120
. "$ROOT/tests/jvm/traced.sh"

finish() {
    leave_no_jvm
}

# Bits of flags: 1 the place is uncertain, 2 | 8 it is asleep, 4 a look.
ASLEEP=' flags=1[0145]( |$)'
LOOK=' flags=([45]|1[45])( |$)'

# A number that the program has printed.
said() { # WORDS
    awk -v words="$1 " 'index($0, words) == 1 { print $NF }' out
}

# Of the samples of a thread in $events: the sum of a field.
sum() { # KIND THREAD FIELD
    awk -v kind="$1" -v thread="$2" -v field="$3=" '$2 == thread && $3 == kind {
        for (i = 4; i <= NF; i++)
            if (index($i, field) == 1)
                n += substr($i, length(field) + 1)
    } END { printf "%.0f\n", n }' "${events:-events}"
}

# The samples of a thread that name a method anywhere in their stacks, and all that have a stack.
naming() { # KIND THREAD METHOD
    "$ORCA" events --stacks -k "$1" "$TRACE" >deep 2>deep.err || fail "orca events: $(cat deep.err)"
    awk -v thread="$2" -v method="$3" '
        /^[0-9]/ { mine = $2 == thread && !/ stack=0 / && !/ stack=\? /; if (mine) { all++; seen = 0 } }
        mine && !seen && index($0, method) { seen = 1; n++ }
        END { print n + 0, all + 0 }' deep
}

perf_is_allowed() {
    [ "$(cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null || echo 3)" -lt 2 ] || [ "$(id -u)" = 0 ]
}

# What the samples stand for is the processor time that was used: no more, and most of it.
cpu_adds_up() { # OPTIONS
    local n all weight cpu most
    run_traced 0 "events=threads+cpu,$1" -Xmx64m Sampled 700
    events
    weight=$(sum cpu_sample burner weight) cpu=$(said "cpu burner") most=$cpu
    # perf events count what the hypervisor takes away, too; the thread's own clock does not.
    [[ $1 != *=perf ]] || most=$(said "life burner")
    [ "$weight" -le $((most + 20000000)) ] || fail "samples stand for $weight ns of $most"
    [ "$weight" -ge $((cpu * 8 / 10)) ] || fail "samples stand for $weight ns of $cpu only"
    read -r n all <<<"$(naming cpu_sample burner Sampled.spin)"
    at_least "$all" 20 "stacks of the burner"
    at_least $((n * 10)) $((all * 8)) "of $all stacks of the burner, those in spin, in tenths"
}

test_cpu_by_timers() {
    cpu_adds_up cpu=10ms,cpuclock=timer
}

test_cpu_by_timers_short() {
    cpu_adds_up cpu=100us,cpuclock=timer
}

test_cpu_by_perf_events() {
    perf_is_allowed || skip "the kernel allows no perf events"
    cpu_adds_up cpu=1ms,cpuclock=perf
    at_least "$(matching ' burner cpu_sample ')" 300 "samples"
}

test_cpu_by_perf_events_short() {
    perf_is_allowed || skip "the kernel allows no perf events"
    cpu_adds_up cpu=100us,cpuclock=perf
}

# Blocked threads are known without being woken, however often they are looked at.
test_wall_wakes_nobody() {
    local name life n all
    run_traced 0 "events=threads+wall,wall=1ms" -Xmx64m Sampled 500
    for name in waiter parker reader; do
        same "$name $(said "idle $name")" "$name 0"
    done
    events
    life=$(said "life burner")
    [ "$(sum wall_sample burner weight)" -le $((life + 100000000)) ] ||
        fail "samples stand for $(sum wall_sample burner weight) ns of $life"
    at_least "$(sum wall_sample burner weight)" $((life / 2)) "samples of a life of $life ns"
    for name in waiter:java.lang.Object.wait parker:jdk.internal.misc.Unsafe.park reader:java.net.ServerSocket.accept; do
        read -r n all <<<"$(naming wall_sample "${name%%:*}" "${name#*:}")"
        at_least "$n" 1 "samples of ${name%%:*}"
        at_least $((n * 10)) $((all * 8)) "of $all stacks of ${name%%:*}, those in ${name#*:}, in tenths"
        grep -E "$ASLEEP" events >asleep.events
        n=$(events=asleep.events sum wall_sample "${name%%:*}" weight)
        all=$(sum wall_sample "${name%%:*}" weight)
        at_least "$n" $((all / 10 * 8)) "ns of $all in which ${name%%:*} sleeps"
    done
}

# Threads in no recorded wait are looked at, 20 times a second: for findings, not for tables of samples.
test_looks() {
    local name n all
    run_traced 0 "events=threads+waits+parks+looks" -Xmx64m Sampled 700
    events
    for name in burner:Sampled.spin reader:java.net.ServerSocket.accept; do
        read -r n all <<<"$(naming wall_sample "${name%%:*}" "${name#*:}")"
        at_least "$n" 3 "looks at ${name%%:*} in ${name#*:}, of $all"
    done
    same "$(grep ' wall_sample ' events | grep -cvE "$LOOK")" 0
    same "$(matching ' (waiter|parker) wall_sample .* stack=[^ ]*[1-9]')" 0
    run_traced 0 "events=threads+waits+parks" -Xmx64m Sampled 700
    events
    same "$(matching ' wall_sample ')" 0
}

# A thread that waits for a processor in a native method does not block there.
test_looks_preempted() {
    local ms
    for ms in 800 4000 20000; do # until there are some, on a busy machine
        rm -f "$TRACE"
        run 0 taskset -c 0 "$JAVA" "$(agent events=threads+looks)" -Xmx64m -cp "$CLASSES" Packers 2 "$ms"
        events
        all=$(matching ' packer-[0-9] wall_sample ')
        [ "$all" -lt 10 ] || break
    done
    at_least "$all" 10 "looks at packers"
    at_least "$((all / 10))" "$(matching " packer-[0-9] wall_sample .*$ASLEEP")" "looks that found one standing still"
}

# Samples do not disturb what their threads are writing: every event is there, in its thread's order.
test_events_stay_whole() {
    run_traced 0 events=threads+waits+monitors+cpu+wall,cpu=100us,wall=1ms,full=block,ring=2k,ringmem=1m -Xmx48m WaitStorm 4 20000
    same "$(cat out)" "waits 80000"
    events -k wait_enter,wait_exit,cpu_sample
    same "$(matching ' storm-[0-9]* wait_enter ') $(matching ' storm-[0-9]* wait_exit ')" "80000 80000"
    same "$(awk '$2 ~ /^storm-/ && $3 == "wait_enter" { if (n[$2]++) print "twice: " $0 }
        $2 ~ /^storm-/ && $3 == "wait_exit" { if (--n[$2]) print "out of order: " $0 }' events | head)" ""
    at_least "$(matching ' storm-[0-9]* cpu_sample ')" 10 "samples"
}

more_samples() {
    local before=$samples
    "$ORCA" dump "$jvm" && events && samples=$(matching ' (busy-[01]|sleeper) wall_sample ') && [ "$samples" -gt "$before" ]
}

# On and off in a running JVM, several times; nothing is taken while it is off.
test_switched() {
    local i samples=0
    launch_told Attachable -- 2
    run 0 "$ORCA" attach "$jvm" -o "$TRACE" -e threads
    for i in 1 2 3; do
        run 0 "$ORCA" attach "$jvm" --on cpu+wall
        wait_for 60 more_samples
        run 0 "$ORCA" attach "$jvm" --off cpu+wall
        say work worked
        say work worked
    done
    run 0 "$ORCA" detach "$jvm"
    say end sum
    wait "$jvm"
    good_trace complete
    events
    at_least "$(matching ' (busy-[01]|sleeper) wall_sample ')" 1 "samples"
    # From the first to the second of two children they were off.
    same "$(matching ' child thread_start$')" 6
    awk 'FNR == NR { if ($2 == "child" && $3 == "thread_start") at[++n] = $1; next }
        $3 ~ /_sample$/ {
            split($0, taken, "taken=")
            for (i = 1; i < n; i += 2)
                if (taken[2] + 0 >= at[i] && taken[2] + 0 <= at[i + 1])
                    print
        }' events events | head -n 3 >inside
    same "$(cat inside)" ""
}

# Where the walker cannot be used one line says so, and the program runs as ever.
test_not_with_check_jni() {
    run 0 traced events=threads+cpu,cpu=1ms -Xcheck:jni -Xmx64m Sampled 50
    has err "processor time and wall clock are not sampled"
    info
    same "$(value state)" complete
}

test_bad_options() {
    run 0 traced cpu=1us -version
    has err "cpu=1us"
    run 0 traced cpuclock=sun -version
    has err "auto, timer, perf"
}

# From the start the compilers describe every place; where Orca was attached, what they compile from then on, and the report says so.
test_places() {
    run_traced 0 cpu=2ms -Xmx64m Sampled 300
    same "$(value orca.places)" all
    run 0 "$ORCA" report --hot "$TRACE"
    lacks out "compiled before Orca attached"
    run 0 "$ORCA" record -e threads -- sh -c 'echo "$JAVA_TOOL_OPTIONS"'
    lacks out DebugNonSafepoints
}

# What C2 makes without a place of its own has that of a call that it inlined late: a loop is not at the line behind it.
test_boxed() {
    local line all here
    line=$(grep -n '// computes' "$ROOT/tests/jvm/Boxed.java" | cut -d: -f1)
    for size in 300 1000 3000; do
        run_traced 0 cpu=1ms -Xmx64m -Xbatch -XX:-TieredCompilation Boxed $size
        "$ORCA" events --stacks -k cpu_sample -t computing "$TRACE" >deep
        all=$(grep -c 'Boxed\.compute(' deep)
        here=$(grep -c "Boxed\.compute(Boxed\.java:$line)" deep)
        [ "$all" -lt 200 ] || break
    done
    at_least "$all" 200 "samples in Boxed.compute"
    at_least $((here * 10)) $((all * 9)) "of $all samples in Boxed.compute, those at line $line, in tenths"
}

# Looks alone show where the holder of a lock computes, as orca record takes them by default.
test_holder_computes() {
    run 0 "$ORCA" record -o "$TRACE" -- "$JAVA" -Xmx64m -XX:-UsePerfData -cp "$CLASSES" BusyHolder 60
    no_crash
    run 0 "$ORCA" report --json "$TRACE"
    jq -r '.findings[0] | .waiters.at.method, .holders[0].does, .holders[0].at.method, .holders[0].at.line' out >said
    same "$(sed -n 1,3p said | tr '\n' ' ')" "quote computes quote "
    line=$(sed -n 4p said)
    [ "$line" -ge "$(marked from)" ] && [ "$line" -le "$(marked to)" ] || fail "the holder computes in line $line"
}

marked() { # WORD
    grep -n "// $1\$" "$ROOT/tests/jvm/BusyHolder.java" | cut -d: -f1
}
