# orca heap: what keeps a leak alive, where a static and a thread's local do (Listeners.java).
# timeout: 120

dumped() { # JVM-OPTION...
    mkfifo lines
    "$JAVA" -Xmx256m "$@" -cp "$CLASSES" Listeners <lines >ready 2>err &
    pid=$!
    exec 9>lines
    wait_for 60 grep -q ready ready
    run 0 "$ORCA" heap dump "$pid" -o app.hprof
}

# The leak's way is the static one; the thread's is named as another.
check() { # JVM-OPTION...
    dumped "$@"
    run 0 "$ORCA" heap --suspects app.hprof
    has out 'Listeners$Leak'
    sed '/another path/,$d' out >first
    has first 'static bus'
    has first '.subscribers'
    lacks first ' local '
    sed -n '/another path/,$p' out >second
    grep -qE 'java.lang.Thread|Listeners.Pump "pump"' second || fail "no thread: $(cat second)"
    grep -qE 'a local in Listeners.Pump.run \(Listeners.java:[0-9]+\)' second || fail "no local: $(cat second)"
    same "$(grep -c 'another path' out)" 1
}
test_a_static_before_a_local() { check -Xint; }
test_a_static_before_a_local_compiled() { check -Xcomp -XX:CompileCommand=quiet; }
