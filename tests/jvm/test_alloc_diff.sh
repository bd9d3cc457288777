# orca diff of two recordings of a program whose allocation has changed in a known way (AllocChange.java).
# timeout: 240
. "$ROOT/tests/jvm/traced.sh"

# Record one version into NAME.otrace, what it says into NAME.says.
version() { # NAME OPTIONS SMALL EXTRA KEPT
    rm -f "$TRACE"
    traced "$2" -Xmx64m -XX:+UseSerialGC AllocChange "$3" "$4" "$5" >"$1.says" 2>err || fail "$1: $(tail -n 5 err)"
    mv "$TRACE" "$1.otrace"
}

said() { # NAME CLASS
    awk -v class="$2" '$2 == class { print $3 }' "$1.says"
}

# A value of the row of KIND and NAME.
of() { # KIND NAME FILTER
    jq -r --arg kind "$1" --arg name "$2" ".rows[] | select(.kind == \$kind and .name == \$name) | $3" out
}

test_counted() {
    version old events=threads+gc+alloc 200 0 0
    version new events=threads+gc+alloc 600 50 0
    run 0 "$ORCA" diff --json old.otrace new.otrace
    same "$(of allocated-class 'AllocChange$Small' '"\(.a.objects) \(.b.objects) \(.a.samples)"')" \
        "$(said old 'AllocChange$Small') $(said new 'AllocChange$Small') null"
    same "$(of allocated-class 'AllocChange$Small' '.a.bytes / .a.objects == .b.bytes / .b.objects')" true
    same "$(of allocated-class 'AllocChange$Extra' '"\(.a.objects) \(.b.objects) \(.verdict)"')" \
        "0 $(said new 'AllocChange$Extra') more"
    same "$(jq -r '.b.ns as $ns | .rows[] | select(.kind == "allocated-class" and .name == "AllocChange$Extra") |
        (.b.bytes_a_second * $ns / 1e9 - .b.bytes | fabs) < 1' out)" true
    same "$(jq -r '[.rows[] | select(.kind == "allocated-place" and
        (.name | startswith("AllocChange$Extra at AllocChange.extra (AllocChange.java:"))) | .verdict] | join(" ")' out)" more
    same "$(jq '[.rows[] | select(.kind | startswith("growth"))] | length' out)" 0
    run 0 "$ORCA" diff --json new.otrace old.otrace
    same "$(of allocated-class 'AllocChange$Extra' '"\(.b.objects) \(.verdict)"')" "0 less"
    run 0 "$ORCA" diff new.otrace new.otrace
    has out "Allocated per second, by class"
    has out "Growth of objects that are not freed is not compared"
    lacks out "+- A"
}

# The estimates hold the truth, and what is kept grows. (A thread's first sample may be half a MiB away.)
test_sampled() {
    version old events=threads+gc+sampled-alloc,samplebytes=16k 5000 0 0
    version new events=threads+gc+sampled-alloc,samplebytes=16k 5000 0 500
    run 0 "$ORCA" diff --json old.otrace new.otrace
    same "$(of allocated-class 'AllocChange$Small' ".b.error_a_second > 0 and
        (.b.bytes - 80 * $(said new 'AllocChange$Small') | fabs) < 524288 + 6 * .b.bytes / (.b.samples | sqrt)")" true
    same "$(of growth-class 'AllocChange$Kept' '"\(.a.objects) \(.verdict)"')" "0 worse"
    same "$(of growth-class 'AllocChange$Kept' '.b.bytes_a_second > 6 * .b.error_a_second')" true
    run 0 "$ORCA" diff --json new.otrace old.otrace
    same "$(of growth-class 'AllocChange$Kept' .verdict)" better
    run 0 "$ORCA" diff new.otrace new.otrace
    has out "Growth per second of objects that outlive collections, by class"
    has out "+- A"
    has out "estimated from"
}

test_recorded_in_one_alone() {
    version old events=threads+gc+alloc 10 0 0
    version new events=threads+gc 10 0 0
    run 0 "$ORCA" diff old.otrace new.otrace
    has out "Allocations are not compared: B has none recorded."
    lacks out "Allocated per second"
}
