#!/bin/bash
# Pipelines across ranks: the example of docs/pipelines.md (two ranks, 20 chunks, clocks 3 s apart) from its stage file, from
# two Kineto traces and from NVTX ranges of an Nsight export gives the score computed here; bubbles with a known cause; and
# where there is no score, the reason.
# sanitizers: address
set -u
# shellcheck source=tests/said.sh
source "$(dirname "$0")/../said.sh"
example=$(dirname "$0")/../data/stages/two-ranks.csv
work=$TMP
stage=(--stage A=A --stage send=send --stage decode=decode --stage B=B --stage emit=emit)

exits() { # STATUS COMMAND...
    local want=$1 got
    shift
    "$@" >"$work/out" 2>"$work/err"
    got=$?
    is "exit status of $*" "$got" "$want"
}

# ---- by hand: spans (rank chunk stage start end, in us), then quantiles and the score without chunk 0 ----
awk -F, '/^[01],/ { t[$2, $3] = $4; rank[$3] = $1; if ($2 > last) last = $2 }
    END { n = split("A tA0 tA1 send tA1 tSend decode tRecv tDecode B tB0 tB1 emit tB1 tEmit", w, " ")
        for (c = 0; c <= last; c++) for (i = 1; i <= n; i += 3) print rank[w[i + 1]], c, w[i], t[c, w[i + 1]], t[c, w[i + 2]] }' "$example" >"$work/spans"
quantile() { sort -n | awk -v q="$1" '{ v[NR] = $1 } END { i = int(q * NR); if (i < q * NR) i++; print v[i] }'; }
truth() { # the medians of all stages, the period's p50 p90 p99, hidden, score
    local s list=() stages=(A send decode B emit) p50
    for s in "${stages[@]}"; do
        list+=("$(awk -v s="$s" '$3 == s && $2 > 0 { print $5 - $4 }' "$work/spans" | quantile 0.5)")
    done
    awk '$3 == "A" { if ($2 > 1) print $4 - before; before = $4 }' "$work/spans" >"$work/periods"
    p50=$(quantile 0.5 <"$work/periods")
    echo "${list[*]} $p50 $(quantile 0.9 <"$work/periods") $(quantile 0.99 <"$work/periods")" | awk '{ for (i = 1; i <= 5; i++) { sum += $i
        if ($i > longest) longest = $i } printf "%s %d %.6f\n", $0, sum - $6, (sum - $6) / (sum - longest) }'
}
truth=$(truth)
is "the example by hand" "$truth" "6000 2000 1000 5000 500 9000 9000 9000 5500 0.647059"
figures() { jq -r -s '.[0].pipeline as $p | [($p.stages[].time_ns.p50 / 1000), ($p.period_ns | (.p50, .p90, .p99) / 1000), $p.hidden_ns / 1000,
    ($p.overlap_score * 1e6 | round / 1e6)] | map(tostring) | join(" ")' "$1"; }
both() { jq -s -c '[map([.rank, .pipeline.ranks, .pipeline.source]), (map(.pipeline) | unique | length), (.[0].pipeline.stages | map(.rank))]' "$1"; }

# ---- from the stage file: time stamps, in lines of their own or as columns, with a unit ----
exits 0 "$RINGSCOPE" overlap --json --stages "$example"
is "stage file" "$(figures "$work/out")" "$truth"
is "one pipeline" "$(both "$work/out")" '[[[0,[0,1],"file"],[1,[0,1],"file"]],1,[0,0,1,1,1]]'
is "chunks" "$(jq -s -c '.[0].pipeline | [.chunks, .warmup, .periods, .period_stage, .verdict, .no_score, .score.p50 > 0.64, .score.p99 > 0.68]' "$work/out")" \
    '[20,1,18,"A","partly",null,true,true]'
exits 0 "$RINGSCOPE" overlap --stages "$example"
is "the sentence" "$(head -1 "$work/out")" \
    "Pipeline of ranks 0 and 1: its stages overlap partly (score 0.65, 5.5 ms hidden in a period of 9.0 ms)."
