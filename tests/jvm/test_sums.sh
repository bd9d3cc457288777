# Short waits as sums (cost=): a program that counts its waits for itself, and the JVM's own counts.
# timeout: 180
. "$ROOT/tests/jvm/traced.sh"

kinds() {
    echo platform
    [ "$JDK_MAJOR" -lt 21 ] || echo virtual
}

# of a thread's line of the report
field() { # LINE NAME
    sed "s/.*\"$2\": \([0-9]*\).*/\1/" <<<"$1"
}

# What the report says of each thread is what it, or the JVM, has counted.
check_counts() {
    local name parks here there ns waited blocked line got
    "$ORCA" report --json --threads "$TRACE" >report || fail "no report"
    while read -r name _ parks _ here _ there _ ns _ waited _ blocked; do
        line=$(grep '"id"' report | grep -F "\"name\": \"$name\"")
        got=$(field "$line" parked_count)
        if [ "$waited" -ge 0 ]; then
            same "$name parked $got" "$name parked $waited"
            got=$(field "$line" blocked_count)
            # HotSpot counts one in some hundred of which it posts no event (17)
            [ "$got" -le "$blocked" ] && [ $((blocked - got)) -le $((1 + blocked / 50)) ] || fail "$name blocked $got of $blocked"
        else
            same "$name parked $got" "$name parked $parks"
        fi
    done < <(grep ' parks ' out)
    has out counted
}

# Both places of a park, over all threads; and the time, which a program cannot know exactly.
check_sites() {
    local counted
    "$ORCA" report --json --sites "$TRACE" >sites || fail "no sites"
    for place in here there; do
        counted=$(awk -v p="$place" '/ parks / { for (i = 1; i < NF; i++) if ($i == p) n += $(i + 1) } END { print n }' out)
        case $place in
        here) same "here $(site_count parkHere)" "here $counted" ;;
        *) same "there $(site_count parkThere)" "there $counted" ;;
        esac
    done
}

# Each step unparks the other thread once: with an event, or as one of those that a stretch says are left out.
check_unparks() { # STEPS
    "$ORCA" events -k unpark,summing "$TRACE" | awk -v least="$(($1 * 99 / 100))" '
        $3 == "unpark" { n += index($0, "target=t-") > 0 }
        $3 == "summing" { split($0, p, /since=| waits=| unparks=| goes_on=/); left[p[2]] = p[4] }
        END {
            for (s in left) n += left[s]
            print (n >= least ? "all are told" : n " unparks, not " least)
        }' >unparks
    same "$(cat unparks)" "all are told"
}

site_count() { # METHOD
    "$ORCA" export "$TRACE" --to collapsed --unit count --states parked -o - 2>/dev/null |
        awk -v m="Summed\$Part.$1" 'index($0, m) { n += $NF } END { print n + 0 }'
}

summed_waits() {
    "$ORCA" report --json "$TRACE" | tr -d ' \n' | sed -n 's/.*"summed":{"waits":\([0-9]*\).*/\1/p'
}

test_all_are_summed() {
    local kind format
    for kind in $(kinds); do
        run_traced 0 cost=0 Summed "$kind" 4 8000
        check_counts
        check_sites
        check_unparks 64000
        [ "$(summed_waits)" -gt 1000 ] || fail "$kind: $(summed_waits) waits were summed"
        "$ORCA" report "$TRACE" >text
        has text "waits below 1 ms as sums by site"
        "$ORCA" info "$TRACE" >text
        has text "waits below 1 ms as sums by site"
        for format in orca tptp; do
            "$ORCA" export "$TRACE" --to $format -o text 2>text.err || fail "no $format"
            grep -q "cannot hold .* wait_sum" text.err || fail "$format does not say that sums are left out"
        done
    done
}

test_stretches_at_random_moments() {
    local kind n switched
    for kind in $(kinds); do
        for n in 8000 32000 128000; do # until it was switched more than twice
            run_traced 0 cost=0,costflip Summed "$kind" 4 $n
            check_counts
            check_sites
            switched=$("$ORCA" events -k summing "$TRACE" | grep -c 'goes_on=0')
            [ "$switched" -le 2 ] || break
        done
        [ "$switched" -gt 2 ] || fail "$kind: it was not switched"
        "$ORCA" events -k park_enter "$TRACE" | grep -q Summed || fail "$kind: no wait was recorded by itself"
    done
}

