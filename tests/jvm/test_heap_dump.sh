# orca heap dump: a running JVM's heap in a file that is whole or not there (Heaped.java).
# timeout: 300
. "$ROOT/tests/jvm/traced.sh"

launch() { # [JVM-OPTION...] -- [ARGUMENT...]
    launch_told Heaped "$@"
}

nothing_left() { # FOLDER
    same "$(ls -A "$1")" ""
}

# The header and the end of an HPROF file: it is whole (Heap Dump End is the last record).
whole() { # FILE
    same "$(head -c 18 "$1" | tr -d '\0')" "JAVA PROFILE 1.0.2"
    same "$(tail -c 9 "$1" | od -An -t x1 | cut -c 1-3)" " 2c"
}

dumps() { # JVM-OPTION...
    launch "$@" --
    mkdir d
    run 0 "$ORCA" heap dump "$jvm" -o d/heap.hprof
    has err "JVM $jvm (Heaped) makes a full collection first"
    grep -q '^orca: d/heap.hprof: .*B in ' err || fail "$(cat err)"
    whole d/heap.hprof
    same "$(ls -A d)" heap.hprof
    same "$(stat -c '%a %u' d/heap.hprof)" "600 $(id -u)"
    run 1 "$ORCA" heap dump "$jvm" -o d/heap.hprof
    has err "orca: d/heap.hprof already exists: name another file, or --force replaces it"
    run 0 "$ORCA" heap dump "$jvm" -o d/heap.hprof --force --all
    lacks err "a full collection"
    whole d/heap.hprof
    run 0 "$ORCA" heap dump "$jvm" --gz -o "$TMP/d/heap.gz"
    gzip -dc d/heap.gz >d/unpacked
    whole d/unpacked
    run 0 "$ORCA" heap dump "$jvm" --gz=9
    gzip -t "heap-$jvm.hprof.gz"
    same "$(ls -A d | tr '\n' ' ')" "heap.gz heap.hprof unpacked "
}
test_g1() { dumps -XX:+UseG1GC; }
test_parallel() { dumps -XX:+UseParallelGC; }
test_z() { dumps -XX:+UseZGC -Xmx128m; }

# --- TPTP's XML ------------------------------------------------------------------------------------------

# The number of the class, or of the only object of a class.
class_of() { # NAME
    sed -n "s|^<classDef name=\"$1\" sourceName=\"\" classId=\"\([0-9]*\)\".*|\1|p" d/heap.trcxml
}
objects_of() { # CLASS-NAME
    sed -n "s|^<objDef objId=\"\([0-9]*\)\" .*classIdRef=\"$(class_of "$1")\"/>|\1|p" d/heap.trcxml
}
# What the reference of this kind and field or index leads to.
target() { # OBJECT ATTRIBUTES
    sed -n "s|^<objReference heapDumpIdRef=\"1\" srcIdRef=\"$1\" targetIdRef=\"\([0-9]*\)\" $2/>|\1|p" d/heap.trcxml
}
field() { # OBJECT NAME
    target "$1" "type=\"FIELD\" fieldName=\"$2\""
}
static() { # CLASS NAME
    target "$(class_of "$1")" "type=\"STATIC_FIELD\" fieldName=\"$2\""
}

