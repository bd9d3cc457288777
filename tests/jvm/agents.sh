# agents.sh - the tests' own agents: builds them, runs programs with them, reads the sums that they print.
#
#   OWN               set before: the agent is tests/jvm/$OWN_agent.c, what it prints begins with "$OWN: "
#   WITH              set behind: compiler options, ${WALKER[@]}, or ${ASGCT2[@]} and a library
#   LIBRARY           the agent, once it is built
#   looks_right       a function of the test's: checks the file "out" after each run_java

WALKER=(-I"$ROOT/src" "$ROOT/build/release/lib.a") # the walker itself, of the release build
ASGCT2=(-I"$ROOT/include" -L"$ROOT/build/release" -Wl,-rpath,"$ROOT/build/release")
LIBRARY=$ROOT/build/tests/jvm/lib$OWN-$JDK_MAJOR.so

# One build for all tests.
build() { # OUTPUT SOURCE COMPILER-OPTION...
    local output=$1 source=$2
    shift 2
    (
        flock 9
        newer=$(find "$source" "$ROOT/tests/jvm/agct.h" "$ROOT/include/orca/asgct2.h" "$ROOT/build/release/lib.a" \
            "$ROOT/build/release/libasgct2.so" -newer "$output" 2>&1)
        [ -z "$newer" ] && exit 0
        ${CC:-cc} -std=gnu11 -D_GNU_SOURCE -O2 -g -shared -fPIC -pthread -isystem "$JNI_INCLUDE" \
            -isystem "$JNI_INCLUDE/linux" -o "$output.new" "$source" "$@" && mv "$output.new" "$output"
    ) 9>"$ROOT/build/tests/jvm/.agents-lock" || fail "$source does not build"
}

build_agent() {
    build "$LIBRARY" "$ROOT/tests/jvm/${OWN}_agent.c" "${WITH[@]}"
}

run_java() { # AGENT-OPTIONS JVM-FLAG... -- CLASS ARGUMENT...
    local options=$1 flags
    shift
    split_words flags "$@"
    build_agent
    run 0 "$JAVA" -Xmx256m "${flags[@]}" "-agentpath:$LIBRARY=$options" -cp "$CLASSES" "${rest[@]}"
    grep -E "^$OWN: " out
    looks_right
}

value() { # KEY
    sed -n "s/^$OWN: $1 //p" out
}
at_least() { # KEY NUMBER
    [ "$(value "$1")" -ge "$2" ] || fail "$1 is $(value "$1"), less than $2"
}
at_most() { # KEY NUMBER
    [ "$(value "$1")" -le "$2" ] || fail "$1 is $(value "$1"), more than $2"
}

need_flag() { # FLAG...
    "$JAVA" "$@" -version >/dev/null 2>&1 || skip "this JVM has no $*"
}