# Where parks are only timed a thread's number of them is exact; which were at which place is known of some.
test_timed() {
    local kind all here there
    for kind in $(kinds); do
        for option in cost=0,costlight cost=0,costlight,costflip; do
            run_traced 0 $option Summed "$kind" 4 20000
            check_counts
            check_unparks 160000
            here=$(site_count parkHere)
            there=$(site_count parkThere)
            all=$(awk '/ parks / { n += $3 } END { print n }' out)
            [ $((here + there)) -le "$all" ] || fail "$kind $option: $here + $there of $all"
            case $option in
            *flip) ;; # its stretches are shorter than what a thread adds up
            *) # which looks meet a thread at which site is chance
                [ "$here" -gt $((all / 10)) ] && [ "$there" -gt $((all / 10)) ] || fail "$kind: $here + $there of $all" ;;
            esac
            "$ORCA" events -k summing "$TRACE" >stretches
            has stretches timed=1
            "$ORCA" events -k wait_sum "$TRACE" | grep "whole=1" >whole
            [ "$(wc -l <whole)" -gt 100 ] || fail "$kind $option: only $(wc -l <whole) long waits"
            lacks whole "stack=0 "
            "$ORCA" report "$TRACE" >text || fail "no report"
            lacks text LOST
            tr -s ' \n' ' ' <text | grep -q "lock and call site of most parks are estimates" || fail "the report does not say it"
        done
    done
}

# Those that are still under way at the end are asked for: threads that block each other for ever.
test_timed_to_the_end() {
    local kind
    for kind in $(kinds); do
        start_traced cost=0,costlight Summed "$kind" 2 100000000 stay
        wait_for 60 grep -q going out
        end_with TERM 143
        "$ORCA" report --findings "$TRACE" >text || fail "no report" # others may have cost more until then
        has text "eadlock of 2 threads"
        has text "knot-0"
        # or it was recorded as ever, in a look
        "$ORCA" events -k wait_open,park_enter -t knot-1 "$TRACE" | grep -F ReentrantLock | grep -F owner=knot-0 >open
        has open "at=Summed.knot"
        rm -f "$TRACE"
    done
}

# Joins of virtual threads that have ended, between others.
test_joins() {
    local option
    need_jdk 21
    for option in cost=off cost=0 cost=0,costflip cost=0,costlight; do
        run_traced 0 $option Joined 20 500
        "$ORCA" report --json --threads "$TRACE" >report || fail "no report"
        same "$option: joins $(field "$(grep '"name": "main"' report)" joined_count)" "$option: $(cat out)"
        "$ORCA" events -k join_enter,join_exit "$TRACE" >one_by_one
        case $option in
        cost=off) same "$(wc -l <one_by_one)" $((2 * 20 * 502)) ;;
        *costflip) # sums begin and end by chance: how many joins lie between them is chance, too
            [ "$(wc -l <one_by_one)" -lt $((2 * 20 * 502)) ] || fail "$option: every join is an event of its own" ;;
        *) [ "$(wc -l <one_by_one)" -lt 15000 ] || fail "$option: $(wc -l <one_by_one) events of joins" ;;
        esac
        "$ORCA" report "$TRACE" >text || fail "no report"
        lacks text LOST
        lacks text "could not tell"
    done
}

test_off_is_as_ever() {
    run_traced 0 cost=off Summed platform 2 2000
    check_counts
    same "$("$ORCA" events -k wait_sum,summing "$TRACE" | wc -l)" 0
    run_traced 0 cost=100% Summed platform 2 2000
    check_counts
    same "$("$ORCA" events -k wait_sum,summing "$TRACE" | wc -l)" 0
}

# What was written to the rings is there: a tenth of a second before the end, and all that lasted.
test_killed() {
    start_traced cost=0 Summed "$(kinds | tail -n 1)" 4 100000000 stay
    wait_for 60 grep -q going out
    wait_for 60 eval '"$ORCA" events -k wait_sum "$TRACE" 2>/dev/null | grep -q count='
    end_with KILL 137
    "$ORCA" report "$TRACE" >text || fail "no report"
    has text "waits below 1 ms as sums by site"
    has text "killed"
    [ "$(summed_waits)" -gt 100 ] || fail "$(summed_waits) waits were summed"
}

# A JVM that was recorded for a while, or whose recording was copied, in the middle of a stretch: nothing is lost.
whole() { # TRACE
    "$ORCA" report "$1" >text || fail "no report of $1"
    has text "waits below 1 ms as sums by site"
    lacks text LOST
    lacks text killed
    "$ORCA" report --json --threads "$1" >report
    [ "$(grep '"id".*"name": "t-' report | sed 's/.*"blocked_count": \([0-9]*\).*"parked_count": \([0-9]*\).*/\1 \2/' |
        awk '{ n += $1 + $2 } END { print n }')" -gt 20 ] || fail "$1: hardly a wait"
}

copied() { # FILE
    rm -f "$1"
    "$ORCA" dump "$jvm" -o "$1" >/dev/null 2>&1 && [ "$("$ORCA" events -k wait_sum -t t- "$1" | wc -l)" -gt 30 ]
}

