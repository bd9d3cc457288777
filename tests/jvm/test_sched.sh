# The group sched: when threads were on a processor, and when they waited for one.
# timeout: 120
. "$ROOT/tests/jvm/traced.sh"

finish() {
    leave_no_jvm
    [ -z "${quota_group:-}" ] || rmdir "$quota_group"
}

# Skips where the kernel forbids perf events, and only there: if nothing forbids them, doctor must have them.
perf_is_allowed() {
    "$ORCA" doctor >doctor.out
    ! grep -q '^ *ok  *perf events report when' doctor.out || return 0
    has doctor.out "perf events: .*: Orca records how long threads were on a processor"
    [ "$(cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null || echo 3)" -gt 2 ] ||
        ! grep -q '^Seccomp:[[:space:]]*0' /proc/self/status || fail "nothing forbids perf events: $(cat doctor.out)"
    skip "the kernel allows no perf events"
}

# Against the kernel's own counters (Scheduled.java's lines "task"). Their two looks take time as well, more than a
# millisecond on a busy machine: what the kernel says it ran is within the times around the looks, and what is recorded as
# preempted inside of them is in the kernel's count. A switch takes the processor some microseconds, which the kernel counts
# for the thread that comes, and a record is written at its end.
# What a hypervisor takes away is in no counter of the thread.
counted_alike() { # LINES
    local wrong
    awk -v start="$(od -An -t u8 -j 48 -N 8 "$TRACE")" '
        function key(name, i) {
            for (i = 4; i <= NF; i++)
                if (index($i, name "=") == 1)
                    return substr($i, length(name) + 2)
        }
        function clip(a, b, lo, hi) { # ns between a and b, as far as they are between the others
            a = a < lo ? lo : a
            b = b > hi ? hi : b
            return b > a ? b - a : 0
        }
        FNR == NR && $1 == "task" {
            ran[$2] = $3; ready[$2] = $4; n[$2] = $5
            from[$2] = $6 - start; to[$2] = $7 - start; before[$2] = $8 - start; after[$2] = $9 - start
        }
        FNR == NR && $1 == "stolen" { stolen = $2 }
        FNR == NR { next }
        $3 == "turn" && $2 in ran {
            since = key("since") * 1e9; now = $1 * 1e9
            on[$2] += clip(since, now, before[$2], after[$2])
            if (left[$2])
                off[$2] += clip(left[$2], since, from[$2], to[$2])
            left[$2] = key("end") == 1 ? now : 0
            gaps += key("end") >= 4
        }
        END {
            for (t in ran) {
                d = on[t] - ran[t]
                may = ran[t] / 100 + n[t] * 8000 + 1000000
                if (d < -may || d > may + stolen + 10000000)
                    print t " ran " ran[t] " ns in " n[t] " turns, and " on[t] " are recorded"
                if (off[t] > ready[t] * 1.05 + n[t] * 8000 + 1000000)
                    print t " was ready for " ready[t] " ns, and preempted for " off[t]
                lines++
            }
            if (lines != '"$1"' || gaps)
                print lines " threads, " gaps + 0 " gaps"
        }' out events >wrong
    wrong=$(cat wrong)
    same "$wrong" ""
}

scripted() { # COMMAND...
    mkfifo pipe
    run 0 "$@" "$JAVA" "$(agent events=threads+sleeps+sched)" -Xmx64m -XX:-UsePerfData -cp "$CLASSES" Scheduled 300 pipe
    same "$(grep -v '^OpenJDK 64-Bit Server VM warning: Option' err)" ""
    no_crash
    good_trace complete
    events
}

test_counts_what_the_kernel_counts() {
    perf_is_allowed
    scripted env
    counted_alike 7
    at_least "$(matching ' turns_known ')" 1 "times that all is known"
}

# Two that compute, and one processor: one of them is ready while the other one runs.
test_one_processor() {
    perf_is_allowed
    scripted taskset -c "$(taskset -pc $$ | sed 's/.*: //; s/[-,].*//')"
    counted_alike 7
    at_least "$(awk '/^task burner / { print $4 }' out)" 100000000 "ns for which the burner was ready"
}

