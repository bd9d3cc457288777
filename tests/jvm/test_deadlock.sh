# Deadlocks that are older than the recording, of a JVM in which nothing moves (Circles.java): each answer has them, as
# separate ones, with stacks and owners, up to now.
# timeout: 180
. "$ROOT/tests/jvm/traced.sh"

finish() {
    leave_no_jvm
}

stand_still() { # N:KIND...
    set -m
    : >java.out
    "$JAVA" -Xmx64m -XX:-UsePerfData -cp "$CLASSES" Circles "$@" >java.out 2>&1 &
    jvm=$!
    wait_for 60 grep -q '^ready' java.out
    circles=("$@")
}

# The names of the threads of each circle, "0-0 0-1", a line each.
wanted() {
    local k
    for k in "${!circles[@]}"; do
        seq -f "$k-%g" -s ' ' 0 $((${circles[k]%%:*} - 1))
    done
}

# Likewise those of an answer with deadlocks: each thread waits for the next one.
found() { # FILE
    jq -r '.deadlocks[] | [.members[].name] | sort_by(split("-") | map(tonumber)) | join(" ")' "$1" | sort -n
}

# A file of orca report --json: all of them, for certain, with who waits for whom, and where.
all_there() { # FILE
    [ "$(found "$1")" = "$(wanted)" ] &&
        [ "$(jq '[.deadlocks[].sure] | all' "$1")" = true ] &&
        [ "$(jq '[.deadlocks[].members[] | .stack | map(.class) | any(. == "Circles")] | all' "$1")" = true ] &&
        [ "$(jq '[.deadlocks[].members | . as $m | range(length) | $m[.].on == $m[(. + 1) % ($m | length)].thread] | all' "$1")" = true ]
}

reported() { # TRACE
    "$ORCA" report --json "$1" >json 2>err && all_there json
}

must_report() { # TRACE
    reported "$1" || fail "$1: $(jq -c .deadlocks json | head -c 2000)"
    # for people, too, where the program waits, whatever the JDK does inside
    "$ORCA" report --deadlocks "$1" >text 2>err
    awk '/^   [0-9]+-[0-9]+: / { who = $1; wait = 1; next }
        /^     the owner/ { wait = 0 }
        wait && /^       at Circles/ { at[who] = 1 }
        who { all[who] = 1 }
        END { for (w in all) if (!(w in at)) print w }' text >wrong
    same "$(cat wrong)" ""
    lacks text 'NonfairSync'
    # the data about the threads are not a guess: they waited all the time
    same "$(jq '[.threads[] | select(.name | test("^[0-9]+-[0-9]+$")) | .held_up_ns > 100000000 and (.incomplete | not)] | all' json)" true
}

everywhere() { # N:KIND...
    local n=$#
    stand_still "$@"
    run 0 "$ORCA" attach "$jvm" -o "$TRACE"
    # the file that is written: its end moves on, though nothing happens
    wait_for 60 reported "$TRACE"
    must_report "$TRACE"
    run 0 "$ORCA" dump "$jvm" -o copy.otrace
    must_report copy.otrace
    run 0 "$ORCA" top "$jvm" -n 1
    [ "$n" = 0 ] || has out " 1  Deadlock of "
    run 0 "$ORCA" top "$jvm" --json -n 1
    same "$(jq '.report.deadlocks | length' out)" "$n"
    for k in "${!circles[@]}"; do
        at_least "$(jq --argjson n "${circles[k]%%:*}" '[.report.deadlocks[] | select(.members | length == $n)] | length' out)" 1 \
            "deadlocks of ${circles[k]%%:*}"
    done
    # the view of it
    "$ORCA" view --no-open "$jvm" >view.out 2>view.err &
    local view=$!
    wait_for 60 grep -q '^orca: .*token=' view.out
    base=$(sed 's/.*: http/http/; s/^orca: //; s,/?token=.*,,' view.out)
    key=$(curl -s -H "Origin: $base" -d "token=$(sed 's/.*token=//' view.out)" "$base/api/enter" | jq -r .key)
    wait_for 60 viewed
    # and what is left of it; a view would complete it, too
    kill -INT "$view"
    wait "$view"
    end_with KILL 137
    run 0 "$ORCA" info "$TRACE"
    has out 'recovered'
    must_report "$TRACE"
}

viewed() {
    curl -s -H "Orca-Key: $key" "$base/api/t1/meta" >json && all_there json
}

test_platform_threads() {
    everywhere 2:monitor 10:mixed 2:lock
}

test_virtual_threads() {
    [ "$JDK_MAJOR" -ge 25 ] || skip "needs JDK 25"
    everywhere 2:virtual-monitor 3:mixed 4:virtual-mixed 2:virtual-lock
}
