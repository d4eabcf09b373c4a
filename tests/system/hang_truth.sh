#!/bin/bash
# long
# Every kind of hang gets its own verdict, with the guilty rank, the peer and the step where there is one; what was not
# recorded is not called a hang; and jobs of real processes that hang or die end in the right verdict.
set -u
# shellcheck source=tests/said.sh
source "$(dirname "$0")/../said.sh"
run=$TMP/run

hang() { "$RINGSCOPE" hang --json "$run"; }
gen() {
    rm -rf "$run"
    "$RINGSCOPE" gen "$@" -o "$run" >"$TMP/log" || { cat "$TMP/log"; exit 1; }
}

for seed in $(seq "${SEEDS:-2}"); do
    for workload in ddp tpdp mix; do
        for kind in dead not-joined outside mismatch mismatch-func stream-blocked stalled-net:7 stalled-credit:7 stalled-gpu:7 deadlock deadlock-sync; do
            case $workload$kind in *tpdpdeadlock* | tpdp* | ddp*) ;; *deadlock* | *stalled*) continue ;; esac
            case $workload$kind in ddpdeadlock*) continue ;; esac # one communicator: no other order
            gen -w $workload -n 16 --hosts 2 --steps 24 --hang $kind@15 --seed "$seed"
            { hang; cat "$run/truth.json"; } >"$TMP/answers"
            jq -c '.hang // . | [.verdict, .comm, .func, .seq, .ranks, .peer, .step, .state],
                ([.culprits[]?.ranks[]] + (if .culprits then [] else .ranks end) | sort)' "$TMP/answers" >"$TMP/both"
            is "$workload, $kind, seed $seed" "$(sed -n 1p "$TMP/both")" "$(sed -n 3p "$TMP/both")"
            is "$workload, $kind, seed $seed: nobody else" "$(sed -n 2p "$TMP/both")" "$(sed -n 4p "$TMP/both")"
            "$RINGSCOPE" hang "$run" >"$TMP/text"
            is "$workload, $kind: exit status" $? 3
        done
    done
done

# A rank without a recording is named as such, and not blamed for what others did; rank 0 may be the guilty one.
gen -n 16 --hosts 2 --steps 20 --hang not-joined:0@12 --no-recording 5
is "title of the table" "$("$RINGSCOPE" hang "$run" | grep -c '^ranks in AllReduce [0-9]* of ')" 1
is "rank of the job in the table" "$("$RINGSCOPE" hang "$run" | grep -c '^ *5 *5 .*no recording')" 1
is "rank 0" "$(hang | jq -c '[.verdict, .ranks, .unseen_ranks]')" '["NOT_JOINED",[0],[5]]'

# What comes over NVLink is not recorded: the rank before the network is not the only one that it can be.
gen -n 16 --hosts 4 --hang stream-blocked:0@5 --no-recording 0
is "fed by a rank without a recording" "$(hang | jq -c '[.ranks, (.conclusion[0] | test("or a rank before it on its host"))]')" '[[],true]'
# Losses: a weaker verdict, and no wrong one. One operation that losses made two of is no mismatch with itself.
gen -w graph -n 16 --hosts 4 --steps 12 --hang mismatch-func:13@5 --drop 0.05 --seed 2
is "mismatch with losses" "$(hang 2>/dev/null | jq -c '[.verdict, .ranks]')" '["MISMATCH",[13]]'
gen -w alltoall -n 16 --hosts 4 --steps 12 --hang stalled-net:7@6 --drop 0.01
is "stalled with losses" "$(hang 2>/dev/null | jq -c '[.verdict, .ranks]')" '["STALLED_STEP",[7]]'

# No hang: a run that closed, one with records removed, one that was recorded from its middle on, a flight recorder.
for options in "--steps 20" "--steps 20 --drop 0.02" "--steps 30 --late 3@15" "--steps 60 --ring 3" "--steps 20 --no-recording 2"; do
    # shellcheck disable=SC2086 # words
    gen -n 16 --hosts 2 $options
    is "gen $options" "$(hang | jq -r .verdict)" NONE
    is "gen $options: called missing" "$("$RINGSCOPE" ops --json "$run" | jq -s '[.[] | select(.missing != [])] | length')" 0
    "$RINGSCOPE" hang "$run" >/dev/null
    is "gen $options: exit status" $? 0
done

# Real processes, from the files that they leave.
rm -rf "$run"
"$RINGSCOPE" sim --ranks 8 --hosts 2 --steps 40 --hang 3@20 -o "$run" >/dev/null 2>&1
is "sim --hang 3@20" "$(hang | jq -c '[.verdict, .ranks]')" '["NOT_JOINED",[3]]'
rm -rf "$run"
"$RINGSCOPE" sim --ranks 8 --hosts 2 --steps 40 --kill 2@15 -o "$run" >/dev/null 2>&1
is "sim --kill 2@15" "$(hang | jq -c '[.verdict, .ranks]')" '["RANK_DEAD",[2]]'
exit $bad