# In a JVM that runs already, twice: threads that are there, and threads that they start.
test_attach() {
    local i
    perf_is_allowed
    launch_told Attachable --
    for i in -e\ sched --time; do
        rm -f "$TRACE"
        # shellcheck disable=SC2086 # two words
        run 0 "$ORCA" attach "$jvm" -o "$TRACE" $i
        say work worked
        run 0 "$ORCA" detach "$jvm"
        good_trace complete
        events -k turn,turns_known
        at_least "$(matching ' turn ')" 10 "turns of recording $i"
        same "$(ls -l "/proc/$jvm/fd" | grep -c 'perf_event')" 0
    done
}

# perf_event_open is refused: how long each thread ran is known all the same, and the recording says why no more is.
test_without_perf_events() {
    ${CC:-cc} -o without_perf "$ROOT/tests/jvm/without_perf.c" || fail "cannot build"
    ./without_perf true || skip "no seccomp filters here"
    mkfifo pipe
    run 0 ./without_perf "$JAVA" "$(agent events=threads+parks+sched)" -Xmx64m -XX:-UsePerfData -cp "$CLASSES" \
        Scheduled 1500 pipe
    has err "perf events: Operation not permitted: processor times are recorded as shares"
    good_trace complete
    events
    same "$(matching ' turn ')" 0
    awk '/^task burner / { ran = $3 }
        $2 == "burner" && $3 == "processor_share" {
            for (i = 4; i <= NF; i++)
                if (index($i, "ran=") == 1)
                    sum += substr($i, 5)
        }
        END { if (sum < ran * 0.4 || sum > ran * 1.1 + 50000000) print sum " ns of " ran }' out events >wrong
    same "$(cat wrong)" ""
    run 0 ./without_perf "$ORCA" doctor
    has out "perf events: Operation not permitted"
}

# Folded stacks of a state and the report's sums: the same, to the nanosecond.  "out": the report.
flames_are_the_reports() {
    local state
    for state in io ready stopped off; do
        same "$("$ORCA" export "$TRACE" --to collapsed --states $state --unit ns --threads -o - 2>export.err | awk '{ n += $NF } END { printf "%.0f", n }')" \
            "$(jq "[.threads[].${state}_ns] | add" out)"
    done
    at_least "$(jq '[.threads[].ready_ns] | add' out)" 100000000 "ns ready"
}

# Each thread's life is divided without a rest, and who computes on one processor of two is ready half of the time.
test_report_divides_lives() {
    perf_is_allowed
    scripted taskset -c "$(taskset -pc $$ | sed 's/.*: //; s/[-,].*//')"
    run 0 "$ORCA" report --json --threads "$TRACE"
    tr -d ' \n' <out | sed 's/{"id":/\n&/g' | sed -n 's/.*"name":"\([^"]*\)".*"life_ns":\([0-9]*\).*"processor":{\([^}]*\)}.*/\1:\2:\3/p' |
        sed 's/"[a-z_]*"://g; s/,/:/g' >lives
    at_least "$(wc -l <lives)" 10 "threads with times on processors"
    same "$(awk -F : '$3 + $4 + $5 + $6 + $7 + $8 + $9 != $2' lives)" ""
    tr -d ' \n' <out | sed 's/{"id":/\n&/g' | grep -o '"name":.*"processor"' | awk '{
            sum = 0
            while (match($0, /"(blocked|waited|reacquired|parked|joined|slept|unknown|io|ready|stopped|off|running)_ns":[0-9]*/)) {
                sum += substr($0, RSTART + index(substr($0, RSTART), ":"), RLENGTH) + 0
                $0 = substr($0, 1, RSTART - 1) substr($0, RSTART + RLENGTH)
            }
            match($0, /"life_ns":[0-9]*/)
            if (sum != substr($0, RSTART + 10, RLENGTH - 10) + 0)
                print sum, $0
        }
        END { if (NR < 10) print NR " threads" }' >wrong
    same "$(cat wrong)" ""
    # name, life, on a processor, ready, waits, io, stopped, off it, not known. While it waits for the start it is not ready.
    same "$(awk -F : '/^burner/ && $4 < ($2 - $5) * 0.3' lives)" ""
    same "$(awk -F : '/^sleeper/ && $5 < 290e6' lives)" ""
    # from the open on, which returns for both, until the writer has slept: of that it may be ready before it reads
    same "$(awk -F : '/^reader/ && ($4 + $6 + $8 < 290e6 || $6 + $8 < 50e6)' lives)" ""
    flames_are_the_reports
    # beside other programs the 20,000 hand-overs take most of the time
    local waits
    waits=$(jq '[.threads[].ready_ns] | add' out)
    waits=$((waits / ($(jq .recording.to out) / 1000)))
    run 0 "$ORCA" report "$TRACE"
    [ "$waits" -lt 550 ] || has out "threads on average wait for a processor"
    [ "$waits" -gt 450 ] || lacks out "threads on average wait for a processor"
    has out "threads  on cpu  ready  blocked  waiting  idle  other"
    run 0 "$ORCA" report --threads "$TRACE"
    has out "Threads on processors"
}

