#!/bin/bash
# Synthetic runs of 64 ranks on 8 hosts (32 on 4 where every rank sends to every other) against their truth: every
# operation joined, none wrongly; with records removed, none wrongly and nearly all joined.
# long
set -u
# shellcheck source=tests/said.sh
source "$(dirname "$0")/../said.sh"
run=$TMP/run

gen() { # OPTION...: a run into $run
    rm -rf "$run"
    local size="-n 64 --hosts 8"
    case " $* " in *" alltoall "* | *" mix "*) size="-n 32 --hosts 4" ;; esac
    # shellcheck disable=SC2086 # several words
    "$RINGSCOPE" gen $size "$@" --truth-times -o "$run" >"$TMP/gen.log" || { cat "$TMP/gen.log"; exit 1; }
    "$RINGSCOPE" ops --json "$run" >"$TMP/ops.json" || { echo "ops failed: $*"; bad=1; }
}

# Which operations there are, by what names them: [comm, func, seq] of collectives, [comm, src, dst, index] of pairs.
# shellcheck disable=SC2016 # the variables are jq's
named_by_truth='.communicators as $c | [.operations[] | $c[.[1]].comm as $comm
    | if .[2] == "Send" then [$comm, .[7], .[8], .[9]] else [$comm, .[2], .[3]] end] | sort'
named_by_us='[.[] | select(.kind != "fanout") | if .kind == "pair" then [.comm, .src, .dst, .index] else [.comm, .func, .seq] end] | sort'

# Pairs by time: the operation of the truth that started, at the sender and at the receiver, when ours did. The axis may lie
# anywhere against true time: `shift` is where, by the median of all. Prints [joined, wrongly joined, nowhere in the truth].
# shellcheck disable=SC2016
pairs_by_time='
    ($truth[0].communicators | map(.comm)) as $comms
    | ($truth[0].operations | map(select(.[2] == "Send")) | group_by([.[1], .[7], .[8]])
        | map({key: (.[0] | "\($comms[.[1]]) \(.[7]) \(.[8])"), value: map(.[11])}) | from_entries) as $true
    | [.[] | select(.kind == "pair")] as $pairs
    | ([$pairs[] | select(.confidence == 1) | . as $p | $true["\(.comm) \(.src) \(.dst)"][.index] as $t
        | select($t) | .ranks[] | select(.rank == $p.src and .start_ns) | .start_ns - $t[0]] | sort | .[length / 2 | floor]) as $shift
    | [$pairs[] | select((.ranks | length) == 2) | . as $p
        | select(all(.ranks[]; .start_source == "kernel")) # others are late
        | [(.ranks[] | select(.rank == $p.src) | .start_ns), (.ranks[] | select(.rank == $p.dst) | .start_ns)] as $s
        | ($true["\(.comm) \(.src) \(.dst)"] | map(select((($s[0] - $shift - .[0]) | fabs) < 2e5)) ) as $near
        | if ($near | length) == 0 then "nowhere"
          elif ($near | map(select((($s[1] - $shift - .[1]) | fabs) < 2e5)) | length) > 0 then "right" else "wrong" end]
    | [length, (map(select(. == "wrong")) | length), (map(select(. == "nowhere")) | length)]'

seed=1
for workload in ddp tpdp pipeline alltoall graph mix "ddp --overlap" "tpdp --overlap --bytes 64Mi" "tpppdp" \
    "tpppdp --schedule 1f1b --microbatches 6" "pipeline --stages 4 --schedule interleaved" \
    "pipeline --stages 4 --schedule 1f1b --eager 16Mi"; do
    # shellcheck disable=SC2086
    gen -w $workload --steps 4 --seed $((seed++))
    jq -c "$named_by_truth" "$run/truth.json" >"$TMP/true"
    jq -s -c "$named_by_us" "$TMP/ops.json" >"$TMP/ours"
    cmp -s "$TMP/true" "$TMP/ours" || { echo "$workload: not the operations of the truth"; bad=1; }
    is "$workload: not complete" "$(jq -s '[.[] | select(.kind == "coll" or (.kind == "pair" and .src != .dst))
        | select(.complete != true or .missing + .not_recorded != [])] | length' "$TMP/ops.json")" 0
    case $workload in pipeline* | alltoall | mix | tpppdp*)
        is "$workload: pairs joined wrongly" "$(jq -s --slurpfile truth "$run/truth.json" "$pairs_by_time | .[1:]" "$TMP/ops.json" | jq -c .)" '[0,0]' ;;
    esac