graph_is_right() {
    xmllint --noout --dtdvalid "$ROOT/docs/reference/orca-tptp.dtd" d/heap.trcxml 2>err || fail "$(head -n 3 err)"
    local outer inner leaf trouble
    outer=$(static 'Heaped' root)
    inner=$(field "$outer" of)
    leaf=$(field "$inner" of)
    same "$leaf" "$(objects_of 'Heaped$Leaf')"
    same "$(field "$leaf" self)" "$leaf"
    same "$(static 'Heaped$Leaf' shared)" "$inner"
    same "$(target "$(static Heaped row)" 'type="ARRAY_ELEMENT" index="0"')" "$leaf"
    same "$(target "$(static Heaped row)" 'type="ARRAY_ELEMENT" index="1"')" ""
    same "$(objects_of '\[I' | grep -cx "$(field "$leaf" numbers)")" 1
    trouble=$(static 'Heaped$Trouble' last)
    same "$trouble" "$(objects_of 'Heaped$Trouble')"
    same "$(field "$trouble" why)" "$inner"
    grep -q "^<gcRoot heapDumpIdRef=\"1\" objIdRef=\"[0-9]*\" type=\"JAVA_FRAME\" threadIdRef=\"[0-9]*\" frame=\"[0-9]*\"/>" d/heap.trcxml ||
        fail "no root in a frame"
    # every id is defined once, and before it is used
    LC_ALL=C awk '
        function value(name, s) { s = $0; sub(".* " name "=\"", "", s); sub("\".*", "", s); return s }
        /^<objDef / { if ((o = value("objId")) in known) print "twice: " $0; known[o] = 1 }
        /^<gcRoot / { if (!(value("objIdRef") in known)) print "unknown: " $0 }
        /^<objReference / { if (!(value("srcIdRef") in known) || !(value("targetIdRef") in known)) print "unknown: " $0 }
    ' d/heap.trcxml >wrong
    [ ! -s wrong ] || fail "$(head -n 3 wrong)"
}

graph() { # JVM-OPTION...
    command -v xmllint >/dev/null || skip "needs xmllint"
    mkdir d
    launch "$@" --
    run 0 "$ORCA" heap dump "$jvm" --to tptp -o d/heap.trcxml
    graph_is_right
    run 0 "$ORCA" status "$jvm"
    has out "recorded    no"
    # recorded objects keep their numbers, and nothing of a walk stays
    run 0 "$ORCA" attach "$jvm" -o "$TRACE" -e threads+alloc+frees
    say a allocated
    for _ in 1 2; do
        run 0 "$ORCA" heap dump "$jvm" --to tptp -o d/heap.trcxml --force
        graph_is_right
    done
    run 0 "$ORCA" detach "$jvm"
    events
    same "$(objects_of 'Heaped$Late')" "$(sed -n 's/.* object_alloc object=\([0-9]*\) class=Heaped\$Late .*/\1/p' events)"
    run 1 "$ORCA" heap dump "$jvm" --to tptp --objects 1000 -o d/few.trcxml
    has err "the heap has more than 1000 objects: allow more with --objects N"
    run 2 "$ORCA" heap dump "$jvm" --to tptp --all
    same "$(ls -A d)" heap.trcxml
    lacks java.err Exception
    say d dropped
}
test_tptp_g1() { graph -XX:+UseG1GC; }
test_tptp_parallel() { graph -XX:+UseParallelGC; }
test_tptp_z() { graph -XX:+UseZGC -Xmx128m; }
test_tptp_interpreted() { graph -Xint -Xcheck:jni; }

# --- mistakes ------------------------------------------------------------------------------------------

test_mistakes() {
    launch --
    mkdir d
    run 1 "$ORCA" heap dump "$jvm" -o no/such/heap.hprof
    has err "no/such: there is no such folder"
    run 1 "$ORCA" heap dump "$jvm" -o d
    has err "d is a folder: name a file in it"
    run 1 "$ORCA" heap dump "$jvm" -o d/
    has err "d/ is a folder: name a file in it"
    run 2 "$ORCA" heap dump "$jvm" --gz=10
    run 2 "$ORCA" heap dump "$jvm" --gz --to tptp
    run 2 "$ORCA" heap dump
    run 2 "$ORCA" heap dump x
    run 1 "$ORCA" heap dump 999999999
    has err "there is no process"
    run 1 "$ORCA" heap dump $$
    nothing_left d
    kill -STOP "$jvm"
    run 1 "$ORCA" heap dump "$jvm" -o d/heap.hprof
    has err "is stopped: resume it with 'kill -CONT $jvm'"
    kill -CONT "$jvm"
    nothing_left d
    [ "$(id -u)" = 0 ] || {
        chmod 500 d
        run 1 "$ORCA" heap dump "$jvm" -o d/heap.hprof
        has err "no file can be made in its folder"
    }
}

