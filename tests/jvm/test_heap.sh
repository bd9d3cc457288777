# orca heap: dumps of real JVMs, against what the JVM itself says of its heap.
# timeout: 300

# Starts HeapShapes with the options given, and dumps it to app.hprof; the JVM's histogram is in hist.
dump() { # OPTION...
    "$JAVA" -Xmx256m -Xshare:off "$@" -cp "$CLASSES" HeapShapes >ready 2>err &
    pid=$!
    wait_for 60 grep -q ready ready
    "$JDK/bin/jcmd" $pid GC.class_histogram >first # the first one may load a class
    "$JDK/bin/jcmd" $pid GC.heap_dump -overwrite "$TMP/app.hprof" >/dev/null || fail "no dump"
    "$JDK/bin/jcmd" $pid GC.class_histogram >hist
}

# "class instances bytes" of each class.  What fills gaps in the heap (25) is int[] in a dump.
jvm_lines() {
    awk '$1 ~ /^[0-9]+:$/ { print $4, $2, $3 }' hist | sed -E 's|jdk\.internal\.vm\.FillerElement|I|; s|^\[L(.*); |[\1 |
        s|^\[I |int[] |; s|^\[B |byte[] |; s|^\[C |char[] |; s|^\[J |long[] |; s|^\[D |double[] |
        s|^\[F |float[] |; s|^\[S |short[] |; s|^\[Z |boolean[] |
        :again; s|^(\[*)\[([^ \[]*)( .*)|\1\2[]\3|; t again' |
        sed 's|^B\[\]|byte[]|; s|^I\[\]|int[]|; s|^J\[\]|long[]|; s|^C\[\]|char[]|; s|^D\[\]|double[]|; s|^S\[\]|short[]|; s|^Z\[\]|boolean[]|; s|^F\[\]|float[]|'
}
orca_lines() {
    "$ORCA" heap --classes --top 100000 --json app.hprof >json || fail "orca heap failed"
    tr -d ' "\n' <json | sed 's/},{/\n/g' | sed -nE 's/.*class:([^,]*),.*instances:([0-9]+),bytes:([0-9]+).*/\1 \2 \3/p'
}

# Sums by class, without class loaders' copies; the JVM's own threads go on a little between dump and
# histogram, so that a few small objects may differ, but no size of one object.
agree() {
    jvm_lines | awk '{ n[$1] += $2; b[$1] += $3 } END { for (c in n) print c, n[c], b[c] }' | sort >jvm.txt
    orca_lines | awk '{ n[$1] += $2; b[$1] += $3 } END { for (c in n) print c, n[c], b[c] }' | sort >orca.txt
    [ "$(wc -l <orca.txt)" -gt 100 ] || fail "few classes"
    join jvm.txt orca.txt >both.txt
    # One object's size is exact; only Class objects and int[] may be more in one of both.
    awk '$1 != "java.lang.Class" && $1 !~ /\[\]$/ && $2 > 0 && $4 > 0 && $3 / $2 != $5 / $4 { print }' both.txt >sizes
    [ -s sizes ] && { cat sizes; fail "sizes of instances differ"; }
    awk '$2 != $4 || $3 != $5 { print }' both.txt >differ
    [ "$(wc -l <differ)" -le 8 ] || { cat differ; fail "classes differ"; }
    for c in 'HeapShapes$Entry' 'HeapShapes$Small' 'java.lang.Integer' 'java.util.ArrayList' 'double[]'; do
        line=$(grep -F "$c " jvm.txt | head -n 1)
        grep -qxF "$line" orca.txt || fail "$c: $line"
    done
}

test_agrees_with_the_jvm_g1() { dump -XX:+UseG1GC; agree; }
test_agrees_with_the_jvm_parallel() { dump -XX:+UseParallelGC; agree; }
test_agrees_with_the_jvm_z() { dump -XX:+UseZGC; agree; }
test_agrees_with_the_jvm_serial_full_references() { dump -XX:+UseSerialGC -XX:-UseCompressedOops; agree; }
test_agrees_with_the_jvm_compact_headers() {
    need_jdk 25
    dump -XX:+UseCompactObjectHeaders
    agree
}

test_compressed_is_the_same() {
    dump -XX:+UseSerialGC
    kill -STOP $pid
    orca_lines >plain.txt
    gzip -k app.hprof
    "$ORCA" heap app.hprof >plain || fail "orca heap"
    "$ORCA" heap app.hprof.gz >packed || fail "orca heap of .gz"
    same "$(tail -n +3 plain | md5sum)" "$(tail -n +3 packed | md5sum)"
}

test_blocks_of_the_jvm() {
    dump
    "$JDK/bin/jcmd" $pid GC.heap_dump -overwrite -gz=1 "$TMP/app.hprof.gz" >/dev/null || fail "no dump"
    run 0 "$ORCA" heap "$TMP/app.hprof.gz"
    has out 'HeapShapes$Entry'
}

test_what_the_program_keeps() {
    dump
    run 0 "$ORCA" heap app.hprof
    has out 'class HeapShapes'
    id=$("$ORCA" heap --dominators app.hprof | awk '/class HeapShapes/ { print $(NF - 2); exit }')
    run 0 "$ORCA" heap --children "$id" app.hprof
    has out 'java.util.HashMap'
    has out 'double[12345]'
    doubles=$(awk '/double\[12345\]/ { print $(NF - 1) }' out)
    run 0 "$ORCA" heap --path "$doubles" app.hprof
    has out 'static doubles'
}

test_cut_short() {
    dump
    size=$(wc -c <app.hprof)
    for part in 20 50 80 99; do
        cut=$((size * part / 100))
        head -c $cut app.hprof >cut.hprof
        run 1 "$ORCA" heap --suspects --dominators --threads cut.hprof
        has out 'At least'
        has out "$(printf 'truncated at offset 0x%x' $cut)"
        same "$(grep -c 'Unknown, because the dump is incomplete' out)" 2
        has err 'orca heap dump PID'
        same "$(grep -cE ' keeps [0-9]' out)" 0
        lacks out 'not reachable from the roots'
        run 1 "$ORCA" heap --suspects --dominators --json cut.hprof
        has out '"suspects": null'
        has out '"dominators": null'
    done
    run 1 "$ORCA" heap --diff cut.hprof app.hprof
    has out 'Orca cannot say what has grown: cut.hprof'
    lacks out 'Grown'
    head -c -9 app.hprof >cut.hprof # without the end record nothing else is missing
    run 1 "$ORCA" heap --suspects cut.hprof
    has out 'Unknown, because the dump is incomplete'
}

# --- TPTP's XML ------------------------------------------------------------------------------------------

# "class instances bytes retained" of the program's own classes.
own_lines() { # FILE
    "$ORCA" heap --classes --dominators --top 100000 --json "$1" >json || fail "orca heap $1"
    tr -d ' "\n' <json | sed 's/},{/\n/g' |
        sed -nE 's/.*class:(HeapShapes[^,]*),.*instances:([1-9][0-9]*),bytes:([0-9]+),retained:([0-9]+).*/\1 \2 \3 \4/p' | sort
}

# What the XML says is what HotSpot's own dump of the same heap says.
test_xml() {
    dump
    run 0 "$ORCA" heap dump $pid --to tptp -o heap.trcxml
    own_lines app.hprof >binary.txt
    own_lines heap.trcxml >xml.txt
    [ "$(wc -l <binary.txt)" -ge 3 ] || fail "$(cat binary.txt)"
    same "$(cat xml.txt)" "$(cat binary.txt)"
    run 0 "$ORCA" heap --dominators --threads --strings heap.trcxml
    has out 'This dump is XML'
    has out '"main" 0x'
    has out 'Unknown, because an XML dump has no contents'
    id=$(awk '/class HeapShapes/ { print $(NF - 2); exit }' out)
    run 0 "$ORCA" heap --children "$id" heap.trcxml
    has out 'HeapShapes$Entry' # the map is a frame's, too, as JVMTI sees it
    run 0 "$ORCA" heap --path "$(awk '/double\[\]/ { print $(NF - 1); exit }' out)" heap.trcxml
    has out 'static doubles'
    head -c 2000000 heap.trcxml >cut.trcxml
    run 1 "$ORCA" heap --suspects cut.trcxml
    has err 'cut.trcxml: line '
    has out 'Unknown, because the dump is incomplete'
}
