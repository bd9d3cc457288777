#!/bin/sh
# trimmomatic.sh JDK_HOME OUTDIR [--short] [--plain | --recorded] [--gc=NAME]
# Trimmomatic: blocks of reads through bounded queues.
#
# Trims 400,000 made reads (--short: 40,000) with four worker threads, a reader and a writer.  The
# trimmed reads and the statistics must be the same with and without the agent.
set -u
# shellcheck source=tests/workloads/lib.sh
. "${0%/*}/lib.sh"
workload "$@"
groups=all

jar=/usr/share/java/trimmomatic.jar
[ -e $jar ] || skip "no $jar (Debian: trimmomatic)"
reads=400000
[ $short = no ] || reads=40000
# Bases and qualities from a linear congruential generator: the same on each machine.
awk -v n=$reads 'BEGIN {
    for (i = 0; i < 64; i++) {
        x = (x * 1103 + 12345) % 65536
        tail = tail substr("ACGT", x % 4 + 1, 1)
    }
    for (r = 1; r <= n; r++) {
        seq = qual = ""
        for (i = 0; i < 40; i++) {
            x = (x * 25173 + 13849) % 65536
            seq = seq substr("ACGT", int(x / 64) % 4 + 1, 1)
            qual = qual substr("(7<AFFIII", int(x / 1024) % 9 + 1, 1)
        }
        printf "@r%d\n%s%s\n+\n%s%s\n", r, seq, substr(tail, x % 8 + 1, 40), qual, qual
    }
}' >"$tmp/in.fastq"

cd "$tmp" || exit 1
for r in $runs; do
    # shellcheck disable=SC2086 # an option or none
    run "$r" 300 "$jdk/bin/java" $gc_option -cp $jar \
        org.usadellab.trimmomatic.TrimmomaticSE -threads 4 -phred33 in.fastq out.fastq \
        LEADING:10 TRAILING:10 SLIDINGWINDOW:4:18 MINLEN:20
    [ "$status" -eq 0 ] || fail "$r: exit status $status: $(last_words "$r")"
    lines=$(wc -l <out.fastq)
    [ "$lines" -ge 400 ] || fail "$r: only $lines lines of output"
    cksum <out.fastq >>"$out/$r.out"
done
same_output
case $runs in
*recorded*)
    check_trace 7
    check_readers
    ;;
esac
echo "$reads reads, $((lines / 4)) left"
