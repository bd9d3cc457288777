# leaf.sh - the part of tests/truth/run that asks which method runs: samples of threads whose leaf is known (Paths.java, leaf.mjs).
#
# Needs of run: $here, $work, $majors, $compiler, java_home, die.  Makes $work/leaf.md.
leaf=$work/leaf

# The compilers run while the program waits for them, so that what ran often enough is compiled.
compilers() { # NAME
    case $1 in
    tiered) echo -Xbatch ;;
    c1) echo -Xbatch -XX:TieredStopAtLevel=1 ;;
    c2) echo -Xbatch -XX:-TieredCompilation ;;
    esac
}

leaf_tools() {
    echo orca orca-late agct-places agct ${ASYNC_PROFILER:+async async-late}
}

leaf_options() { # TOOL OUTPUT
    case $1 in
    orca) echo "-agentpath:$PWD/build/release/liborca.so=file=$2,quiet,cpu=1ms" ;;
    agct-places) echo "-agentpath:$leaf/libleaf.so=places,out=$2" ;;
    agct) echo "-agentpath:$leaf/libleaf.so=out=$2" ;;
    async) echo "-agentpath:$ASYNC_PROFILER=start,event=cpu,interval=1ms,jfr,file=$2,quiet" ;;
    *) echo -XX:+IgnoreUnrecognizedVMOptions -XX:+EnableDynamicAgentLoading ;;
    esac
}

leaf_attach() { # TOOL HOME PID OUTPUT
    case $1 in
    orca-late) build/release/orca attach "$3" --cpu 1ms -o "$4" ;;
    async-late) "$2/bin/jcmd" "$3" JVMTI.agent_load "$ASYNC_PROFILER" "\"start,event=cpu,interval=1ms,jfr,file=$4,quiet\"" ;; # else the command takes = for one of its own
    esac
}

# Each waits when all is compiled; then it is attached to, or goes on as it is.
leaf_record() { # TOOL HOME COMPILERS FILES
    local output job pid
    output=$(leaf_output "$1" "$4")
    mkfifo "$4.in" && : >"$4.truth"
    # shellcheck disable=SC2046 # words
    timeout -k 5 $LIMIT "$2/bin/java" -Xms128m -Xmx128m -XX:+AlwaysPreTouch $(compilers "$3") $(leaf_options "$1" "$output") -cp $work/classes Paths "${LEAF_MS:-80}" \
        <"$4.in" >"$4.truth" 2>"$4.err" &
    job=$!
    exec 8>"$4.in"
    until grep -qx ready "$4.truth" || ! kill -0 $job 2>/dev/null; do
        sleep 0.1
    done
    pid=$(cat "/proc/$job/task/$job/children" 2>/dev/null)
    leaf_attach "$1" "$2" "${pid% }" "$output" >"$4.attach" 2>&1
    echo >&8
    exec 8>&-
    wait $job
    grep -qx 'done' "$4.truth" && [ -s "$output" ]
}

leaf_output() { # TOOL FILES
    case $1 in orca*) echo "$PWD/$2.otrace" ;; async*) echo "$PWD/$2.jfr" ;; *) echo "$PWD/$2.leaves" ;; esac
}

leaf_one() { # MAJOR HOME COMPILERS TOOL
    local files=$leaf/$1.$3.$4
    if ! leaf_record "$4" "$2" "$3" "$files"; then
        echo "truth: JDK $1, $3, Paths under $4 did not end well; see $files.err and $files.truth" >&2
        return 1
    fi
    node $here/leaf.mjs count "$4" "$files.truth" "$(leaf_output "$4" "$files")" "$(reader "$4" "$2")" >"$files.counted" || return 1
    sed "s/^/$1\t$3\t$4\t/" "$files.counted" >"$files.counts"
}

# Two at a time: each is busy all the time.
leaves() {
    local major home setting tool
    mkdir -p $leaf
    ${CC:-cc} -std=gnu11 -D_GNU_SOURCE -O2 -shared -fPIC -pthread -isystem "${compiler%/bin/javac}/include" \
        -isystem "${compiler%/bin/javac}/include/linux" -Iinclude -Lbuild/release -Wl,-rpath,"$PWD/build/release" \
        -o $leaf/libleaf.so $here/leaf_agent.c -lasgct2 || die "the agent does not build"
    for major in $majors; do
        home=$(java_home "$major")
        for setting in tiered c1 c2; do
            echo "truth: JDK $major, leaves, $setting" >&2
            for tool in $(leaf_tools); do
                leaf_one "$major" "$home" $setting "$tool" || touch $leaf/failed &
                [ "$(jobs -rp | wc -l)" -lt 2 ] || wait -n
            done
        done
    done
    wait
    [ ! -e $leaf/failed ] || failed=1
    cat $leaf/*.counts >$leaf/counts 2>/dev/null || die "no leaf was counted"
    node $here/leaf.mjs table $leaf/counts >$work/leaf.md
}
