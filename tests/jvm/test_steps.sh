# The stack walker at every instruction of generated code: the processor's trap flag stops a thread behind each one that
# it executes (step_agent.c), in wrappers of native methods and in the JVM's stubs.  No stack is wrong, none is unknown in
# a wrapper, and few are elsewhere.
# timeout: 300

OWN=step
. "$ROOT/tests/jvm/agents.sh"
WITH=("${WALKER[@]}")

looks_right() {
    lacks out "not opened"
    has out done
}

steps() { # TIMES JVM-FLAG... -- [NAME...]
    local times=$1 flags
    shift
    split_words flags "$@"
    run_java none -Xbatch -XX:CompileCommand=quiet -XX:CompileCommand=dontinline,Stepped.stepped "${flags[@]}" -- \
        Stepped "$LIBRARY" "$times" "${rest[@]}"
    at_least places 500
    at_least wrapper_walks 500
    at_most wrong 0
    at_most in_wrappers 0
    [ $(($(value unknown) * 100)) -le "$(value walks)" ] || fail "$(value unknown) of $(value walks) stacks are unknown"
}

test_wrappers() { steps 3000 -- GetClass IsArray Hash NewHash Identity Plain Many Same Locked Fails Back Notify Throws; }

test_all() { steps 3000 --; }
test_all_c2() { steps 20000 -XX:-TieredCompilation --; }
test_all_z() {
    need_flag -XX:+UseZGC
    steps 3000 -XX:+UseZGC --
}
