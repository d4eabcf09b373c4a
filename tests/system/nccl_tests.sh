#!/bin/bash
# Tables of nccl-tests: what a run reached laid out like them, against the truth of synthetic runs and `ops --json`; their
# output as a reference, with shares worked out by hand; what info and explain say of such files; wrong usage.
# sanitizers: address
set -u
# shellcheck source=tests/said.sh
source "$(dirname "$0")/../said.sh"
data=$(dirname "$0")/../data/nccl_tests

run=$TMP/run
"$RINGSCOPE" gen -n 8 --hosts 2 -w mix --steps 6 --slow 5:2000 -o "$run" >/dev/null || exit 1
"$RINGSCOPE" report --table nccl-tests "$run" >"$TMP/table" || bad=1
"$RINGSCOPE" report --json "$run" >"$TMP/report" || bad=1
"$RINGSCOPE" ops --json "$run" >"$TMP/ops" || bad=1

# ---- the table ----

# Every line is a comment or has nine columns, as the heading says.
is "columns" "$(grep -v '^#' "$TMP/table" | awk '{ print NF }' | sort -u)" 9
is "heading" "$(grep -c '^#       size         count      type   redop    root     time   algbw   busbw  #wrong$' "$TMP/table")" \
    "$(grep -c '^# Collective: ' "$TMP/table")"
is "devices" "$(grep -c '^#  Rank  [0-7] Group  0 Pid  *[0-9]* on  *node0[01] device  [0-3] \[' "$TMP/table")" 8
"$RINGSCOPE" report --table nccl-tests "$data/../h200-ddp" 2>/dev/null | grep '^#  Rank' | awk '{ print $3 }' >"$TMP/ranks"
is "devices by rank" "$(paste -sd' ' "$TMP/ranks")" "0 1 2 3"
is "header says what time is" "$(grep -c "^# time: the mean transfer of the operations" "$TMP/table")" 1
# Rows by function, ranks and size: from the operations themselves, not from the report. Pairs are one send each.
jq -rs '[.[] | select(.bytes != null and .transfer_ns != null and .transfer_ns > 0 and .fanout == null)]
    | group_by([.func, .nranks, .bytes])[]
    | [.[0].func, .[0].nranks, .[0].bytes, (map(.transfer_ns) | add / length / 1000 * 100 | round / 100)] | @tsv' "$TMP/ops" |
    sort >"$TMP/wanted"
awk '/^# Collective: / { f = $0; sub(/.*\(/, "", f); for (i = 1; i < NF; i++) { if ($i == "nranks") n = $(i + 1); if ($i ~ /^\(/) fn = substr($i, 2) } next }
    /^#/ { next } { print fn "\t" n "\t" $1 "\t" $6 + 0 }' "$TMP/table" | sort >"$TMP/got"
awk -F'\t' 'NR == FNR { t[$1, $2, $3] = $4; n++; next }
    !(($1, $2, $3) in t) { print "row that no operation has: " $0; bad = 1; next }
    { d = $4 - t[$1, $2, $3]; seen++; if (d > 0.02 || d < -0.02) { print "time: " $0 ", not " t[$1, $2, $3]; bad = 1 } }
    END { if (seen < 8) { print seen " rows compared"; bad = 1 }; exit bad }' "$TMP/wanted" "$TMP/got" || bad=1
# By hand, of the row's own numbers: algbw = size / time, busbw = algbw * 2 (n - 1) / n.
awk '/^# Collective: all_reduce_perf nranks 8 / { on = 1; next } /^# Collective/ { on = 0 } /^#/ || !on { next }
    { a = $1 / $6 / 1000; b = a * 1.75; rows++; if ($7 - a > 0.011 || a - $7 > 0.011 || $8 - b > 0.011 || b - $8 > 0.011) { print "bandwidth: " $0; bad = 1 }
      if ($2 * 4 != $1 || $3 != "float" || $4 != "n/a" || $5 != -1 || $9 != "N/A") { print "row: " $0; bad = 1 } }
    END { if (!rows) print "no all-reduce on 8 ranks"; exit bad || !rows }' "$TMP/table" || bad=1
