# What waits are for, judged by 60 kinds of waiting that know it (Purposes.java): of each thread that knows what its waits
# are for, most of their time is for that.
# timeout: 180
. "$ROOT/tests/jvm/traced.sh"

# Into "verdicts": CASE right|wrong THREAD TRUTH IDLE ANSWER RESOURCE, ns.
judge() {
    "$ORCA" report --json --threads "$TRACE" >report || fail report
    awk '
        FNR == NR && $1 == "truth" { of[$3] = $2; truth[$3] = $4; next }
        FNR == NR { next }
        function ns(key) {
            return match($0, "\"" key "\": [0-9]+") ? substr($0, RSTART + length(key) + 4, RLENGTH - length(key) - 4) + 0 : 0
        }
        /"idle_ns"/ && match($0, /"name": "[^"]*"/) {
            name = substr($0, RSTART + 9, RLENGTH - 10)
            if (!(name in truth) || done[name]++)
                next
            resource = ns("resource_ns") - ns("reacquired_ns") # of a notified virtual thread 25 lets that take long
            all = ns("idle_ns") + ns("answer_ns") + resource
            if (all < 4e6) # it hardly had to wait
                next
            right = 2 * (truth[name] == "resource" ? resource : ns(truth[name] "_ns")) > all
            seen[of[name]] = 1
            print of[name], right ? "right" : "wrong", name, truth[name], ns("idle_ns"), ns("answer_ns"), resource
        }
        END {
            for (name in truth)
                if (!(of[name] in seen) && !told[of[name]]++)
                    print of[name], "wrong", name, truth[name], "none of its threads waited"
        }' out report >verdicts
}

check_kind() { # KIND
    run_traced 0 "" Purposes "$1"
    has out done
    judge
    local cases wrong
    cases=$(cut -d ' ' -f 1 verdicts | sort -u | wc -l)
    wrong=$(grep ' wrong ' verdicts | cut -d ' ' -f 1 | sort -u | wc -l)
    echo "$((cases - wrong)) of $cases kinds of waiting are right"
    at_least "$cases" 60 "kinds of waiting"
    [ "$wrong" -le 6 ] || fail "$wrong of $cases are wrong: $(grep ' wrong ' verdicts)"
    ask_again "$1"
}

# On a busy machine a thread may be without a processor for longer than a case takes, and with it whoever waits for what it does:
# what is wrong is asked twice more, alone, and must be right both times.
ask_again() { # KIND
    local wrong
    wrong=$(grep ' wrong ' verdicts | cut -d ' ' -f 1 | sort -u)
    [ -n "$wrong" ] || return 0
    echo "again: $wrong"
    for _ in 1 2; do
        rm -f "$TRACE"
        # shellcheck disable=SC2086 # a list of names
        run_traced 0 "" Purposes "$1" $wrong
        judge
        ! grep ' wrong ' verdicts || fail "wrong again"
    done
}

test_platform_threads() {
    check_kind platform
}

test_virtual_threads() {
    need_jdk 21
    check_kind virtual
}