is "the document" "$(sed -n '/^\$ ringscope overlap --stages/,/^```$/p' "$(dirname "$0")/../../docs/pipelines.md" | sed '1d;$d')" "$(cat "$work/out")"
exits 0 "$RINGSCOPE" overlap --stages "$example" --fail-under 0.30
exits 3 "$RINGSCOPE" overlap --stages "$example" --fail-under 0.65
{
    echo "chunk,rank,tA0_us,tA1_us,tSend_us,tRecv_us,tDecode_us,tB0_us,tB1_us,tEmit_us"
    awk -F, '/^0,/ { a[$2, $3] = $4 } /^1,/ { b[$2, $3] = $4 } END { for (c = 0; c < 20; c++) {
        print c ",0," a[c, "tA0"] "," a[c, "tA1"] "," a[c, "tSend"] ",,,,,"
        print c ",1,,,," b[c, "tRecv"] "," b[c, "tDecode"] "," b[c, "tB0"] "," b[c, "tB1"] "," b[c, "tEmit"] } }' "$example"
} >"$work/wide.csv"
exits 0 "$RINGSCOPE" overlap --json --stages "$work/wide.csv"
is "stamps as columns" "$(figures "$work/out")" "$truth"
awk -F, '/^0,/ { print "{\"rank\":0,\"chunk\":" $2 ",\"" $3 "_us\":" $4 "}" } /^1,/ { print "{\"rank\":1,\"chunk\":" $2 ",\"" $3 "_us\":" $4 "}" }' \
    "$example" >"$work/wide.jsonl"
exits 0 "$RINGSCOPE" overlap --json --stages "$work/wide.jsonl"
is "stamps as keys" "$(figures "$work/out")" "$truth"
awk 'BEGIN { print "rank,chunk,name,start_us,end_us" } { print $1 "," $2 "," $3 "," $4 "," $5 }' "$work/spans" >"$work/spans.csv"
exits 0 "$RINGSCOPE" overlap --json --stages "$work/spans.csv"
is "spans" "$(figures "$work/out")" "$truth"
# All stamps of one rank: what is between tSend and tRecv is a stage, too.
sed 's/^1,/0,/' "$example" >"$work/one.csv"
is "one rank" "$("$RINGSCOPE" overlap --json --stages "$work/one.csv" | jq -c '.pipeline | [.ranks, (.stages | map(.name))]')" \
    '[[0],["A","send","receive","decode","B","emit"]]'
printf 'rank,chunk,name,time_us\n0,0,tA0,1\n0,0,tA1,2\n0,0,tEmit,3\n' >"$work/lone.csv"
exits 0 "$RINGSCOPE" overlap --stages "$work/lone.csv"
is "a lone stamp" "$(grep -c 'line 4: this time stamp is neither the begin nor the end of a stage' "$work/err")" 1

# ---- from two Kineto traces, annotations on the host or on the GPU ----
kineto() { # CATEGORY DIR
    mkdir -p "$2"
    for rank in 0 1; do
        awk -v rank=$rank -v cat="$1" '$1 == rank { printf "%s{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":%d,\"tid\":7,\"ts\":%d,\"dur\":%d,\"args\":{}}",
                n++ ? ",\n" : "", cat, $3, cat ~ /gpu/ ? 0 : 100 + rank, $4, $5 - $4 }
            BEGIN { printf "{\"schemaVersion\":1,\"distributedInfo\":{\"backend\":\"nccl\",\"rank\":%d,\"world_size\":2},\"baseTimeNanoseconds\":1790857026000000000,\"traceEvents\":[\n", rank
                if (cat ~ /gpu/) { printf "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":0,\"tid\":7,\"ts\":500,\"dur\":5,\"args\":{\"device\":0,\"stream\":7}}"; n = 1 } }
            END { print "]}" }' "$work/spans" >"$2/rank$rank.json"
    done
}
for cat in user_annotation gpu_user_annotation; do
    kineto $cat "$work/$cat"
    exits 0 "$RINGSCOPE" overlap --json "${stage[@]}" "$work/$cat"
    is "Kineto, $cat" "$(figures "$work/out")" "$truth"
    is "Kineto, $cat: one pipeline" "$(both "$work/out")" '[[[0,[0,1],"names"],[1,[0,1],"names"]],1,[0,0,1,1,1]]'
done
exits 3 "$RINGSCOPE" overlap "${stage[@]}" --fail-under 0.65 "$work/user_annotation"

