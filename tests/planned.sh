# planned.sh - what tests/plan and tests/costs say, for a runner in bash.

declare -A costs
plan=()

# "costs[NAME]": the seconds that a test takes, where they are known.
read_costs() {
    local seconds name
    while read -r seconds name; do
        costs[$name]=$seconds
    done < <(grep -v '^#' tests/costs)
}

# Keep what the plan says of a kind; nothing when all tests are asked for.
read_plan() { # KIND
    local when pattern reason
    plan=()
    [ "${ORCA_TESTS:-}" != all ] || return 0
    while read -r when pattern reason; do
        [[ $pattern != "$1"/* || $when = runtime ]] || plan+=("$when $pattern")
    done < <(grep -v '^#' tests/plan)
}

# Tests that also run on a JVM that is not a JDK.
runtime_plan=()
read_runtime_plan() { # KIND
    local when pattern reason
    while read -r when pattern reason; do
        [[ $when != runtime || $pattern != "$1"/* ]] || runtime_plan+=("$pattern")
    done < <(grep -v '^#' tests/plan)
}

planned_on_runtime() { # NAME
    local pattern
    for pattern in "${runtime_plan[@]}"; do
        # shellcheck disable=SC2053 # a pattern
        [[ $1 != $pattern ]] || return 0
    done
    return 1
}

# Whether a test is to run now, on the N-th JDK of that number (0 is the oldest; a test that runs on none has the last one).  Those of
# a line "alternate" take turns: asked for one test on all JDKs, then for the next.
declare -A turns
planned() { # NAME N JDKS
    local line when
    for line in "${plan[@]}"; do
        # shellcheck disable=SC2053 # a pattern
        [[ $1 == ${line#* } ]] || continue
        when=${line%% *}
        case $when in
        one-jdk) [ "$2" = $(($3 - 1)) ] ;;
        alternate)
            [ "$2" != 0 ] || turns[$line]=$((${turns[$line]:-0} + 1))
            [ $((turns[$line] % $3)) = "$2" ]
            ;;
        *) false ;;
        esac
        return
    done
    return 0
}
