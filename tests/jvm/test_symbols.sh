# Names of native code in a recording's stacks.
# timeout: 120
. "$ROOT/tests/jvm/traced.sh"

# Per cent of the places in a file that have a name, by `orca info`.
named() { # FILE
    awk -v file="/$1:" 'index($2, file) && $4 == "%" { print $3 } index($2, file) && $3 == "no" { print 0 }' info
}

record_sampled() {
    run_traced 0 "events=threads+cpu,cpu=1ms" -Xmx64m Sampled 700
    run 0 "$ORCA" info "$TRACE"
    mv out info
}

# Every build of a JDK here has the symbols of its libjvm.so.
test_the_jvms_functions() {
    record_sampled
    at_least "$(named libjvm.so)" 90 "per cent of the places in libjvm.so with a name"
    run 0 "$ORCA" events --stacks -k cpu_sample "$TRACE"
    has out 'at libjvm.so!Thread::call_run'
    has out 'at libc.so.6!'
    lacks out 'at libjvm.so!_Z'
}

# A library that is gone, or another one by now: its places keep their addresses.
test_a_library_that_is_gone() {
    record_sampled
    run 0 env ORCA_SYMBOLS=/nonexistent "$ORCA" info --json "$TRACE"
    has out '"symbols": "whole"'
    cp -a "$JDK" "$TMP/jdk"
    JAVA=$TMP/jdk/bin/java
    record_sampled
    at_least "$(named libjvm.so)" 90 "per cent of the places in the copy with a name"
    mv "$TMP/jdk/lib/server/libjvm.so" "$TMP/jdk/elsewhere"
    run 0 "$ORCA" events --stacks -k cpu_sample "$TRACE"
    has out 'at libjvm.so+0x'
    lacks out 'at libjvm.so!'
    run 0 "$ORCA" info "$TRACE"
    has out 'the file is not here'
    mkdir "$TMP/symbols"
    mv "$TMP/jdk/elsewhere" "$TMP/symbols/libjvm.so"
    run 0 env ORCA_SYMBOLS="$TMP/symbols" "$ORCA" events --stacks -k cpu_sample "$TRACE"
    has out 'at libjvm.so!Thread::call_run'
    cp "$TMP/jdk/lib/libjava.so" "$TMP/jdk/lib/server/libjvm.so"
    run 0 "$ORCA" events --stacks -k cpu_sample "$TRACE"
    has err "its build id differs from the recorded file's"
    lacks out 'at libjvm.so!'
}

# The text formats know methods of Java alone.
test_text_formats_have_no_native_frames() {
    record_sampled
    run 0 "$ORCA" export "$TRACE" --to orca -o app
    lacks app.methods 'call_run'
    run 0 "$ORCA" export "$TRACE" --to tptp -o app
    lacks app.trcxml 'libjvm'
}