# ---- from NVTX ranges of an export of Nsight Systems ----
if command -v sqlite3 >/dev/null && "$RINGSCOPE" --version | grep -q 'sqlite *on'; then
    mkdir "$work/nsys"
    for rank in 0 1; do
        {
            echo "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);
                CREATE TABLE NVTX_EVENTS(start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER,
                    textId INTEGER, domainId INTEGER);
                CREATE TABLE TARGET_INFO_SYSTEM_ENV(name TEXT, value TEXT);
                INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES('Hostname', 'n$rank');
                CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs INTEGER);
                INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES(1727743122000000000); BEGIN;"
            awk -v rank=$rank '$1 == rank { printf "INSERT INTO NVTX_EVENTS VALUES(%d000,%d000,59,\x27%s\x27,%d,NULL,0);\n", $4, $5, $3,
                72057595715649636 }' "$work/spans"
            echo "COMMIT;"
        } | sqlite3 "$work/nsys/$rank.sqlite"
    done
    exits 0 "$RINGSCOPE" overlap --json "${stage[@]}" "$work/nsys"
    is "NVTX ranges" "$(figures "$work/out")" "$truth"
fi

# ---- bubbles, on one clock: rank 0 takes 8 ms, rank 1 begins when it is done, takes 5 ms; its 3 ms are caused by rank 0 ----
{
    echo "rank,chunk,name,start_us,end_us"
    for ((c = 0; c < 20; c++)); do
        echo "0,$c,A,$((c * 8000)),$((c * 8000 + 6000))"
        echo "0,$c,send,$((c * 8000 + 6000)),$((c * 8000 + 8000))"
        echo "1,$c,B,$((c * 8000 + 8000)),$((c * 8000 + 13000))"
    done
} >"$work/starved.csv"
exits 0 "$RINGSCOPE" overlap --json --stages "$work/starved.csv" --same-host
is "starved" "$(jq -s -c '.[0].pipeline | [.bubbles[] | [.rank, .stages, .idle_ns.p50, .total_ns, .causes, .unknown_ns]], .no_causes' "$work/out" | paste -sd ' ')" \
    '[[0,["A","send"],0,0,[],0],[1,["B"],3000000,54000000,[{"rank":0,"stage":"A","ns":54000000}],0]] null'
is "starved: said" "$("$RINGSCOPE" overlap --stages "$work/starved.csv" --same-host | sed -n 2p)" \
    "In each period rank 1 (B) is idle for 3.0 ms, mostly waiting for rank 0 (A, send)."
# The other way: rank 1 takes 9 ms, rank 0 is done after 4 ms and begins the next when rank 1 has taken it.
{
    echo "rank,chunk,name,start_us,end_us"
    for ((c = 0; c < 20; c++)); do
        echo "0,$c,A,$((c * 9000)),$((c * 9000 + 4000))"
        echo "1,$c,B,$((c * 9000 + 9000)),$((c * 9000 + 18000))"
    done
} >"$work/blocked.csv"
exits 0 "$RINGSCOPE" overlap --json --stages "$work/blocked.csv" --same-host
is "blocked" "$(jq -s -c '.[0].pipeline.bubbles | map([.rank, .total_ns, .causes])' "$work/out")" \
    '[[0,90000000,[{"rank":1,"stage":"B","ns":90000000}]],[1,0,[]]]'
# Through two others: rank 2 waits for rank 1, which waits for rank 0.
{
    echo "rank,chunk,name,start_us,end_us"
    for ((c = 0; c < 20; c++)); do
        echo "0,$c,A,$((c * 10000)),$((c * 10000 + 10000))"
        echo "1,$c,B,$((c * 10000 + 10000)),$((c * 10000 + 12000))"
        echo "2,$c,C,$((c * 10000 + 12000)),$((c * 10000 + 13000))"
    done
} >"$work/chain.csv"
exits 0 "$RINGSCOPE" overlap --json --stages "$work/chain.csv" --same-host
is "chain" "$(jq -s -c '.[0].pipeline.bubbles[2] | [.total_ns, (.causes | map([.stage, .ns]))]' "$work/out")" \
    '[162000000,[["A",126000000],["B",36000000]]]'
# Without a common clock: who caused it is unknown; with clocks that cannot be one, too.
exits 0 "$RINGSCOPE" overlap --json --stages "$work/starved.csv"
is "no common clock" "$(jq -s -c '.[0].pipeline | [.bubbles[1].total_ns, .bubbles[1].causes, .bubbles[1].unknown_ns, .clock_error_ns, (.no_causes | test("--same-host"))]' "$work/out")" \
    '[54000000,[],54000000,null,true]'
# shellcheck disable=SC2016 # for the shell that sed starts
sed 's/^1,\([0-9]*\),B,\([0-9]*\),\([0-9]*\)/echo 1,\1,B,$((\2 - 8001 + (\2 == 8000))),$((\3 - 8000))/e' "$work/starved.csv" >"$work/before.csv"
is "before its cause" "$("$RINGSCOPE" overlap --json --stages "$work/before.csv" --same-host | jq -s -r '.[0].pipeline.no_causes')" \
    "some chunks are at a stage before the previous one has begun: clocks or chunks differ"
