# orca doctor.
# jdk: any

test_finds_the_jdks_of_this_machine() {
    "$ORCA" doctor >out
    has out "$JDK"
    has out "supported"
}

test_fits_into_100_columns() {
    local deep=$TMP/a/rather/deep/folder/in/which/somebody/has/put/the/library/of/the/agent
    mkdir -p "$deep"
    cp "$AGENT" "$deep/liborca.so"
    ORCA_AGENT=$deep/liborca.so run 0 "$ORCA" doctor
    has out liborca.so
    # a name is not broken
    same "$(LC_ALL=C.UTF-8 grep -E '^.{101}' out | grep -vE '^ *(ok +)?/[^ ]*$')" ""
    [ "$(count out '^  ok ')" -ge 5 ] || fail "$(cat out)"
}

test_json_is_one_object() {
    run 0 "$ORCA" doctor --json
    same "$(head -c 1 out)" "{"
    has out '"schema": 1'
    has out '"area": "jdk"'
}

test_missing_agent_is_a_failure() {
    ORCA_AGENT=/nonexistent/liborca.so run 1 "$ORCA" doctor
    has out "ORCA_AGENT=/nonexistent/liborca.so: cannot be read"
    has out "Orca cannot record here"
}

test_a_library_that_is_no_agent() {
    ORCA_AGENT=/lib/x86_64-linux-gnu/libm.so.6 run 1 "$ORCA" doctor
    has out "is not a JVM agent"
}

test_other_jvms_are_told_apart() {
    jdk() { # NAME VERSION
        mkdir -p "$TMP/$1/bin" "$TMP/$1/lib/server"
        printf '#!/bin/sh\n' >"$TMP/$1/bin/java"
        chmod +x "$TMP/$1/bin/java"
        printf 'IMPLEMENTOR="Test"\nJAVA_VERSION="%s"\nOS_ARCH="x86_64"\n' "$2" >"$TMP/$1/release"
    }
    jdk other 21
    cp /lib/x86_64-linux-gnu/libm.so.6 "$TMP/other/lib/server/libjvm.so"
    JAVA_HOME=$TMP/other "$ORCA" doctor --json >out
    has out "21 Test at $TMP/other (JAVA_HOME): not a HotSpot JVM"
    jdk old 1.8.0_392
    ln -s "$JDK/lib/server/libjvm.so" "$TMP/old/lib/server/libjvm.so"
    JAVA_HOME=$TMP/old "$ORCA" doctor --json >out
    has out "1.8.0_392 Test"
    has out "older than 17"
    jdk late 27
    ln -s "$JDK/lib/server/libjvm.so" "$TMP/late/lib/server/libjvm.so"
    JAVA_HOME=$TMP/late "$ORCA" doctor --json >out
    has out "supported, with virtual threads; tested less than JDK 17 to 25"
    jdk new 29-ea
    ln -s "$JDK/lib/server/libjvm.so" "$TMP/new/lib/server/libjvm.so"
    JAVA_HOME=$TMP/new "$ORCA" doctor --json >out
    has out "newer than 28: the agent refuses it"
    jdk broken ""
    echo "not an ELF file" >"$TMP/broken/lib/server/libjvm.so"
    JAVA_HOME=$TMP/broken "$ORCA" doctor --json >out
    has out "? Test at $TMP/broken (JAVA_HOME): not a HotSpot JVM"
}

test_bad_usage() {
    run 2 "$ORCA" doctor --jsn
    has err "did you mean '--json'?"
    run 2 "$ORCA" doctor x
    has err "is not a process id"
}

test_rings_of_killed_jvms_are_found() {
    local left=/dev/shm/orca-999999999-0.rings
    [ -w /dev/shm ] || skip "needs /dev/shm"
    head -c 8192 /dev/zero >$left
    "$ORCA" doctor --json >out
    rm -f $left
    has out "/dev/shm holds the rings of"
}