is "count of an all-gather is of one rank" "$(awk '/^# Collective: all_gather_perf nranks 2 / { on = 1; next } /^# Collective/ { on = 0 } on && !/^#/ { print $1 / $2 }' "$TMP/table" | sort -u)" 2
# Both times are in the JSON.
is "mean as seen" "$(jq '[.by_func[] | select(.time_ns.mean == null or ((.time_ns.mean - .total_ns / (.calls * .nranks)) | fabs) > 1)
    | select(.func != "SendRecv")] | length' "$TMP/report")" 0
is "root only where there is one" "$(jq -c '[.by_func[] | select(.root != null)]' "$TMP/report")" '[]'
# Filters.
is "one function" "$("$RINGSCOPE" report --table nccl-tests --func ReduceScatter "$run" | grep '^# Collective' | cut -d' ' -f3)" reduce_scatter_perf
is "nothing left" "$("$RINGSCOPE" report --table nccl-tests --from 0s --to 1ns "$run" | tail -1)" "# no operations to report"
# By communicator: each of the four of two ranks has its own heading.
is "by communicator" "$("$RINGSCOPE" report --table nccl-tests --by comm --func ReduceScatter "$run" | grep -c '^# Collective: reduce_scatter_perf nranks 2 (ReduceScatter on 0x')" \
    "$("$RINGSCOPE" report --json --by comm --func ReduceScatter "$run" | jq '[.by_func[].comm] | unique | length')"
# Tools that tell no sizes, or no times.
is "no sizes" "$("$RINGSCOPE" report --table nccl-tests "$data/../nvprof/nvprof_gpu_trace.txt" 2>/dev/null | grep -c '^# .*: size not known$')" 1
is "no times" "$("$RINGSCOPE" report --table nccl-tests "$data/../flight/ddp4" 2>/dev/null | grep -c ': time not known$')" \
    "$("$RINGSCOPE" report --json "$data/../flight/ddp4" 2>/dev/null | jq '.by_func | length')"

# ---- the reference ----

share() { # FILTER FIELD: of the report in $TMP/held
    jq -c "[.by_func[] | select($1) | $2]" "$TMP/held"
}
# The table of a run, as the reference of the same run: all of it is reached, to the digits that are printed.
"$RINGSCOPE" report --json --reference "$TMP/table" "$run" >"$TMP/held" || bad=1
is "its own table" "$(share '.func != "SendRecv"' '(.reached_share - 1 | fabs) < 0.005' | tr -d '[]' | tr , '\n' | sort -u)" true
# ---- a roofline: shares of a nominal rate, and a picture of the same numbers ----
"$RINGSCOPE" report --json --link 50 --reference "$TMP/table" -o "$TMP/roof.svg" "$run" >"$TMP/roof" || bad=1
is "shares of a link" "$(jq -c '[.by_func[] | [.link_share, .busbw_gbs, .link_share_seen, .busbw_seen_gbs]
    | (.[0] == null) == (.[1] == null) and (.[0] == null or (.[0] * 50 - .[1] | fabs) < 1e-9)
    and (.[2] == null or (.[2] * 50 - .[3] | fabs) < 1e-9)] | [length > 5, all]' "$TMP/roof")" '[true,true]'
is "no link" "$(jq -c '[.by_func[] | .link_share, .link_share_seen] | unique' "$TMP/report")" '[null]'
# Each row with a size and a bandwidth is a mark with its numbers.
is "marks" "$(grep -o '<title>[^<]* GB/s after the last start' "$TMP/roof.svg" | wc -l)" \
    "$(jq '[.by_func[] | select(.bytes != null and (.busbw_gbs != null or .busbw_seen_gbs != null))] | length' "$TMP/roof")"
