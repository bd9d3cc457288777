# lib.sh FILE FUNCTION - runs one test function; and what every test can use.
#
#   ORCA AGENT STUB   the command, the agent, and an agent that prints its options
#   JAVA JDK JDK_NAME JDK_MAJOR CLASSES   the JVM of this run, and the compiled tests/jvm/*.java
#   TMP               an empty folder, the current one; kept when the test fails
#
# A test fails by fail, by a failing check below, or by a failing last command; background jobs end with it.
set -u

fail() {
    echo "FAILED: $*"
    exit 1
}
skip() {
    echo "$*"
    exit 77
}
need_jdk() { # OLDEST
    [ "$JDK_MAJOR" -ge "$1" ] || skip "needs JDK $1"
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
count() { # FILE PATTERN
    grep -c -- "$2" "$1"
}

# Wait until a command succeeds; the seconds are there to end a hang, and more of them on a machine that is busy then (tests/limit).
wait_for() { # SECONDS COMMAND...
    local limit=$1 end=$((SECONDS + $1)) extended=no
    shift
    until "$@" 2>/dev/null; do
        if [ $SECONDS -ge $end ]; then
            [ $extended = no ] || fail "did not happen in time: $*"
            extended=yes
            end=$((SECONDS + limit * $("$ROOT/tests/limit" --slowness)))
        fi
        sleep 0.05
    done
}

# Under "set -m" each background job is a process group of its own.
finish() {
    for pid in $(jobs -p); do
        kill -KILL -- -"$pid" "$pid" 2>/dev/null
    done
    wait 2>/dev/null
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
    trap finish EXIT
    cd "$TMP" || exit 1
    unset JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS ORCA_AGENT
    . "$1"
    "$2"
fi
