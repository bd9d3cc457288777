# Classes that go, change, or have no name, while their methods and locks are in the trace.
. "$ROOT/tests/jvm/traced.sh"

# Every stack and lock keeps its names, although new classes take the memory of old ones.
test_unloaded_classes() {
    local n=64
    [ "$LONG" = 0 ] || n=1000
    run_traced 0 "" -Xmx64m -XX:+UseSerialGC Unloading $n
    at_least "$(sed -n 's/^unloaded //p' out)" $((n - 1)) "unloaded classes"
    events -k monitor_contended_enter
    same "$(matching ' throwaway-[0-9]+ ' " class=java\.lang\.Class .* at=Throwaway\.throwawayMethod\(Throwaway\.java:$(site Throwaway.java throwaway)\)")" $((n / 2))
    same "$(matching ' disposable-[0-9]+ ' " class=Disposable .* at=Disposable\.disposableMethod\(Disposable\.java:$(site Disposable.java disposable)\)")" $((n / 2))
    events -s -t disposable- -k monitor_contended_enter
    same "$(matching '^    at Disposable\.(disposableMethod|first|block)\(Disposable.java:')" $((n / 2 * 3))
    same "$(matching 'Throwaway|\?\.\?')" 0
    at_least "$(grep -c '' <<<"$(grep -o ' lock=[0-9]* ' events | sort -u)")" $((n / 2)) "locks of their own"
}

test_unloaded_classes_under_other_collectors() {
    local gc
    for gc in UseG1GC UseZGC; do
        "$JAVA" -XX:+$gc -version >/dev/null 2>&1 || continue
        run_traced 0 "" -Xmx96m -XX:+$gc Unloading 24
        at_least "$(sed -n 's/^unloaded //p' out)" 23 "unloaded classes"
        events -k monitor_contended_enter
        same "$(matching ' (throwaway|disposable)-[0-9]+ .* at=(Throwaway\.throwaway|Disposable\.disposable)Method\(')" 24
    done
}

redefine() {
    mkdir -p v2 jar
    { printf '\n%.0s' 1 2 3 4 5 6 7 8 9 10; cat "$ROOT/tests/jvm/Redefined.java"; } >v2/Redefined.java
    "$TOOLS/javac" --release 17 -g -Xlint:-options -cp "$CLASSES" -d v2 v2/Redefined.java || fail javac
    printf 'Premain-Class: Redefine\nCan-Redefine-Classes: true\nCan-Retransform-Classes: true\n' >manifest
    "$TOOLS/jar" cfm redefine.jar manifest -C "$CLASSES" Redefine.class || fail jar
    run_traced 0 "" -javaagent:redefine.jar="$TMP/v2/Redefined.class" Redefine
    same "$(cat out)" done
}

test_redefined_class() {
    redefine
    events -k monitor_contended_enter
    for t in old new again; do
        same "$(matching " $t .* class=java.lang.Class .* at=Redefined\.after\(Redefined\.java:")" 1
    done
    same "$(matching " obsolete .* at=Redefined\.middle\(")" 2
    events -s -k monitor_contended_enter -t obsolete
    # not the stacks in which it met another thread at the initialization of a class
    same "$(grep -A 1 '^    at Redefined\.middle(' events | grep -c '^    at Redefined\.twice(')" 2
}

test_hidden_frames() {
    run_traced 0 "" Hidden
    same "$(cat out)" "passed 5"
    for way in lambda handle reflect proxy class; do
        events -s -t hidden-$way -k monitor_contended_enter
        same "$(matching ' owner=main .* at=Hidden\.pass\(Hidden\.java:')" 1
        same "$(matching '^    at java\.lang\.Thread\.run\(')" 1
        same "$(matching '^    at \?')" 0
    done
    events -s -t hidden-class -k monitor_contended_enter
    same "$(matching '^    at HiddenBody[./+]0x[0-9a-f]*\.run\(Hidden\.java:')" 1
    events -s -t hidden-reflect -k monitor_contended_enter
    same "$(matching '^    at java\.lang\.reflect\.Method\.invoke\(')" 1
}

# "generation HASH" of each notify, whose hash is that of the class that its second frame is of, in the text files.
generations_of() { # PREFIX
    awk -F, '
        FILENAME ~ /classtable$/ { if ($3 == "LReloaded$Work;") is[$2] = 1 }
        FILENAME ~ /methods$/ { if ($5 in is) class_of[$2] = $5 }
        FILENAME ~ /orca$/ && $2 == "ObjectNotify" { split($5, f, ";"); print "generation " class_of[f[4]] }
    ' "$1.classtable" "$1.methods" "$1.orca"
}

# Each generation of a class that is loaded again and again is a class of its own: in the definitions, and in the
# stacks of its events.
test_generations_of_a_class() {
    local n=300 gc
    for gc in UseSerialGC UseG1GC; do
        run 0 "$JAVA" -agentpath:"$AGENT"=file=app,format=orca,quiet -XX:+$gc -Xmx64m -cp "$CLASSES" Reloaded $n
        same "$(sort -u out | wc -l)" $n # else hashes were equal by chance
        same "$(grep ',LReloaded$Work;,' app.classtable | cut -d, -f2 | sort -u | wc -l)" $n
        # A class of the JDK may have come to the same hash: the later one of the two gets a number, from 80000001 on.
        generations_of app | uniq -c | sed 's/^ *//; s/ 8[0-9A-F]\{7\}$/ taken/' >got
        awk -F, 'FILENAME ~ /classtable$/ { if ($3 != "LReloaded$Work;") taken[$2] = 1; next }
            { split($0, w, " "); print "3 generation " (w[2] in taken ? "taken" : w[2]) }' app.classtable out >wanted
        cmp got wanted || fail "$(diff got wanted | head -20)"
    done
}
