#!/bin/bash
# Kineto traces of other shapes than PyTorch's own of today: without arguments at collectives, several ranks merged into
# one file, kernels of other libraries that communicate, ROCm, devices that are not understood, and what is no trace.
# Figures of tests/data/kineto/shapes are computed by hand; merged real traces give what they give unmerged.
# sanitizers: address
set -u
# shellcheck source=tests/said.sh
source "$(dirname "$0")/../said.sh"
data=$(dirname "$0")/../data
shapes=$data/kineto/shapes
work=$TMP

overlap() { # FILE...: rank, us of compute, communication and both at once, of each rank
    "$RINGSCOPE" overlap --json "$@" 2>"$work/err" |
        jq -s -c 'map([.rank, .exact.compute_ns / 1000, .exact.comm_ns / 1000, .exact.overlap_ns / 1000])'
}
two='[[0,500,900,400],[1,200,700,0]]'

# ---- no arguments: joined by order ----
unnamed=("$shapes"/unnamed_rank?.json)
is "unnamed" "$(overlap "${unnamed[@]}")" "$two"
is "its note" "$(cat "$work/err")" "ringscope overlap: 2 traces do not name process groups: operations on NCCL's stream 20 \
are joined by their order, as of a group of all 2 ranks (confidence 0.9)"
is "its operations" "$("$RINGSCOPE" ops --json "${unnamed[@]}" 2>/dev/null |
    jq -s -c 'map([.func, .bytes, .nranks, (.ranks | length), .confidence])')" \
    '[["AllReduce",4000,2,2,0.9],["AlltoAll",2048,2,2,0.9],["AllReduce",16384,2,2,0.9]]'
# One rank alone, another order, another number: each operation is of its rank alone, and why is said.
not_joined() { # NAME WHY FILE...
    local name=$1 why=$2
    shift 2
    is "$name" "$("$RINGSCOPE" ops --json "$@" 2>"$work/err" | jq -s -c 'map([.nranks, (.ranks | length)]) | unique')" \
        '[[null,1]]'
    is "$name: why" "$(grep -c "$why" "$work/err")" 1
    is "$name: ranks" "$("$RINGSCOPE" info --json "$@" 2>/dev/null | jq -c '.ranks | length')" $#
}
not_joined "one rank" "only one rank is given" "${unnamed[1]}"
jq 'del(.traceEvents[-5:])' "${unnamed[1]}" >"$work/shorter.json"
not_joined "one operation less" "operations on stream 20 differ between ranks 0 and 1" "${unnamed[0]}" "$work/shorter.json"
jq '(.traceEvents[] | select(.args["Input Dims"] == [[4096]]).args["Input Dims"]) = [[4097]]' "${unnamed[1]}" >"$work/size.json"
not_joined "another size" "operations on stream 20 differ between ranks 0 and 1" "${unnamed[0]}" "$work/size.json"
for r in 0 1; do # the first all-reduce on a stream of its own
    jq '(.traceEvents[] | select(.cat == "kernel" and .tid == 20 and .ts < 1500)) |= (.tid = 21 | .args.stream = 21)' \
        "${unnamed[r]}" >"$work/two_rank$r.json"
    # An all-gather whose output is four times its input is of four ranks, not of two.
    jq '(.traceEvents[] | select(.name == "nccl:all_reduce").name) = "nccl:_all_gather_base" | (.traceEvents
        |= map(if .name == "record_param_comms" and .dur == 50
               then ., (.name = "c10d::_allgather_base_" | .args["Input Dims"] = [[4000], [1000], []]) else . end))' \
        "${unnamed[r]}" >"$work/four_rank$r.json"
done
not_joined "two streams" "several process groups" "$work"/two_rank?.json
not_joined "sizes" "sizes say that the group of stream 20 has 4 of 2 ranks" "$work"/four_rank?.json
# Without annotations: kernels whose names say what they do.
for r in 0 1; do jq 'del(.traceEvents[] | select(.name | test("^nccl:|^record_")))' "${unnamed[r]}" >"$work/bare_rank$r.json"; done
is "kernels alone" "$("$RINGSCOPE" ops --json "$work"/bare_rank?.json 2>/dev/null |
    jq -s -c 'map([.func, .bytes, (.ranks | length), .confidence])')" '[["AllReduce",null,2,0.9]]'
is "kernels alone: overlap" "$(overlap "$work"/bare_rank?.json)" "$two"