test_attached_and_copied_in_a_stretch() {
    local kind i
    for kind in $(kinds); do
        set -m
        : >out
        "$JAVA" -XX:-UsePerfData -cp "$CLASSES" Summed "$kind" 3 100000000 stay >out 2>err &
        jvm=$!
        wait_for 60 grep -q going out
        for i in 1 2; do
            run 0 "$ORCA" attach "$jvm" --options cost=0,control -o "$kind$i.otrace"
            wait_for 60 copied "$kind$i.copy.otrace"
            run 0 "$ORCA" detach "$jvm"
            whole "$kind$i.copy.otrace"
            whole "$kind$i.otrace"
        done
        end_with KILL 137
    done
}

# A stretch that a look interrupts was written when the look began: written again, it would cover the look.
copied_at_looks() { # N: copies it until it has that number of looks
    rm -f copy.otrace
    "$ORCA" dump "$jvm" -o copy.otrace >/dev/null 2>&1 || fail "no copy"
    [ "$("$ORCA" events -k summing copy.otrace | grep -c goes_on=2)" -ge "$1" ]
}

test_copied_in_a_look() {
    start_traced cost=0 Summed "$(kinds | tail -n 1)" 3 100000000 stay
    wait_for 60 grep -q going out
    wait_for 60 copied_at_looks 20
    end_with KILL 137
    "$ORCA" events -k summing "$TRACE" >stretches
    awk '{ for (i = 1; i <= NF; i++) if ($i ~ /^since=/) since = $i }
        since in paused { n++ }
        /goes_on=2/ { paused[since] }
        END { print n + 0, "looks are covered" }' stretches >covered
    same "$(cat covered)" "0 looks are covered"
}

# Above the limit a stretch begins.  The limit is a small one, of all processors' time: beside other programs, recording does not
# get the 5 % that it may take without an option, however much there is to record.
test_above_the_limit() {
    start_traced cost=0.02 Summed "$(kinds | tail -n 1)" 4 100000000 stay
    wait_for 60 grep -q going out
    # (Asked of the agent: to read a trace of millions of events again and again takes longer than all else.)
    wait_for 60 eval '"$ORCA" status "$jvm" 2>/dev/null | grep -q "^summed .*; now those below"'
    run 0 "$ORCA" status "$jvm"
    grep -q '^summed  *[0-9,]* short waits, as sums by site (cost=); now those below [0-9.]* ms$' out || fail "$(cat out)"
    end_with KILL 137
    "$ORCA" events -k summing "$TRACE" >stretches
    has stretches "goes_on=1"
    "$ORCA" events -k wait_sum "$TRACE" >summed
    has summed "count="
    "$ORCA" report "$TRACE" >text || fail "no report"
    has text "waits below"
}

# Where cost= is not asked for, whoever wants another file has each wait in it.
test_rotated() {
    local files first next
    start_traced costflip Summed "$(kinds | tail -n 1)" 4 100000000 stay
    wait_for 60 grep -q going out
    wait_for 60 eval '"$ORCA" status "$jvm" 2>/dev/null | grep -q "^summed  *[1-9]"'
    run 0 "$ORCA" dump --rotate "$jvm"
    run 0 "$ORCA" status "$jvm"
    has out "(cost=); none now"
    files=$(ls "${TRACE%.otrace}"*.otrace)
    wait_for 60 eval '"$ORCA" events -k park_enter "$(ls -t "${TRACE%.otrace}"*.otrace | head -n 1)" 2>/dev/null | grep -q park_enter'
    end_with KILL 137
    same "$(wc -w <<<"$files")" 2
    next=$(grep '[.]002[.]' <<<"$files")
    first=$(grep -v '[.]002[.]' <<<"$files")
    "$ORCA" events -k summing "$first" >stretches
    has stretches "goes_on=0"
    same "$("$ORCA" events -k summing "$next" | wc -l)" 0
    "$ORCA" events -k wait_sum "$first" >summed
    has summed "count="
    "$ORCA" report "$first" >text || fail "no report"
    has text "waits below"
}

# A recording that every wait must be in is made without it.
test_not_where_each_wait_is_asked_for() {
    run_traced 0 costflip Summed platform 2 20000 # sums begin at random moments, however cheap the waits are
    at_least "$("$ORCA" events -k wait_sum "$TRACE" | wc -l)" 1 "sums where nothing forbids them"
    rm -f "$TRACE"
    for option in format=otrace+orca every=10s keep=3,every=10s maxsize=8m "methods=Summed#main"; do
        run_traced 0 "$option,costflip" Summed platform 2 20000
        for file in "${TRACE%.otrace}"*.otrace; do
            same "$option $("$ORCA" events -k wait_sum,summing "$file" | wc -l)" "$option 0"
        done
        rm -f "${TRACE%.otrace}"*.otrace
    done
}

test_options() {
    run 0 traced cost=0,every=10s Summed platform 1 10
    has err "cost="
    run 0 traced cost=x Summed platform 1 10
    has err "cost=x"
}
