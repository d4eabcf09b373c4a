#!/bin/bash
# ringscope diff: sides, verdicts, causes, the gate, baselines, settings, the page; generated runs with known faults, and runs
# of one job on a GPU. How often it is right: tests/drive/differences.c, `make sweep` over 10 comparisons per seed.
# sanitizers: address
set -u
# shellcheck source=tests/said.sh
source "$(dirname "$0")/../said.sh"
data=$(cd "$(dirname "$0")/../data" && pwd)
cd "$TMP" || exit 1
diff_() { "$RINGSCOPE" diff "$@" 2>err; }
make_runs() { # NAME FIRST-SEED OPTIONS...: three runs
    local i
    for i in 0 1 2; do
        "$RINGSCOPE" gen --no-truth --steps 30 --run-noise 0.01 --rank-noise 0.0025 --seed $(($2 + i)) "${@:3}" -o "$1/run$i" >/dev/null || bad=1
    done
}
make_runs old 101
make_runs same 111
make_runs gpu 121 --slow-factor 5:1.15

# ---- sides ----
three() { echo "$1/run0" "$1/run1" "$1/run2"; }
# shellcheck disable=SC2046
diff_ $(three old) --against $(three gpu) --json >lists
is "sides" "$(jq -c '[.a, .b | map(.path)]' lists)" '[["old/run0","old/run1","old/run2"],["gpu/run0","gpu/run1","gpu/run2"]]'
diff_ old gpu --json >folders
is "a folder of runs" "$(jq -c . folders)" "$(jq -c . lists)"
mkdir one
for i in 0 1 2; do
    for file in "old/run$i"/*.rsc; do cp "$file" "one/$i.${file##*/}"; done
done
is "runs in one folder" "$(diff_ one gpu --json | jq -c '[(.a | length), ([.rows[].a] | length > 20)]')" '[3,true]'
is "one of them" "$(diff_ one gpu/run0 --run 0 --json | jq -c '[.a, .b | length]')" '[1,1]'
kineto=$(printf '%s,' "$data"/kineto/kineto_rank*.json*)
is "files of one run" "$(diff_ "${kineto%,}" "$data/kineto" --json | jq -c '[(.a | length), .a[0].ranks, ([.rows[] | select(.a != .b)] | length)]')" '[1,4,0]'

# ---- verdicts and causes ----
is "slower" "$(jq -c '[.noise_known, .first, (.rows[] | select(.measure == "step_p50") | .verdict, .change_pct > 8, .low_pct > 5, .high_pct < 18)]' lists)" \
    '[true,"step_p50","slower",true,true,true]'
is "cause" "$(jq -c '[.causes[] | [.kind, .ranks, .all_ranks]]' lists)" '[["gpu",[5],false]]'
is "found" "$(jq -c '[.findings[] | select(.change == "came") | [.name, .runs_a, .runs_b]]' lists)" '[["rank 5",0,3]]'
is "faster the other way" "$(diff_ gpu old --json | jq -c '[.rows[0].verdict, .causes[0].kind, .causes[0].ranks, .causes[0].change_ns < 0, (.findings[] | select(.name == "rank 5").change)]')" \
    '["faster","gpu",[5],true,"went"]'
is "the same" "$(diff_ old same --json | jq -c '[.causes, [.rows[] | select(.verdict != "no difference" and .verdict != "not judged")]]')" '[[],[]]'
# What report says of a run is what diff compares.
is "the step of report" "$(diff_ old/run0 old/run0 --json | jq -c '[.rows[] | select(.measure[:5] == "step_") | .a | round]')" \
    "$("$RINGSCOPE" report --json old/run0 | jq -c '.steps.time_ns | [.p50, .p90, .p99]')"
is "functions of report" "$(diff_ old/run0 old/run0 --json | jq -c '[.rows[] | select(.measure == "time" or .measure == "transfer") | .a | round] | sort')" \
    "$("$RINGSCOPE" report --json old/run0 | jq -c '[.by_func[] | .time_ns.p50, .transfer_p50_ns] | sort')"
# One run each says so, and claims nothing about 10 %.
diff_ old/run0 gpu/run0 --json >single
is "one run each" "$(jq -c '[.noise_known, .rows[0].verdict, (.conclusion | map(select(test("^One run per side"))) | length)]' single)" '[false,"no difference",1]'

