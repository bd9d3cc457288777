# ratios.awk - the table of `against`: awk -f ratios.awk COSTLIER FIGURES
#
# FIGURES: "FIGURE PAIR ROUND THIS THAT", separated by tabs.  A pair's ratio is that of the lower quartiles of its
# rounds; the figure's is the median of its pairs' ratios; its interval is between two of these ratios, the
# narrowest pair of ranks (k, n + 1 - k) that has the true median inside in 95 of 100 cases, whatever the
# distribution.  Fewer than FEW pairs have no such ranks: all of them are shown, and nothing is concluded, except from
# counts of instructions, which are exact.
# COSTLIER: see there.  Exit status 1: an interval lies above LIMIT and above what COSTLIER allows.
BEGIN { FS = "\t"; LIMIT = 1.10; FEW = 6 }

FILENAME == ARGV[1] {
    if (/^#|^$/)
        next
    pattern[++listed] = $1; allowed[listed] = $2; reason[listed] = $3
    next
}
{
    if (!($1 in n_pairs)) { order[++n_figures] = $1; n_pairs[$1] = 0 }
    if (!(($1, $2) in rounds)) pair_of[$1, ++n_pairs[$1]] = $2
    i = ++rounds[$1, $2]
    a[$1, $2, i] = $4 + 0; b[$1, $2, i] = $5 + 0
}

function sort_values(v, n,    i, j, x) {
    for (i = 2; i <= n; i++) {
        x = v[i]
        for (j = i - 1; j >= 1 && v[j] > x; j--) v[j + 1] = v[j]
        v[j + 1] = x
    }
}

# The lower quartile of one side's rounds.
function quartile(side, f, p,    n, i, v) {
    n = rounds[f, p]
    for (i = 1; i <= n; i++) v[i] = side == "a" ? a[f, p, i] : b[f, p, i]
    sort_values(v, n)
    return v[int((n + 3) / 4)]
}

function median(v, n) { return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2 }

# The greatest k with P(fewer than k of n lie below the median) at most 0.025, at least 1.
function rank(n,    k, sum, term) {
    term = 0.5 ^ n; sum = term
    for (k = 1; k < n / 2; k++) {
        term *= (n - k + 1) / k; sum += term
        if (sum > 0.025) break
    }
    return k
}

# A pattern of shell: only * means something.
function matches(name, glob) {
    gsub(/[.()+?\[\]{}|^$]/, "\\\\&", glob)
    gsub(/\*/, ".*", glob)
    return name ~ "^" glob "$"
}

function listed_as(f,    i) {
    for (i = 1; i <= listed; i++)
        if (matches(f, pattern[i])) return i
    return 0
}

function show(x) { return x >= 1e6 ? sprintf("%.1f ms", x / 1e6) : x >= 1e4 ? sprintf("%.1f us", x / 1e3) : sprintf("%.1f", x) }

END {
    printf "%-44s %12s %12s   %s\n", "", "this", "that", "ratio (interval)"
    for (f = 1; f <= n_figures; f++) {
        name = order[f]; n = n_pairs[name]
        for (i = 1; i <= n; i++) {
            p = pair_of[name, i]
            qa[i] = quartile("a", name, p); qb[i] = quartile("b", name, p)
            r[i] = qb[i] > 0 ? qa[i] / qb[i] : 1
        }
        sort_values(r, n); sort_values(qa, n); sort_values(qb, n)
        k = rank(n); low = r[k]; high = r[n + 1 - k]; word = ""
        if (n < FEW && name !~ /, instructions$/)
            word = "  too few"
        else if (low > LIMIT) {
            i = listed_as(name)
            word = i && low <= allowed[i] ? "  listed: " reason[i] : "  COSTLIER"
            if (word ~ /COSTLIER/) failed = 1
        } else if (high < 1 / LIMIT)
            word = "  less"
        printf "%-44s %12s %12s   %.2f (%.2f..%.2f)%s\n", name, show(median(qa, n)), show(median(qb, n)), median(r, n), low, high, word
    }
    exit failed
}