is "a line of the reference" "$(grep -c 'line: reference' "$TMP/roof.svg")$(grep -c 'dotted: nominal' "$TMP/roof.svg")" 11
# The highest and the lowest filled mark are a decade of the axis apart per factor of ten.
! command -v python3 >/dev/null || python3 - "$TMP/roof.svg" "$TMP/roof" <<'END' || bad=1
import json, math, re, sys, xml.etree.ElementTree as tree
svg = tree.parse(sys.argv[1]).getroot()
rows = [r for r in json.load(open(sys.argv[2]))["by_func"] if r["busbw_gbs"]]
labels = {}
for t in svg.iter("{http://www.w3.org/2000/svg}text"):
    if t.get("text-anchor") == "end": labels[float(t.text)] = float(t.get("y")) - 4
low, high = min(labels), max(labels)
scale = (labels[low] - labels[high]) / math.log10(high / low)
marks = []
for g in svg.iter("{http://www.w3.org/2000/svg}g"):
    title = g.find("{http://www.w3.org/2000/svg}title")
    boxes = [p for p in g if p.tag.endswith(("rect", "path"))]
    if title is not None and "after the last start" in title.text and " ? GB/s after" not in title.text:
        m = re.match(r"M?([\d.]+)[ ,]([\d.]+)", boxes[-1].get("d") or f'{boxes[-1].get("x")} {boxes[-1].get("y")}')
        marks.append(float(m.group(2)) + 3.5)
want = sorted(labels[low] - scale * math.log10(r["busbw_gbs"] / low) for r in rows)
apart = max(abs(a - b) for a, b in zip(sorted(marks), want))
if len(marks) != len(want) or apart > 0.2: sys.exit(f"marks of the picture: {len(marks)} of {len(want)}, {apart} px apart")
END
"$RINGSCOPE" report -o "$TMP/roof.svg" "$run" >/dev/null 2>"$TMP/err"
is "not overwritten" "$? $(grep -c 'exists already' "$TMP/err")" "1 1"

is "sends" "$(share '.func == "SendRecv"' .reference_lacks | jq -c unique)" '["likeness"]'
is "no reference" "$(jq -c '[.reference, ([.by_func[] | .possible_busbw_gbs, .reached_share, .reference_lacks] | unique[])]' "$TMP/report")" '[null,null]'
# By hand: 2 MiB lies half way between 1 (71.4) and 4 MiB (142.8), 8 MiB half way between that and 16 MiB (214.2). No table
# of 4 or 2 ranks has an all-reduce; 4 KiB is below all sizes; the type of the reduce-scatter fits, 8 MiB is above its sizes.
"$RINGSCOPE" report --json --reference "$data/all_reduce.txt" --reference "$data/several.log" --reference "$data/all_gather_perf-old.txt" \
    --reference "$data/all_to_all.json" "$run" >"$TMP/held" 2>"$TMP/err" || bad=1
possible() { share "$1" '(.possible_busbw_gbs // 0) * 1000 | round' | jq -c unique; }
is "2 MiB" "$(possible '.func == "AllReduce" and .nranks == 8 and .bytes == 2097152')" '[107100]'
is "4 MiB" "$(possible '.func == "AllReduce" and .nranks == 8 and .bytes == 4194304')" '[142800]'
is "8 MiB" "$(possible '.func == "AllReduce" and .nranks == 8 and .bytes == 8388608')" '[178500]'
is "shares" "$(share '.possible_busbw_gbs != null' '((.busbw_gbs / .possible_busbw_gbs - .reached_share) | fabs) < 1e-9 and
    ((.busbw_seen_gbs / .possible_busbw_gbs - .reached_share_seen) | fabs) < 1e-9' | jq -c unique)" '[true]'
is "lacks" "$(jq -c '[.by_func[] | select(.reference_lacks != null) | [.func, .nranks, .bytes, .reference_lacks]] | unique' "$TMP/held")" \
    "$(jq -c '[.by_func[] | if .func == "SendRecv" then [.func, .nranks, .bytes, "likeness"]
        elif .func == "AllReduce" and .nranks != 8 then [.func, .nranks, .bytes, "ranks"]
        elif .func == "AllReduce" and .bytes < 65536 then [.func, .nranks, .bytes, "size"]
        elif .func == "ReduceScatter" then [.func, .nranks, .bytes, "size"]
        elif .func != "AllReduce" then [.func, .nranks, .bytes, "ranks"] else empty end] | unique' "$TMP/report")"
