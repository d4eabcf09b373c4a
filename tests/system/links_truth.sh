#!/bin/bash
# Slow links against the truth of synthetic runs: how often a planted one is found and another one named, and none where
# none is: all workloads, biases, tails, late receivers, stragglers, losses, on 2 to 8 hosts. Prints the rates.
#
#   SEEDS=100 FIRST_SEED=10001 tests/run.sh tests/system/links_truth.sh
set -u
# shellcheck source=tests/said.sh
source "$(dirname "$0")/../said.sh"
run=$TMP/run data=$(dirname "$0")/../data
first=${FIRST_SEED:-1} last=$((${FIRST_SEED:-1} + ${SEEDS:-2} - 1))

# Runs of `gen OPTION...` for all seeds: counts those in which the link between ranks $1 and $2 is named, and another one.
runs=0 found=0 others=0
count() { # RANK PEER OPTION...
    local a=$1 b=$2 seed named
    shift 2
    for seed in $(seq "$first" "$last"); do
        rm -rf "$run"
        "$RINGSCOPE" gen "$@" --no-truth --seed "$seed" -o "$run" >"$TMP/log" || { cat "$TMP/log"; exit 1; }
        named=$("$RINGSCOPE" report --json "$run" 2>"$TMP/log" | jq -r --argjson a "$a" --argjson b "$b" '
            [.slow_links[] | .scope == "link" and ([.rank, .peer] | sort) == ([$a, $b] | sort)] |
            if length == 0 then "none" elif all then "it" elif any then "it others" else "others" end')
        runs=$((runs + 1))
        case $named in *it*) found=$((found + 1)) ;; esac
        case $named in *others*) others=$((others + 1)) && echo "  gen $* --seed $seed: $named" ;; esac
        case $named in none | it | *others) ;; *) echo "gen $* --seed $seed: no report" && bad=1 ;; esac
    done
}
rate() { # WHAT FOUND-AT-LEAST-% OTHERS-AT-MOST-%
    awk -v what="$1" -v runs="$runs" -v found="$found" -v others="$others" -v least="$2" -v most="$3" 'BEGIN {
        printf "%s: %d runs, found in %d (%.1f %%), others named in %d (%.2f %%)\n", what, runs, found, 100 * found / runs, others, 100 * others / runs
        exit !(100 * found >= least * runs && 100 * others <= most * runs) }' || bad=1
    runs=0 found=0 others=0
}
planted() { # FACTOR
    count 3 4 -n 8 --hosts 2 --steps 30 --slow-link "3-4:$1"
    count 7 8 -n 16 --hosts 4 --steps 30 --slow-link "7-8:$1" --bias 10
    count 15 0 -n 16 --hosts 4 --steps 30 --overlap --slow-link "15-0:$1" --slow 5:300
    count 1 3 -w tpdp -n 8 --hosts 4 --steps 30 --slow-link "1-3:$1"
    count 3 4 -w pipeline -n 8 --hosts 2 --steps 30 --slow-link "3-4:$1"
    count 0 5 -w alltoall -n 8 --hosts 2 --steps 30 --slow-link "0-5:$1"
    count 3 4 -w mix -n 8 --hosts 2 --steps 30 --slow-link "3-4:$1" --tails 0.1
    count 7 8 -n 16 --hosts 4 --steps 30 --slow-link "7-8:$1" --late-credit 4:100
}

# Recordings of jobs on one host: no link, and nothing to plug in.
for real in "$data"/h200-ddp "$data"/h200-mix "$data"/h200-tp2pp2dp2/rec "$data"/h200-overlay/rec "$data"/example/ddp4; do
    is "$real" "$("$RINGSCOPE" report --json "$real" 2>"$TMP/log" |
        jq -c '[.slow_links[], (.conclusion[] | select(test("NIC|cable|switch")))]')" '[]'
done

planted 3
rate "3 times as slow" 99 0.5
planted 1.5
rate "1.5 times as slow" 90 0.5

for w in ddp tpdp pipeline alltoall graph mix; do
    count -1 -1 -w $w -n 8 --hosts 2 --steps 30
    count -1 -1 -w $w -n 16 --hosts 4 --steps 30 --bias 20 --tails 0.2
    count -1 -1 -w $w -n 8 --hosts 4 --steps 30 --late-credit 3:100 --late-credit 6:30 --jitter 20
    count -1 -1 -w $w -n 8 --hosts 8 --steps 30 --slow 2:1000 --noise slices:0.05:4000
    count -1 -1 -w $w -n 8 --hosts 2 --steps 30 --drop 0.02 --noise bursts:0.05:500:4
done
rate "nothing planted" 0 0.5
exit "$bad"