# A JVM of another user may not write here.
test_not_allowed() {
    [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null || skip "needs root and setpriv"
    mkdir d
    chmod 755 d
    mkfifo in
    : >java.out
    (cd /tmp && exec setpriv --reuid 65534 --regid 65534 --clear-groups "$JAVA" -Xmx64m -cp "$CLASSES" Heaped) <in >java.out 2>&1 &
    exec 9>in
    wait_for 60 grep -q '^ready' java.out
    jvm=$!
    run 1 "$ORCA" heap dump "$jvm" -o d/heap.hprof
    has err "could not write the dump: Permission denied; name a file in a folder where the JVM's user may write"
    nothing_left d
    chmod 777 d
    run 0 "$ORCA" heap dump "$jvm" -o d/heap.hprof
    same "$(stat -c '%a %u' d/heap.hprof)" "600 65534"
}

test_disk_full() {
    mkdir d
    mount -t tmpfs -o size=4m tmpfs d 2>/dev/null || skip "no tmpfs can be mounted"
    launch -- 16
    run 1 "$ORCA" heap dump "$jvm" -o d/heap.hprof
    mv err hprof.err
    run 1 "$ORCA" heap dump "$jvm" --to tptp -o d/heap.trcxml
    has err "d/heap.trcxml: JVM $jvm (Heaped) could not write the dump: No space left on device; make room"
    mv hprof.err err
    local left
    left=$(ls -A d)
    umount d
    grep -q "d/heap.hprof: JVM $jvm (Heaped) could not write the dump: .*No space left on device; make room" err || fail "$(cat err)"
    same "$left" ""
    run 0 "$ORCA" heap dump "$jvm" -o d/heap.hprof
}

# Killed or stopped in the middle: no half file. A pipe as wide as the terminal is not needed: the file itself says
# when it has begun.
interrupted() { # MB OPTIONS SIZE COMMAND...
    local mb=$1 options=$2 size=$3
    shift 3
    mkdir d
    launch_told Heaped -Xmx1g -- "$mb"
    # shellcheck disable=SC2086 # OPTIONS is a list
    "$ORCA" heap dump "$jvm" $options -o d/heap 2>err &
    local dump=$!
    wait_for 60 eval "[ -n \"\$(find d -type f -size +$size)\" ]"
    eval "$*"
    wait "$dump"
    dump_status=$?
}
test_killed_jvm() {
    interrupted 500 --gz=9 0c 'kill -KILL $jvm'
    same "$dump_status" 1
    has err "JVM $jvm (Heaped) ended during the dump: the incomplete file was removed"
    nothing_left d
}
test_killed_jvm_tptp() {
    interrupted 200 '--to tptp' 1000k 'kill -KILL $jvm'
    same "$dump_status" 1
    has err "JVM $jvm (Heaped) ended during the dump: the incomplete file was removed"
    nothing_left d
}
test_stopped_jvm() {
    interrupted 500 --gz=9 0c 'kill -STOP $jvm'
    kill -CONT "$jvm"
    same "$dump_status" 1
    has err "JVM $jvm (Heaped) was stopped during the dump, which is abandoned"
    wait_for 60 nothing_left d
}
test_interrupted() {
    interrupted 500 --gz=9 0c 'kill -INT $dump'
    same "$dump_status" 130
    wait_for 60 nothing_left d
}
# The agent writes on for a while, into a file that has no name; then the JVM is as it was (and half a minute later
# without the agent).
test_interrupted_tptp() {
    interrupted 200 '--to tptp' 1000k 'kill -INT $dump'
    same "$dump_status" 130
    nothing_left d
    wait_for 60 eval "! ls -l /proc/$jvm/fd | grep -qF '$PWD/d/'"
    nothing_left d
    run 0 "$ORCA" heap dump "$jvm" --to tptp -o d/heap.trcxml
    same "$(tail -n 1 d/heap.trcxml) $(ls -A d)" "</TRACE> heap.trcxml"
    say a allocated
    lacks java.err Exception
}
finish() {
    umount "$TMP/d" 2>/dev/null
    leave_no_jvm
}