is "files" "$(jq -c '[.reference.files[] | [.rows, .unnamed, .complete]]' "$TMP/held")" '[[5,0,true],[3,0,false],[2,0,true],[2,0,true]]'
is "the damaged one is said" "$(grep -c 'several.log: at byte .*not a row of nccl-tests' "$TMP/err")" 1
is "points" "$(jq '.reference.points | length' "$TMP/held")" 12
# The text has the same, and says "?" where nothing is known.
"$RINGSCOPE" report --reference "$data/all_reduce.txt" "$run" >"$TMP/text" || bad=1
is "text" "$(grep -c '^AllReduce .* 2.0 MiB  *8  ncclFloat32 .* 107 .*%' "$TMP/text")" 1
is "text: not known" "$(grep -cE '^ReduceScatter .* \? .*no such function' "$TMP/text")" 1
# The conclusion: the links of gen are slower than this table, so that waiting does not explain it; with a rank that is 2 ms
# late and the run's own table it does.
is "slower links" "$(jq '.conclusion | any(test("^AllReduce of . MiB on 8 ranks reaches .* % of the reference bus bandwidth"))' "$TMP/held")" true
"$RINGSCOPE" gen -n 8 --hosts 2 -w ddp --steps 20 -o "$TMP/even" >/dev/null || exit 1
"$RINGSCOPE" gen -n 8 --hosts 2 -w ddp --steps 20 --slow 5:3000 -o "$TMP/late" >/dev/null || exit 1
"$RINGSCOPE" report --table nccl-tests "$TMP/even" >"$TMP/even.txt" || bad=1
"$RINGSCOPE" report --json --reference "$TMP/even.txt" "$TMP/late" >"$TMP/held" || bad=1
is "waiting explains it" "$(jq '[.conclusion[] | select(test("reaches .*waiting for late ranks explains it"))] | length > 0' "$TMP/held")" true
is "behind the last rank" "$(jq '[.by_func[] | select(.reached_share != null and (.reached_share < 0.9 or .reached_share > 1.1))] | length' "$TMP/held")" 0

# ---- such a file by itself ----

is "info" "$("$RINGSCOPE" info --json "$data" 2>/dev/null | jq -c '[.inputs[] | .format] | unique')" '["nccl-tests"]'
is "info: complete" "$("$RINGSCOPE" info --json "$data" 2>/dev/null | jq -c '[.inputs[] | .complete]')" '[true,true,true,false]'
is "explain" "$("$RINGSCOPE" explain --json "$data/all_reduce.txt" 2>/dev/null | jq -r '.holds[]')" \
    "Time and bandwidth of AllReduce on 8 ranks, ncclFloat32, 64.0 KiB to 16.0 MiB: 5 rows, up to 214 GB/s busbw."
is "explain: lacks" "$("$RINGSCOPE" explain --json "$data/all_reduce.txt" 2>/dev/null | jq -r '.lacks[]' | grep -c 'report --reference')" 1
is "report on it" "$("$RINGSCOPE" report --json "$data/all_reduce.txt" 2>/dev/null | jq -c '[.statistics.operations[].total_ns] | length')" 10
gzip -c "$data/all_reduce.txt" >"$TMP/packed.gz"
is "packed" "$("$RINGSCOPE" report --json --reference "$TMP/packed.gz" "$run" | jq '.reference.points | length')" 5

# ---- wrong usage ----

status() { "$RINGSCOPE" report "$@" >"$TMP/out" 2>"$TMP/err"; echo $?; }
is "another table" "$(status --table csv "$run")" 2
is "table and JSON" "$(status --table nccl-tests --json "$run")" 2
is "no such file" "$(status --reference "$TMP/none" "$run")" 1
is "no table" "$(status --reference "$data/../ncclsee/4242.csv" "$run")" 1
is "no table: said" "$(grep -c '4242.csv: no table of nccl-tests is in it' "$TMP/err")" 1
exit $bad
