# Makes the Markdown table of docs/overhead.md from overhead.tsv (see overhead.sh):  awk -f overhead.awk overhead.tsv
#
# Each cell: median over the rounds, quartiles in brackets. Ratios are taken within a round (both ran within seconds of
# each other), then: median of the ratios and its 95 % interval by the sign test, which assumes nothing about how the
# times are spread. "within": ratio over the empty plugin at most 1.03, or, if larger, the spread of the empty plugin.
BEGIN { FS = "\t" }
NR == 1 { for (c = 5; c <= NF; c++) column[c] = $c; columns = NF; next }
{
    if (!($2 in seen_ranks)) { seen_ranks[$2] = 1; rank_list[++n_ranks] = $2 }
    if (!($3 in seen_variant)) { seen_variant[$3] = 1; variant_list[++n_variants] = $3 }
    if (!($1 in seen_round)) { seen_round[$1] = 1; round_list[++n_rounds] = $1 }
    for (c = 5; c <= NF; c++) t[$2, $3, c, $1] = $c
}

function sort(n,    i, j, v) { # x[1..n]
    for (i = 2; i <= n; i++) {
        v = x[i]
        for (j = i - 1; j > 0 && x[j] > v; j--) x[j + 1] = x[j]
        x[j + 1] = v
    }
}
function quantile(n, q,    at, low) { # of the sorted x
    at = 1 + (n - 1) * q; low = int(at)
    return low >= n ? x[n] : x[low] + (at - low) * (x[low + 1] - x[low])
}
# How many values from each end the 95 % interval of the median leaves out, plus one; 0: too few values for one.
function sign_rank(n,    k, p, sum) {
    p = 2 ^ -n; sum = p
    for (k = 0; sum <= 0.025 && k < n; k++) { p = p * (n - k) / (k + 1); sum += p }
    return k
}
function times(ranks, variant, c,    i, n) {
    n = 0
    for (i = 1; i <= n_rounds; i++)
        if ((ranks, variant, c, round_list[i]) in t) x[++n] = t[ranks, variant, c, round_list[i]] / 1000
    sort(n)
    return n
}
function cell(ranks, variant, c,    n) {
    n = times(ranks, variant, c)
    return n ? sprintf("%.2f [%.2f–%.2f]", quantile(n, .5), quantile(n, .25), quantile(n, .75)) : "–"
}
function ratio(ranks, a, b, c,    i, n, r, k) { # sets ratio_median
    n = 0
    for (i = 1; i <= n_rounds; i++) {
        r = round_list[i]
        if (((ranks, a, c, r) in t) && ((ranks, b, c, r) in t) && t[ranks, b, c, r] > 0)
            x[++n] = t[ranks, a, c, r] / t[ranks, b, c, r]
    }
    ratio_median = 0
    if (!n) return "–"
    sort(n)
    ratio_median = quantile(n, .5)
    k = sign_rank(n)
    return k ? sprintf("%.3f [%.3f–%.3f]", ratio_median, x[k], x[n + 1 - k]) : sprintf("%.3f", ratio_median)
}
function within(ranks, base, c,    n, spread) {
    if (!ratio_median) return "–"
    if (ratio_median <= 1.03) return "yes"
    n = times(ranks, base, c)
    spread = (quantile(n, .75) - quantile(n, .25)) / quantile(n, .5)
    return ratio_median - 1 <= spread ? sprintf("yes, in the noise (%.1f %%)", spread * 100) : "NO"
}
function title(name) {
    gsub(/_/, ", ", name)
    sub(/allreduce/, "all-reduce", name); sub(/sendrecv/, "send/recv", name)
    sub(/sync/, "each waited for", name); sub(/burst/, "100 back to back", name)
    return name
}

END {
    if (!n_rounds) { print "No rounds."; exit }
    # no plugin, empty, ours: whatever order they ran in
    m = split("none nop ours", kinds, " "); n = 0
    for (k = 1; k <= m; k++)
        for (v = 1; v <= n_variants; v++) if (index(variant_list[v], kinds[k]) == 1) order[++n] = variant_list[v]
    for (v = 1; v <= n; v++) variant_list[v] = order[v]
    printf "%d rounds. Times in µs an operation of 64 bytes: median [quartiles] over the rounds.\n\n", n_rounds
    head = "| ranks | operation |"; rule = "|---|---|"
    for (v = 1; v <= n_variants; v++) { head = head " " variant_list[v] " |"; rule = rule "---|" }
    print head; print rule
    for (i = 1; i <= n_ranks; i++)
        for (c = 5; c <= columns; c++) {
            row = "| " rank_list[i] " | " title(column[c]) " |"
            for (v = 1; v <= n_variants; v++) row = row " " cell(rank_list[i], variant_list[v], c) " |"
            print row
        }
    print "\nRatios within a round: median [95 % interval].\n"
    print "| ranks | operation | compared | ratio | within 3 % or the noise |"
    print "|---|---|---|---|---|"
    for (v = 1; v <= n_variants; v++) {
        a = variant_list[v]; kind = a; sub(/:.*/, "", kind)
        events = index(a, ":") ? substr(a, index(a, ":")) : ""
        windows = index(a, "@") # they are compared with no plugin: that is what they are for
        base = windows || kind == "nop" || kind ~ /^none./ ? "none" : kind ~ /^ours/ ? "nop" events : kind ~ /^nop/ ? "nop" events : ""
        if (kind ~ /^ours/ && !(base in seen_variant)) base = "nop"
        if (base == "" || !(base in seen_variant)) continue
        for (i = 1; i <= n_ranks; i++)
            for (c = 5; c <= columns; c++) {
                text = ratio(rank_list[i], a, base, c)
                printf "| %s | %s | %s / %s | %s | %s |\n", rank_list[i], title(column[c]), a, base, text,
                    kind ~ /^ours/ && !windows ? within(rank_list[i], base, c) : ""
            }
    }
}