# ---- the gate ----
gate() { diff_ "$@" --fail-over 5% >out; echo $?; }
is "passes" "$(gate old same)" 0
is "stops" "$(gate old gpu)" 3
is "names it" "$(grep -c '^ringscope diff: regression over 5 %: step time, p50 +.* (+.* to +.*): the GPU of rank 5 takes' err)" 1
is "below the bound" "$(diff_ old gpu --fail-over 50 >out; echo $?)" 0
is "refuses one run" "$(gate old/run0 gpu)" 1
is "says why" "$(grep -c 'needs 3 runs or more on each side.*A has 1, B 3' err)" 1
is "nothing is printed then" "$(cat out)" ""

# ---- baselines ----
diff_ --save-baseline base.json old || bad=1
is "the same rows" "$(diff_ --baseline base.json gpu --json | jq -c .)" "$(jq -c . lists)"
is "two baselines" "$(diff_ --save-baseline new.json gpu && diff_ base.json new.json --json | jq -c .)" "$(jq -c . lists)"
is "gate of a baseline" "$(gate --baseline base.json gpu)" 3
is "no second time" "$(diff_ --save-baseline base.json old; echo $?)" 1
is "a short baseline" "$(diff_ --save-baseline short.json old/run0; grep -c 'a baseline of 1 run: --fail-over needs 3' err)" 1
head -c 1000 base.json >cut.json
is "cut" "$(diff_ --baseline cut.json gpu; echo $?)$(grep -c '^ringscope diff: cut.json: ends early, at byte' err)" 11
is "not one" "$(diff_ --baseline old/run0/*0*.rsc gpu >/dev/null; echo $?)" 1
is "baseline of what?" "$(diff_ --save-baseline none.json; echo $?)" 2

# ---- usage ----
for wrong in "old" "old gpu same" "--against old" "old --against" "old gpu --fail-over x" "old gpu --force" "--baseline base.json -o x.html gpu"; do
    # shellcheck disable=SC2086
    diff_ $wrong >/dev/null
    is "usage: $wrong" $? 2
done
is "no such run" "$(diff_ old nowhere >/dev/null; echo $?)" 1

# ---- one job on a GPU, three runs each ----
# Again; with NCCL_PROTO=LL; with rank 2 late by 4 ms. Four processes on one GPU: runs differ by 10 %.
real() { diff_ "$data/diff-h200/base.json.gz" "$data/diff-h200/$1.json.gz" --fail-over 5% --json >"real.$1"; echo $?; }
is "the same job" "$(real same)" 0
is "nothing differs" "$(jq -c '[.rows[] | select(.verdict != "no difference" and .verdict != "not judged")]' real.same)" '[]'
is "another protocol" "$(real proto)" 3
is "why" "$(jq -c '[.causes[0].kind, (.settings[] | select(.may_explain) | [.name, .a, .b])]' real.proto)" \
    '["transfer",["NCCL_PROTO",null,"LL"],["protocol of AllReduce, 8,396,800 B, all 4 ranks","SIMPLE","LL"]]'
is "a late rank" "$(real late)" 3
is "which" "$(jq -c '[.regression_of, .rows[0].verdict, .causes[0].ranks]' real.late)" '["rank 2","no difference",[2]]'

# ---- text and page ----
"$RINGSCOPE" diff old gpu >text 2>/dev/null
is "text begins with the conclusion" "$(head -n "$(jq '.conclusion | length' lists)" text)" "$(jq -r '.conclusion[]' lists)"
is "titles" "$(grep -c '^\(steps\|operations: .*\|findings\)$' text)" 3
if "$RINGSCOPE" view old/run0 -o probe.html >/dev/null 2>&1; then # built with the page
    diff_ old gpu -o x.html >/dev/null || bad=1
    is "a page" "$(head -c 100 x.html | grep -ci '<!doctype html')" 1
    is "is not replaced" "$(diff_ old gpu -o x.html >/dev/null; echo $?)" 1
fi

# ---- rates ----
"$BUILD/tests/differences" "$TMP" 20001 $((${SEEDS:-0} * 10 + 2)) 0.02 >rates || bad=1
while read -r what hits runs; do
    awk -v h="$hits" -v n="$runs" 'BEGIN { exit !(h / n <= 0.02) }' || { echo "$what $hits of $runs"; cat rates; bad=1; }
done < <(sed -n 's/^\([a-z-]* [a-z]*: [a-z ]*[a-z]\) *\([0-9]*\) of *\([0-9]*\) .*/\1\t\2\t\3/p' rates | tr ' ' '_')
is "rates" "$(grep -c ' of ' rates)" 35
exit $bad
