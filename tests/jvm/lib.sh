# lib.sh FILE FUNCTION - runs one test function; and what every test can use.
#
#   ORCA AGENT STUB   the command, the agent, and an agent that prints its options
#   JAVA JDK JDK_NAME JDK_MAJOR CLASSES   the JVM of this run, and the compiled tests/jvm/*.java
#   TOOLS JNI_INCLUDE javac, jar and headers: of another JDK where this JVM has none
#   RUN               the name of this run of tests/jvm/run
#   ORCA_TESTS        all: in "./dev check"
#   TMP               an empty folder, the current one; kept when the test fails
#
# A test fails by fail, by a failing check below, wherever that stands (a subshell, a pipeline), or by a failing last command;
# background jobs end with it.
set -u
ALL_OF_IT=$PPID # tests/limit, which takes over whoever loses its parent

fail() {
    echo "FAILED: $*"
    echo "FAILED: $*" >>"$TMP/.failed"
    exit 1
}
skip() {
    echo "$*"
    exit 77
}
need_jdk() { # OLDEST
    [ "$JDK_MAJOR" -ge "$1" ] || skip "needs JDK $1"
}

# The words before -- into an array, those behind it into "rest".
split_words() { # ARRAY WORD... -- WORD...
    local -n before_=$1
    shift
    before_=()
    while [ "$1" != -- ]; do
        before_+=("$1")
        shift
    done
    rest=("${@:2}")
}

# Run a command; its output is in $TMP/out and $TMP/err afterwards.
run() { # STATUS COMMAND...
    local want=$1 got
    shift
    "$@" >"$TMP/out" 2>"$TMP/err"
    got=$?
    [ "$got" = "$want" ] && return 0
    echo "--- out:"; tail -n 20 "$TMP/out"
    echo "--- err:"; tail -n 20 "$TMP/err"
    fail "exit status $got instead of $want: $*"
}

has() { # FILE TEXT
    grep -qF -- "$2" "$1" && return 0
    echo "--- $1:"; tail -n 20 "$1"
    fail "$1 lacks: $2"
}
lacks() { # FILE TEXT
    ! grep -qF -- "$2" "$1" && return 0
    echo "--- $1:"; tail -n 20 "$1"
    fail "$1 has: $2"
}
same() { # GOT WANTED
    [ "$1" = "$2" ] || fail "got '$1' instead of '$2'"
}
# Of like cases that a test goes through: all in `./dev check`, the first N in `./dev test` (tests/plan).
some() { # N CASE...
    local n=$1
    shift
    [ "${ORCA_TESTS:-}" != all ] || n=$#
    printf '%s\n' "${@:1:n}"
}
count() { # FILE PATTERN
    grep -c -- "$2" "$1"
}

# Between two looks at a condition, without a process for it: nobody writes into this pipe.
a_moment() { # MS
    local seconds
    [ -p "$TMP/.moments" ] || mkfifo "$TMP/.moments"
    printf -v seconds '%d.%03d' $(($1 / 1000)) $(($1 % 1000))
    read -rt "$seconds" <>"$TMP/.moments"
}

# Wait until a command succeeds; the seconds are there to end a hang, and more of them on a machine that is busy then (tests/limit).
# The longer it has taken, the longer until the next look: the looks, too, need a processor, which what is waited for may lack.
wait_for() { # SECONDS COMMAND...
    local limit=$1 end=$((SECONDS + $1)) extended=no ms=10
    shift
    until "$@" 2>/dev/null; do
        if [ $SECONDS -ge $end ]; then
            [ $extended = no ] || fail "did not happen in time: $*"
            extended=yes
            end=$((SECONDS + limit * $("$ROOT/tests/limit" --slowness)))
        fi
        a_moment $ms
        [ $ms -ge 200 ] || ms=$((ms + ms / 4 + 1))
    done
}

# Whether a process is of this test: its number may be a stranger's by now, as bash takes note of a child's end by itself.
own() { # PID
    local pid=$1 stat
    while [ "$pid" -gt 1 ] 2>/dev/null; do
        [ "$pid" != "$ALL_OF_IT" ] || return 0
        { IFS= read -r -d '' stat || [ -n "$stat" ]; } 2>/dev/null <"/proc/$pid/stat" || return 1
        stat=${stat##*) }
        read -r _ pid _ <<<"$stat"
    done
    return 1
}

# In a test kill signals nobody else; a group (-PID) only while its first process is there.
kill() { # [-SIGNAL] [--] PID...
    local signal=-TERM target status=0
    case ${1:-} in
    -*) signal=$1 && shift ;;
    esac
    [ "${1:-}" != -- ] || shift
    for target; do
        if [ "${target#%}" = "$target" ] && ! own "${target#-}"; then
            echo "kill: $target is no process of this test" >&2
            status=1
        else
            builtin kill "$signal" -- "$target" || status=1
        fi
    done
    return $status
}

# Under "set -m" each background job is a process group of its own.  What is left of one is ended by tests/limit.
end_jobs() { # [SIGNAL]
    local pid
    for pid in $(jobs -p); do
        kill -"${1:-KILL}" -"$pid" "$pid" 2>/dev/null
    done
}

finish() {
    end_jobs
    wait 2>/dev/null
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
    trap finish EXIT
    cd "$TMP" || exit 1
    unset JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS ORCA_AGENT
    export ORCA_DEBUG_ROOT=${ORCA_DEBUG_ROOT:-/nonexistent} # as tests/run has it, which says why
    . "$1"
    "$2" || exit
    if [ -e "$TMP/.failed" ]; then # where it could not end the test
        cat "$TMP/.failed"
        exit 1
    fi
fi