# ---- several ranks in one file ----
is "fused, unnamed" "$(overlap "$shapes/fused_unnamed.json")" "$two"
is "fused, unnamed: operations" "$("$RINGSCOPE" ops --json "$shapes/fused_unnamed.json" 2>/dev/null |
    jq -s -c 'map([.func, .bytes, (.ranks | length), .confidence])')" \
    '[["AllReduce",4000,2,0.9],["AlltoAll",2048,2,0.9],["AllReduce",16384,2,0.9]]'
for f in fused sglang; do
    is "$f" "$(overlap "$shapes/$f.json")" "$two"
    is "$f: says nothing" "$(cat "$work/err")" ""
    is "$f: processes" "$("$RINGSCOPE" info --json "$shapes/$f.json" | jq -c '.ranks | length')" 2
    is "$f: operations" "$("$RINGSCOPE" ops --json "$shapes/$f.json" |
        jq -s -c 'map([.func, .complete, (.ranks | map([.global_rank, .pid, .device])), .confidence]) | unique | map(.[0:4])')" \
        '[["AllReduce",true,[[0,100,0],[1,101,1]],1],["AlltoAll",true,[[0,100,0],[1,101,1]],1]]'
done
is "concatenated" "$("$RINGSCOPE" ops --json "$shapes/concatenated.json" 2>&1 >/dev/null | tail -n 1)" "ringscope ops: $shapes/concatenated.json: \
traces of 2 processes in one file (pids 100, 101), and nothing says which GPU work is of which: not read; give one file per rank"
# Real traces, as both tools merge them: the same operations and figures as from one file per rank.
real() { # FILE...
    "$RINGSCOPE" ops --json "$@" | jq -s -c 'map([.func, .bytes, .complete, (.ranks | map(.global_rank) | sort)]) | sort'
    "$RINGSCOPE" overlap --json "$@" | jq -s -c 'map([.rank, .kernels, .comm_kernels, .exact.overlap_ns, .exact.comm_ns])'
}
for r in 0 2; do
    gunzip -c "$data/kineto/kineto_rank$r.json.gz" >"$work/r$r.json"
    jq -c --argjson r $r '.traceEvents | map(select((.ph != "M" or (.name | test("^process_") | not)) and .cat != "Trace")
        | .args.rank = $r
        | if (.pid | type) == "number" then .args.pid_raw = .pid | .pid += $r * 10000 else . end
        | if .args.correlation then .args.correlation_raw = .args.correlation | .args.correlation += $r * 3000000000
          else . end)' "$work/r$r.json" >"$work/fused$r"
    jq -c --arg front "[TP0$r-DP00]" '.traceEvents |= map(.pid = "\($front) \(.pid)")' "$work/r$r.json" >"$work/labelled$r"
done
jq -c -s '{traceEvents: add}' "$work"/fused? >"$work/fused.json"
jq -c -s '(map(.traceEvents) | add) as $all | .[0] + {traceEvents: $all}' "$work"/labelled? >"$work/labelled.json"
real "$work"/r?.json >"$work/apart"
for f in fused labelled; do is "real, $f" "$(real "$work/$f.json")" "$(cat "$work/apart")"; done

# ---- communication that is not NCCL's, ROCm, other devices, no traces ----
is "other libraries" "$(overlap "$shapes/libraries.json")" '[[0,200,400,150]]'
is "their note" "$(grep -c '^ringscope overlap: 4 kernels communicate without NCCL (PyTorch symmetric memory: 1, custom' "$work/err")" 1
is "ROCm" "$(overlap "$shapes/rocm.json")" '[[0,100,100,50]]'
is "ROCm: the operation" "$("$RINGSCOPE" ops --json "$shapes/rocm.json" | jq -c '[.func, .bytes, .ranks[0].start_source]')" \
    '["AllReduce",256,"kernel"]'
"$RINGSCOPE" info "$shapes/mtia.json" >/dev/null 2>"$work/err" || bad=1
is "MTIA" "$(grep -c '^ringscope info: 3 events of devices that ringscope does not understand (mtia_runtime' "$work/err")" 1
echo '{"schema": "1.0.2-chakra.0.0.4", "pid": 1, "start_ts": 1, "nodes": [{"id": 2, "name": "aten::mm"}]}' >"$work/et.json"
is "an execution trace" "$("$RINGSCOPE" info "$work/et.json" 2>&1)" "ringscope info: $work/et.json: \
a PyTorch Execution Trace, which ringscope does not read: it has no GPU times; give the PyTorch profiler trace (Kineto) \
of the same run"
is "explained" "$("$RINGSCOPE" explain 'void vllm::cross_device_reduce_2stage<half, 8>(vllm::RankData*)' | head -n 1)" \
    "cross_device_reduce: kernel; PyTorch profiler trace (Kineto)"
exit "$bad"
