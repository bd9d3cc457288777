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
        [[ $pattern != "$1"/* ]] || plan+=("$when $pattern")
    done < <(grep -v '^#' tests/plan)
}

# Whether a test is to run now.
planned() { # NAME newest|""
    local line
    for line in "${plan[@]}"; do
        # shellcheck disable=SC2053 # a pattern
        [[ $1 == ${line#* } ]] || continue
        [ "${line%% *}" = one-jdk ] && [ "$2" = newest ] || return 1
        return 0
    done
    return 0
}
