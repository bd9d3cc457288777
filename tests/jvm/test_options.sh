# How the agent's options travel through JAVA_TOOL_OPTIONS to a real JVM.

test_plain() {
    ORCA_AGENT=$STUB run 0 "$ORCA" record -o x.otrace -e waits -- "$JAVA" -version
    has err "stub: file=$TMP/x.otrace,session=$TMP/orca-session-"
    has err ",quiet,events=waits"
}

test_blanks_commas_quotes_and_percent_signs() {
    local odd="a  b,c'd\"e\\f%g"
    mkdir "$odd"
    cp "$STUB" "$odd/liborca.so"
    cd "$odd" || fail "cd"
    ORCA_AGENT=$PWD/liborca.so run 0 "$ORCA" record -o "x 'y'.otrace" -- "$JAVA" -version
    has "$TMP/err" "stub: file=$TMP/a  b\\,c'd\"e\\\\f%%g/x 'y'.otrace,session="
}

test_older_options_still_work() {
    JAVA_TOOL_OPTIONS="-Dorca.test='x y'" ORCA_AGENT=$STUB \
        run 0 "$ORCA" record -- "$JAVA" -XshowSettings:properties -version
    has err "orca.test = x y"
    has err "stub: file="
}

test_exit_status_of_a_jvm() {
    ORCA_AGENT=$STUB run 1 "$ORCA" record -- "$JAVA" -cp . NoSuchClass
    ORCA_AGENT=$STUB run 0 "$ORCA" record -- sh -c "'$JAVA' -version; '$JAVA' -version"
    same "$(count err '^stub:')" 2
}