done

# Fan-outs: as many as the truth has, with the right number of pairs below each.
gen -w alltoall --steps 3 --seed 9
is "fan-outs" "$(jq -s -c '[.[] | select(.kind == "pair" and .fanout) | .fanout] | group_by(.) | map(length) | sort' "$TMP/ops.json")" \
    "$(jq -c '[.fanouts[] | .[4]] | sort' "$run/truth.json")"

# Without 1 % of the records of half of the processes. What is left of an operation is joined or said to be not recorded;
# nothing is called missing, and nothing hangs.
for seed in $(seq "${SEEDS:-3}"); do
    for workload in pipeline mix tpdp; do
        gen -w $workload --steps 5 --drop 0.01 --seed "$seed"
        is "$workload, seed $seed, records removed: called missing" "$(jq -s '[.[] | select(.missing != [])] | length' "$TMP/ops.json")" 0
        is "$workload, seed $seed: a rank twice" "$(jq -s '[.[] | select(.double)] | length' "$TMP/ops.json")" 0
        is "$workload, seed $seed: hang" "$("$RINGSCOPE" hang --json "$run" | jq -r .verdict)" NONE
        # Collectives: every rank whose start was kept is in the operation that it was in.
        is "$workload, seed $seed: collectives" "$(jq -s -c '[.[] | select(.kind == "coll") | [.comm, .func, .seq, (.ranks | length)]] | sort' "$TMP/ops.json")" \
            "$(jq -c '.communicators as $c | (reduce (.lost[] | select(.[2] % 4 >= 2)) as $l ({}; .["\($l[0])"] += 1)) as $gone
                | [.operations[] | select(.[2] != "Send") | [$c[.[1]].comm, .[2], .[3], $c[.[1]].nranks - ($gone["\(.[0])"] // 0)] | select(.[3] > 0)] | sort' "$run/truth.json")"
        [ $workload = tpdp ] && continue
        counts=$(jq -s --slurpfile truth "$run/truth.json" "$pairs_by_time" "$TMP/ops.json" | jq -c .)
        is "$workload, seed $seed: pairs joined wrongly" "$(jq -c '.[1:]' <<<"$counts")" '[0,0]'
        both=$(jq '(reduce (.lost[] | select(.[2] % 4 >= 2)) as $l ({}; .["\($l[0])"] += 1)) as $gone
            | [.operations[] | select(.[2] == "Send" and .[7] != .[8] and ($gone["\(.[0])"] | not))] | length' "$run/truth.json")
        joined=$(jq -s '[.[] | select(.kind == "pair" and .src != .dst and (.ranks | length) == 2)] | length' "$TMP/ops.json")
        [ $((joined * 100)) -ge $((both * 95)) ] || { echo "$workload, seed $seed: $joined of $both pairs joined"; bad=1; }
        echo "$workload, seed $seed: $joined of $both pairs with both sides recorded joined"
    done
done

# What is told of operations and of their ranks: sizes, times, waits, transfers, bandwidth, who was last.
for seed in $(seq "${SEEDS:-3}"); do
    for options in "-w tpdp --slow 3:300" "-w pipeline"; do
        # shellcheck disable=SC2086 # several words
        gen -n 8 --hosts 2 $options --steps 3 --seed "$seed"
        is "facts, $options, seed $seed" "$(jq -s -r --slurpfile truth "$run/truth.json" -f "$(dirname "$0")/facts.jq" "$TMP/ops.json")" \
            "$(jq '.operations | length' "$run/truth.json") operations"
    done
done
exit $bad
