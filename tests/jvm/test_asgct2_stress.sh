# Real programs, every thread of which is interrupted at intervals of 0.05 ms and asked for its stack by
# AsyncGetCallTrace2, with every collector, interpreted and compiled, while classes are unloaded, method ids asked
# for, and Orca attached and detached beside.  No crash, no hang, no impossible answer; and the programs' own checks
# hold (tests/workloads).  Missing programs are passed over.
# timeout: 7200
#
# ORCA_STRESS: seconds for each JDK (21, always the same programs first); with it another order each time, which
# ORCA_STRESS_SEED repeats.
OWN=asgct2
. "$ROOT/tests/jvm/agents.sh"
WITH=("${ASGCT2[@]}" -lasgct2)

PROGRAMS=(javac Walking lucene Unloading tomcat Overflowing clojure jython xalan ant jruby gpars trimmomatic)
MODES=(-XX:+UseG1GC -XX:+UseZGC -XX:+UseParallelGC -XX:+UseSerialGC -XX:+UseG1GC -XX:TieredStopAtLevel=1 -Xint
    -XX:-TieredCompilation)

finish() {
    touch "$TMP/stop"
    end_jobs
}

# A JDK whose programs are sampled: bin/java and bin/javac add the agent, and say which process they are.
sampled_jdk() {
    mkdir -p jdk/bin
    ln -s "$JDK"/* jdk/ 2>/dev/null
    ln -s "$JDK"/bin/* jdk/bin/
    rm -f jdk/bin/java jdk/bin/javac
    cat >jdk/bin/java <<END
#!/bin/sh
echo \$\$ >"$TMP/pid"
exec "$JDK/bin/java" \$(cat "$TMP/mode") -XX:ErrorFile="$TMP/hs_err_%p.log" \\
    "-agentpath:$LIBRARY=signal=50,all,resolve,out=$TMP/sums" "\$@"
END
    cat >jdk/bin/javac <<END
#!/bin/sh
echo \$\$ >"$TMP/pid"
exec "$JDK/bin/javac" -J\$(cat "$TMP/mode") -J-XX:ErrorFile="$TMP/hs_err_%p.log" \\
    "-J-agentpath:$LIBRARY=signal=50,all,resolve,out=$TMP/sums" "\$@"
END
    chmod +x jdk/bin/java jdk/bin/javac
}

# Orca comes and goes in whatever runs; a JVM that has just ended refuses it.
attach_and_detach() {
    local pid
    while [ ! -e "$TMP/stop" ]; do
        pid=$(cat "$TMP/pid" 2>/dev/null)
        timeout 60 "$ORCA" attach "${pid:-0}" -o "$TMP/beside.otrace" >/dev/null 2>&1 && attached=1
        sleep 0.5
        timeout 60 "$ORCA" detach "${pid:-0}" >/dev/null 2>&1 && [ "${attached:-0}" = 1 ] && echo >>"$TMP/attached"
        rm -f "$TMP"/beside*.otrace
        sleep 0.3
    done
}

program() { # NAME
    case $1 in
    Walking) jdk/bin/java -Xmx256m -cp "$CLASSES" Walking 8000 ;;
    Unloading) jdk/bin/java -Xmx256m -cp "$CLASSES" Unloading 300 ;;
    Overflowing) jdk/bin/java -cp "$CLASSES" Overflowing 8000 ;;
    *) "$ROOT/tests/workloads/$1.sh" "$TMP/jdk" "$TMP/out" --short --plain ;;
    esac
}

# Whatever is still running at the end of the time gets a signal to end, and must.
end_it() { # NAME MODE
    local pid end=$((SECONDS + 90))
    pid=$(cat pid)
    kill -TERM "$pid" 2>/dev/null
    while kill -0 "$pid" 2>/dev/null && [ "$(sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null | cut -c 1)" != Z ]; do
        [ $SECONDS -lt $end ] || fail "$1 $2 hangs: process $pid"
        sleep 0.2
    done
}

run_program() { # NAME MODE SECONDS
    local end=$((SECONDS + $3)) status ended=
    echo "$2" >mode
    rm -f pid
    program "$1" >program.out 2>&1 &
    local child=$!
    while kill -0 $child 2>/dev/null; do
        if [ $SECONDS -ge $end ] && [ -s pid ]; then
            ended=1
            end_it "$1" "$2"
        fi
        sleep 0.2
    done
    wait $child
    status=$?
    ls hs_err* core* >/dev/null 2>&1 && fail "$1 $2: a crash: $(grep -h -A 12 'SIG\|Problematic' hs_err* | head -n 40)"
    grep -h '^asgct2: bad' sums.* 2>/dev/null | grep -qv ' 0$' && fail "$1 $2: $(cat sums.*)"
    # How much Tomcat gets done in its time does not matter here.
    if [ -z "$ended" ] && [ $status != 0 ] && [ $status != 77 ] && ! grep -q 'only [0-9]* requests' program.out; then
        fail "$1 $2: exit status $status: $(tail -n 5 program.out)"
    fi
    [ $status = 77 ] || ran="$ran $1"
    cat sums.* >>all 2>/dev/null
    rm -f sums.*
}

sum() { # KEY
    awk -v key="$1" '$1 == "asgct2:" && $2 == key { n += $3 } END { print n + 0 }' all
}

test_programs() {
    local seconds=${ORCA_STRESS:-21} seed=${ORCA_STRESS_SEED:-${ORCA_STRESS:+$((RANDOM % 1000))}} end n mode each left
    seed=${seed:-1}
    each=$((seconds / 12 > 7 ? seconds / 12 : 7)) # so that there are several of them
    echo "ORCA_STRESS_SEED=$seed"
    build_agent
    sampled_jdk
    end=$((SECONDS + seconds))
    : >all
    : >attached
    ran=
    attach_and_detach &
    # A machine with much else to do may not come to a stack in that time.
    for ((n = seed; SECONDS < end || ($(sum usable) == 0 && n < seed + 8); n++)); do
        mode=${MODES[$((n / 3 % ${#MODES[@]}))]}
        "$JAVA" "$mode" -version >/dev/null 2>&1 || mode=-XX:+UseG1GC
        left=$((end - SECONDS))
        run_program "${PROGRAMS[$((n % ${#PROGRAMS[@]}))]}" "$mode" $((left > 0 && left < each ? left : each))
    done
    touch stop
    echo "$(wc -l <attached) times attached and detached;$ran: $(sum signals) signals, $(sum usable) stacks," \
        "$(sum frames) frames, $(sum resolved) ids resolved, $(sum invalid) of them invalid" |
        tee "$ROOT/build/tests/jvm/asgct2-stress-$JDK_NAME"
    [ "$(sum usable)" -gt 0 ] || fail "no stack at all"
}
