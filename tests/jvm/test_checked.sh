# What the compiler's checks find in the agent: a write is held and the JVM goes on; an overwritten stack ends it, in HotSpot's
# way, and what was recorded is there.  (tests/binaries: nothing in liborca.so calls libc's checks, which would abort.)
OWN=broken WITH=()
. "$ROOT/tests/jvm/agents.sh"
. "$ROOT/tests/jvm/traced.sh"
ulimit -c 0

offset_of() { # NAME
    nm "$AGENT" | awk -v name="$1" '$3 == name { print $1 }'
}

broken() { # STATUS HOW CHECK
    build_agent
    run "$1" "$JAVA" "-agentpath:$LIBRARY=$2=$(offset_of "$3")" "$(agent ownerstacks=none)" -Xmx64m -XX:-UsePerfData \
        -XX:ErrorFile="$TMP/crash" -cp "$CLASSES" Contention block
    events -k monitor_contended_entered
    same "$(matching ' block-[012] .*class=java.lang.Object ')" 3 # their ends may contend for their group
}

test_a_copy_without_room() {
    broken 0 copy __memcpy_chk
    has out "broken: 0123xxxxxxxxxxxx"
    same "$(grep -c . err)" 1
    has err "orca: a bug in Orca: a text or a copy was truncated"
    good_trace complete
}

# 134: HotSpot's end after its report.
test_an_overwritten_stack() {
    broken 134 stack __stack_chk_fail
    has err "orca: a bug in Orca: a thread's stack was overwritten"
    has crash SIGILL
    grep -q '^C  \[liborca.so+0x' crash || fail "the crash report does not name liborca.so"
    good_trace recovered
}