# Two pipelines side by side, ranks 0 and 2, 1 and 3; and a stage on two ranks, of which the longer counts.
awk -F, 'NR == 1 { print; next } { print $1 * 2 "," $2 "," $3 "," $4 "," $5; print $1 * 2 + 1 "," $2 "," $3 "," 2 * $4 "," 2 * $5 }' \
    "$work/starved.csv" >"$work/four.csv"
is "side by side" "$("$RINGSCOPE" overlap --json --stages "$work/four.csv" | jq -s -c 'map([.pipeline.ranks, .pipeline.period_ns.p50])')" \
    '[[[0,2],8000000],[[1,3],16000000],[[0,2],8000000],[[1,3],16000000]]'
awk -F, '{ print } $3 == "B" { print 2 "," $2 "," $3 "," $4 "," $5 + 500 }' "$work/starved.csv" >"$work/several.csv"
is "on two ranks" "$("$RINGSCOPE" overlap --json --stages "$work/several.csv" | jq -s -c 'map(.pipeline | [.ranks, .stages[2].time_ns.p50, .stages[2].rank]) | unique')" \
    '[[[0,1,2],5500000,null]]'
# A first stage that runs ahead: the period is that of the stage that falls behind.
{
    echo "rank,chunk,name,start_us,end_us"
    for ((c = 0; c < 20; c++)); do
        echo "0,$c,A,$((c * 2000)),$((c * 2000 + 2000))"
        echo "1,$c,B,$((c * 9000 + 2000)),$((c * 9000 + 11000))"
    done
} >"$work/ahead.csv"
is "a stage that falls behind" "$("$RINGSCOPE" overlap --json --stages "$work/ahead.csv" | jq -s -c '.[0].pipeline | [.period_stage, .period_ns.p50, .overlap_score]')" \
    '["B",9000000,1]'

# ---- no score: the reason ----
why() { # TEXT ARGUMENTS...
    local text=$1
    shift
    exits 0 "$RINGSCOPE" overlap "$@"
    is "why: $*" "$(grep -c "^No score: $text" "$work/out")" 1
    exits 1 "$RINGSCOPE" overlap --fail-under 0.3 "$@"
    is "why, --fail-under: $*" "$(grep -c -- "--fail-under: no score is known: $text" "$work/err")" 1
}
grep -v ',send,\|,B,' "$work/starved.csv" >"$work/a.csv"
why 'there is only one stage (A), and a pipeline has two or more' --stages "$work/a.csv"
grep 'rank\|,0,[AB]' "$work/starved.csv" >"$work/once.csv"
why 'there is only one chunk: its stages do not repeat' --stages "$work/once.csv"
grep 'rank\|,[01],[AB]' "$work/starved.csv" >"$work/two.csv"
why 'of 2 chunks 1 is warm-up (--warmup), and two consecutive ones after that are required' --stages "$work/two.csv"
why 'of 20 chunks 20 are warm-up' --warmup 30 --stages "$work/starved.csv"
awk -F, -v OFS=, 'NR > 1 { $2 *= 2 } { print }' "$work/starved.csv" >"$work/even.csv"
why 'no two chunks after the warm-up have consecutive numbers' --stages "$work/even.csv"
awk -F, '$3 != "B" || $2 == 0' "$work/starved.csv" >"$work/gone.csv"
why 'stage B does not occur after the warm-up' --stages "$work/gone.csv"
awk -F, -v OFS=, '$3 != "send" { if ($3 == "B") $5 = $4; print }' "$work/starved.csv" >"$work/empty.csv"
why 'all stages but one take no time' --stages "$work/empty.csv"
grep -v ',send,' "$work/starved.csv" >"$work/ab.csv"
why 'there is only one stage (A), and a pipeline has two or more; stage B is on rank 1, which --rank leaves out' --rank 0 --stages "$work/ab.csv"
why 'nothing matches stage B (no such name) on any rank' --stage A=A --stage 'B=no such name' "$work/user_annotation"
why 'there is only one stage (A)' --stage A=A "$work/user_annotation"
why 'nothing matches stage B (B) on any rank' --stage A=A --stage B=B "$work/user_annotation/rank0.json" "$work/gpu_user_annotation/rank0.json"
exit $bad