# The first thing that the holder of HeldOff's lock does, for what part of the time, and what the card says.
owner_does() { # DOES WORDS ADVICE
    good_trace complete
    run 0 "$ORCA" report --json "$TRACE"
    # what it does most; how much of the time depends on the disk and the machine
    jq -r '.findings[] | select(.resource.name == "HeldOff.lock") | .holders[0] | "\(.does) \(.share > 0.25)"' out >does
    same "$(cat does)" "$1 true"
    run 0 "$ORCA" report "$TRACE"
    grep -qE "held by   owner(#[0-9]+)?, " out || fail "$(cat out)"
    has out "$2"
    has out "$3"
}

# Four threads compute on one processor, and one of them has the lock.
test_owner_that_is_ready() {
    perf_is_allowed
    run 0 taskset -c "$(taskset -pc $$ | sed 's/.*: //; s/[-,].*//')" "$JAVA" "$(agent time=on)" -Xmx64m -XX:-UsePerfData \
        -cp "$CLASSES" HeldOff ready
    owner_does ready "% of the time waiting for a processor" "try       run fewer threads at a time"
}

# A mapped file that is not in memory.  A file system in memory has no such faults.
test_owner_in_page_faults() {
    perf_is_allowed
    head -c 64M /dev/urandom >mapped
    sync mapped
    dd if=mapped iflag=nocache count=0 status=none # the kernel forgets its pages
    run 0 "$JAVA" "$(agent time=on)" -Xmx64m -XX:-UsePerfData -cp "$CLASSES" HeldOff fault mapped
    [ "$(sed -n 's/^faults //p' out)" -ge 6 ] || skip "files stay in memory here: $(cat out)"
    owner_does fault "% of the time in page faults" "try       read the mapped file before"
}

# Without --time the report says so where it matters: as many threads run as there are processors.
test_without_it() {
    mkfifo pipe
    run 0 taskset -c "$(taskset -pc $$ | sed 's/.*: //; s/[-,].*//')" "$JAVA" "$(agent '')" -Xmx64m -cp "$CLASSES" Scheduled 500 pipe
    run 0 "$ORCA" report "$TRACE"
    has out "recorded without --time"
    rm "$TRACE"
    run 0 "$JAVA" "$(agent '')" -Xmx64m -cp "$CLASSES" BusyHolder 5
    run 0 "$ORCA" report "$TRACE"
    lacks out "without --time"
}

# A control group with a quota of a fifth of a processor, where groups can be made (version 1, or the unified one). Its periods are
# short: also on a machine so busy that the group has less than a fifth, one turn on a processor uses a period's share up.
in_quota() { # COMMAND...
    local group
    for group in /sys/fs/cgroup/cpu /sys/fs/cgroup; do
        group=$group/orca-test-$$
        mkdir "$group" 2>/dev/null || continue
        quota_group=$group
        if { echo 10000 >"$group/cpu.cfs_period_us" && echo 2000 >"$group/cpu.cfs_quota_us" ||
            echo "2000 10000" >"$group/cpu.max"; } 2>/dev/null; then
            # shellcheck disable=SC2016 # of the inner shell
            run 0 sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$@"
            return
        fi
        rmdir "$group"
        quota_group=
    done
    skip "no control group with a quota can be made here"
}

test_quota() {
    perf_is_allowed
    mkfifo pipe
    in_quota "$JAVA" "$(agent events=threads+sched)" -Xmx64m -XX:-UsePerfData -cp "$CLASSES" Scheduled 50 pipe
    good_trace complete
    events -k quota
    at_least "$(matching ' quota ')" 1 "quota events"
    run 0 "$ORCA" report "$TRACE"
    has out "The quota of processor time stopped the program in"
}
