#!/bin/bash
# `export --format kineto`: a trace comes back byte by byte but for keys in the args of its NCCL events, which say what
# `ops --json` says.
# sanitizers: address
set -u
# shellcheck source=tests/said.sh
source "$(dirname "$0")/../said.sh"
data=$(cd "$(dirname "$0")/../data" && pwd)
cd "${TMP:?}" || exit 1
# What was put in, taken out again.
without() {
    sed -E 's/"ringscope op": "[^"]*", "ringscope wait_ns": [^,]*, "ringscope transfer_ns": [^,]*, "ringscope last_rank": (-?[0-9]+|null), "ringscope tie": (true|false), "ringscope error_ns": (-?[0-9]+|null)(, "ringscope ops": \[[^]]*\])?(, "Comms Id": [0-9]+)?(, )?//'
}
unpack() { if [ "${1%.gz}" != "$1" ]; then gzip -dc "$1"; else cat "$1"; fi; }

check() { # NAME INPUT...
    local name=$1 traces
    shift
    "$RINGSCOPE" export --format kineto "$@" -o "$name" 2>err || { echo "$name: $(cat err)"; bad=1; return; }
    "$RINGSCOPE" ops --json "$@" 2>/dev/null | jq -c '. as $o | {key: .op, value: {transfer_ns, last_rank, tie, error_ns,
        waits: [.ranks[].wait_ns]}}' | jq -s -c from_entries >ops.json
    traces=0
    for f in "$name"/*; do
        traces=$((traces + 1))
        original=$(find "$@" -name "$(basename "$f")" | head -n 1)
        unpack "$f" >got.json
        without <got.json | cmp - <(unpack "$original") || { echo "$f: something else has changed"; bad=1; }
        # What is said of operations that ops does not say; NCCL's kernels that PyTorch tells to communicate, without a word.
        is "$f: wrong, missing" "$(jq -c --slurpfile ops ops.json '[.traceEvents[] | select(.args?["ringscope op"]?) | .args
            | . as $a | $ops[0][.["ringscope op"]] as $o
            | select($o == null or $o.transfer_ns != $a["ringscope transfer_ns"] or $o.last_rank != $a["ringscope last_rank"]
                or $o.tie != $a["ringscope tie"] or $o.error_ns != $a["ringscope error_ns"] or ($o.waits | index($a["ringscope wait_ns"]) == null))][:2],
            ([.traceEvents[] | select(.cat? == "kernel" and (.name | startswith("ncclDevKernel")) and .args["Collective name"]?
            and (.args["ringscope op"]? | not))] | length)' got.json | tr '\n' ' ')" "[] 0 "
        [ "$(grep -c 'ringscope op' got.json)" -gt 0 ] || { echo "$f: nothing was added"; bad=1; }
    done
    is "$name: traces" "$traces" "$(find "$@" -name '*.json*' | grep -c kineto)"
}
mkdir in
cp "$data"/kineto/kineto_rank[01].json.gz in
check alone in
check laid-over "$data/h200-overlay/kineto" "$data/h200-overlay/rec"

# One trace: a file, packed as its name says, and to a pipe.
one=in/kineto_rank1.json.gz
"$RINGSCOPE" export --kineto $one in/kineto_rank0.json.gz -o one.json 2>/dev/null || { echo "one"; bad=1; }
without <one.json | cmp - <(gzip -dc $one) || { echo "one: something else has changed"; bad=1; }
"$RINGSCOPE" export --kineto $one in/kineto_rank0.json.gz -o one.json.gz 2>/dev/null
gzip -dc one.json.gz | cmp - one.json || { echo "one.json.gz is another"; bad=1; }
"$RINGSCOPE" export --kineto $one in/kineto_rank0.json.gz 2>/dev/null | cmp - one.json || { echo "the pipe has another"; bad=1; }
# The trace under another name, or in a folder that is named, is the same one: no word about that.
for input in ./in/kineto_rank1.json.gz in/ "$PWD/in"; do
    "$RINGSCOPE" export --kineto $one "$input" -o again.json 2>err || { echo "$input: $(cat err)"; bad=1; }
    is "$input: said" "$(cat err)" ""
    without <again.json | cmp - <(gzip -dc $one) || bad=1
    rm -f again.json
done
# Traces of ranks that are called the same, each in its folder.
mkdir -p a/x b
cp in/kineto_rank0.json.gz a/x/t.json.gz
cp in/kineto_rank1.json.gz b/t.json.gz
"$RINGSCOPE" export --format kineto a/x ./b/../b -o same 2>err || { echo "same names: $(cat err)"; bad=1; }
is "same names" "$(cd same && find . -type f | sort | tr '\n' ' ')" "./a/x/t.json.gz ./b/t.json.gz "
gzip -dc same/b/t.json.gz | without | cmp - <(gzip -dc b/t.json.gz) || bad=1
# Nothing to add: the trace as it came, and a word.
"$RINGSCOPE" export --kineto $one --from 0s --to 1ns in/kineto_rank0.json.gz -o none.json 2>err
gzip -dc $one | cmp - none.json || bad=1
grep -q 'nothing was added' err || { echo "nothing was added, and nothing said: $(cat err)"; bad=1; }
"$RINGSCOPE" export --kineto "$data/h200-overlay/rec/vm.462.rsc" in -o k.json 2>err && bad=1
grep -q "is no trace of PyTorch's profiler" err || { echo "a recording as a trace: $(cat err)"; bad=1; }
# What has been said is not said twice.
"$RINGSCOPE" export --kineto one.json in/kineto_rank0.json.gz -o twice.json 2>/dev/null
cmp one.json twice.json || bad=1

# Comms Id where it is missing, args that are empty or not there, keys in another order, a plain list, a trace that is cut.
event='"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "pid": 1, "tid": 1, "ts": 1, "dur": 5'
args='"External id": 1, "Collective name": "allreduce", "In msg nelems": 4, "Out msg nelems": 4, "dtype": "Float", "Process Group Name": "0", "Process Group Ranks": "[0]", "Group size": 1, "Seq": 1'
kernel='"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", "pid": 0, "tid": 7, "ts": 10, "dur": 5'
cat >odd.json <<J
[{"ph":"M","name":"process_name","pid":1,"args":{"name":"\"traceEvents\": [ {"}}, 3, "x", [{"deep": {}}],
 {"args":{$args},$event}
,{$kernel, "args" : { "External id": 1, "device": 0, "stream": 7, "correlation": 3 } }, {"ph": "X", "cat": "user_annotation", "name": "s\\\\", "ts": 0, "dur": 99, "pid": 1, "tid": 1},
 {"ph": "i", "n": [-0, 1E+2, 123456789012345678901234567890, 1e999, 0.10], "u": "\\ud83d\\ude00\\u00e9\\/", "n": null, "args": null}]
J
"$RINGSCOPE" export --format kineto odd.json -o odd.out 2>err || { echo "odd: $(cat err)"; bad=1; }
without <odd.out | cmp - odd.json || { echo "odd: $(cat odd.out)"; bad=1; }
is "odd: events with an operation" "$(jq '[.[] | objects | select(.args?["ringscope op"]?)] | length' odd.out)" 2
is "odd: with a Comms Id" "$(grep -c '"Comms Id": [0-9]' odd.out)" 2
gzip -dc $one | head -c 400000 >short.json
"$RINGSCOPE" export --format kineto short.json -o short.out 2>/dev/null || { echo "short"; bad=1; }
without <short.out | cmp - short.json || { echo "a trace that is cut has changed otherwise"; bad=1; }
exit $bad
