#!/bin/sh
# lucene.sh JDK_HOME OUTDIR [--short] [--plain | --recorded] [--gc=NAME]
# Lucene 8 indexing and searching.
#
# Lucene's own benchmark driver adds 4 x 40,000 documents (--short: 4 x 5,000) from four threads,
# merges them and searches with four threads.  The driver's record counts and the number of
# documents in the index, counted by Lucene's CheckIndex, must be exactly these.
set -u
# shellcheck source=tests/workloads/lib.sh
. "${0%/*}/lib.sh"
workload "$@"

each=40000
[ $short = no ] || each=5000
classpath=
for jar in /usr/share/java/lucene-*-8*.jar /usr/share/java/commons-compress.jar \
    /usr/share/java/icu4j.jar; do
    [ -e "$jar" ] || skip "no $jar (Debian: liblucene8-java libcommons-compress-java libicu4j-java)"
    classpath=$classpath:$jar
done

for r in $runs; do
    cat >"$tmp/$r.alg" <<END
work.dir=$tmp/$r
directory=FSDirectory
analyzer=org.apache.lucene.analysis.standard.StandardAnalyzer
content.source=org.apache.lucene.benchmark.byTask.feeds.LongToEnglishContentSource
content.source.forever=true
query.maker=org.apache.lucene.benchmark.byTask.feeds.SimpleQueryMaker
ram.flush.mb=4
doc.stored=true
log.step=1000000
log.queries=false
{ "All"
    ResetSystemErase
    CreateIndex
    [ { "Add" AddDoc } : $each ] : 4
    ForceMerge(1)
    CloseIndex
    OpenReader
    [ { "Find" Search } : 500 ] : 4
    CloseReader
}
RepSumByName
END
    # shellcheck disable=SC2086 # an option or none
    run "$r" 900 "$jdk/bin/java" $gc_option -cp "${classpath#:}" \
        org.apache.lucene.benchmark.byTask.Benchmark "$tmp/$r.alg"
    [ "$status" -eq 0 ] || fail "$r: exit status $status: $(last_words "$r")"
    grep -q 'D O N E' "$out/$r.out" || fail "$r: the benchmark did not finish: $(last_words "$r")"
    for task in "AddDoc $((4 * each)) 1" "Add_$each 4 $each" "Search 2000 1"; do
        # Every other line of the driver's table has " - " between its columns.
        sed 's/ -//g' "$out/$r.out" |
            awk -v want="$task" '$1 " " $3 " " $4 == want { found = 1 } END { exit !found }' ||
            fail "$r: the driver does not report '$task' (task, count, records): $out/$r.out"
    done
    timeout 100 "$jdk/bin/java" -cp "${classpath#:}" org.apache.lucene.index.CheckIndex \
        "$tmp/$r/index" >"$tmp/check" 2>&1 ||
        fail "$r: the index is broken: $(tail -n 1 "$tmp/check")"
    grep -q "maxDoc=$((4 * each))\$" "$tmp/check" ||
        fail "$r: the index does not hold $((4 * each)) documents: $(grep maxDoc "$tmp/check")"
done

case $runs in
*recorded*) check_trace 8 ;; # four that index, four that search
esac
echo "$((4 * each)) documents"
