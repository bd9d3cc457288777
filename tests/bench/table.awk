# table.awk - one table of the benchmark report, in Markdown.
#
#   awk -f table.awk -v section=S -v metric=M [-v compare=diff|ratio -v base=V] [-v format=%.1f] results.tsv
#
# Input: tab-separated section, row, variant, round, metric, value.  A cell is "median (min..max)" over
# the rounds of its row and variant; with `compare`, the median over the rounds of that round's difference
# from (ratio to) the variant `base` follows, so that what slows down a whole round cancels out.
BEGIN {
    FS = "\t"
    if (format == "")
        format = "%.1f"
}
$1 == section && $5 == metric {
    if (!($2 in row_seen)) {
        row_seen[$2] = 1
        row[++rows] = $2
    }
    if (!($3 in column_seen)) {
        column_seen[$3] = 1
        column[++columns] = $3
    }
    key = $2 FS $3
    value[key, ++count[key]] = $6
    at[key, $4] = $6
    last_round = $4 > last_round ? $4 + 0 : last_round
}
END {
    if (!rows)
        exit
    # The variant compared with stands first, whoever ran first.
    for (c = columns; c > 1; c--)
        if (column[c] == base) {
            column[c] = column[c - 1]
            column[c - 1] = base
        }
    line = "| "
    rule = "|---"
    for (c = 1; c <= columns; c++) {
        line = line " | " column[c]
        rule = rule "|---"
    }
    print line " |"
    print rule "|"
    for (r = 1; r <= rows; r++) {
        line = "| " row[r]
        for (c = 1; c <= columns; c++)
            line = line " | " cell(row[r], column[c])
        print line " |"
    }
}
function cell(r, c,    key, n, i, s, text) {
    key = r FS c
    n = count[key]
    if (!n)
        return "-"
    for (i = 1; i <= n; i++)
        s[i] = value[key, i]
    sort(s, n)
    text = sprintf(format, median(s, n))
    if (n > 1)
        text = text sprintf(" (" format ".." format ")", s[1], s[n])
    if (compare != "" && c != base)
        text = text compared(r, c)
    return text
}
function compared(r, c,    n, i, s, mine, other) {
    n = 0
    for (i = 1; i <= last_round; i++) {
        if (!((r FS c, i) in at) || !((r FS base, i) in at))
            continue
        mine = at[r FS c, i]
        other = at[r FS base, i]
        if (compare == "diff")
            s[++n] = mine - other
        else if (other != 0)
            s[++n] = mine / other
    }
    if (!n)
        return ""
    sort(s, n)
    return sprintf(compare == "diff" ? ", **%+.1f**" : ", **× %.2f**", median(s, n))
}
function median(s, n) {
    return n % 2 ? s[(n + 1) / 2] : (s[n / 2] + s[n / 2 + 1]) / 2
}
function sort(s, n,    i, j, v) {
    for (i = 2; i <= n; i++) {
        v = s[i] + 0
        for (j = i - 1; j >= 1 && s[j] + 0 > v; j--)
            s[j + 1] = s[j]
        s[j + 1] = v
    }
}
