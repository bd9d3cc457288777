# circles.sh - threads of the program Unmounted that wait for each other in a circle, as a running JVM's answers name them.

names() { # N
    seq -f 'v-%g' 0 $(($1 - 1)) | LC_ALL=C sort | tr '\n' ' ' | sed 's/ $//'
}

live_circle() { # N
    wait_for 60 eval "\"$ORCA\" top $jvm -n 1 >top 2>&1; grep -q '^ 1  Deadlock of $1 threads' top"
    run 0 "$ORCA" query "$jvm" locks
    same "$(grep -c '^DEADLOCK' out)" 1
    same "$(head -n 1 out)" "DEADLOCK of $1 threads:"
    run 0 "$ORCA" query "$jvm" locks --json
    same "$(jq -r '[.deadlocks[0][].name] | sort | join(" ")' out)" "$(names "$1")"
    same "$(jq '.deadlocks[0] as $m | [range('"$1"') | $m[.].owner.id == $m[(. + 1) % '"$1"'].id] | all' out)" true
    same "$(jq -r '[.locks[] | select(any(.waiting[]; .name == "behind")) | .owner.name] | join(" ")' out)" v-0
    run 0 "$ORCA" query "$jvm" thread v-0
    grep -q '^"v-0" #[0-9]* virtual, \(BLOCKED\|WAITING\)$' out || fail "$(cat out)"
    grep -q '^    waits for java[a-zA-Z.$]* @[0-9A-F]*, owned by v-1$' out || fail "$(cat out)"
    grep -q '^    holds java[a-zA-Z.$]* @[0-9A-F]*' out || fail "$(cat out)"
    run 0 "$ORCA" query "$jvm" thread behind
    grep -q ', owned by v-0$' out || fail "$(cat out)"
}
