#!/bin/bash
# `export --format chrome`: strict JSON in which slices of a thread lie beside or inside each other, every arrow is bound to one
# slice, and each operation has the times and arguments of `ops --json`.
set -u
# shellcheck source=tests/said.sh
source "$(dirname "$0")/../said.sh"
root=$(cd "$(dirname "$0")/../.." && pwd)
data=$root/tests/data
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1

# Times to the ns exceed what jq holds: those of tests/data have their first six digits cut off.
cut_times() { sed -E 's/("(start_ns|end_ns|t0_ns)":"?)[0-9]{6}([0-9]{13})/\1\3/g'; }

# What always holds: prints what does not.
cp "$root/tests/system/chrome_bound.jq" holds.jq
cat >>holds.jq <<'J'
.traceEvents as $e
| [$e[] | select(.ph == "X")] as $slices
| ($slices | group_by(.tid) | map({key: (.[0].tid | tostring), value: (sort_by(.ts) | map([(.ts | ns), ((.ts | ns) + (.dur | ns)), .pid]))})
   | from_entries) as $threads
| ($e | tracks) as $tracks
| [$e[] | select(.ph == "s" or .ph == "t" or .ph == "f") | . + {to: bound($tracks)}] as $flows
| (if .displayTimeUnit != "ns" or (.otherData.version | startswith("ringscope ") | not) or (.otherData.t0_ns | test("^-?[0-9]+$") | not)
   then "head" else empty end),
  ($e | map(select(.ph as $p | ["M", "X", "i", "C", "s", "t", "f"] | index($p) | not)) | .[:3][] | "phase \(.ph)"),
  ([$slices[] | select(.ts < 0 or .dur < 0 or (.name | length) == 0 or (.cat | length) == 0)] | .[:3][] | "slice \(.)"),
  # every thread and process that is used has a name, and a thread belongs to one process
  ([$e[] | select(.ph == "M" and .name == "thread_name") | .tid] | sort) as $named
  | (if $named != ($named | unique) or ([$slices[].tid] | unique) - $named != [] then "threads without a name, or with two" else empty end),
    (if ([$e[] | select(.ph != "M") | .pid] | unique) - [$e[] | select(.ph == "M" and .name == "process_name") | .pid] != []
     then "processes without a name" else empty end),
    ($threads | to_entries[] | select((.value | map(.[2]) | unique | length) > 1) | "thread \(.key) in two processes"),
    # slices of a thread that begin together could not be told apart by an arrow; those that cross are refused by readers
    ($threads | to_entries[] | .key as $tid | .value | . as $v | range(1; length) | select($v[.][0] == $v[. - 1][0]) | "thread \($tid): two begin together"),
    ($threads | to_entries[] | .key as $tid | reduce .value[] as $s ({open: [], bad: 0}; .open |= map(select(. > $s[0]))
        | if .open != [] and .open[-1] < $s[1] then .bad += 1 else .open += [$s[1]] end) | select(.bad > 0) | "slices cross on thread \($tid)"),
    # arrows: one start, one end, rising, each in a slice of its thread
    ($flows | group_by(.id)[] | select(map(.ph) as $p | ($p | map(select(. == "s")) | length) != 1 or ($p | map(select(. == "f")) | length) != 1
        or $p[0] != "s" or $p[-1] != "f" or (map(.ts) | . != sort) or (map([.name, .cat]) | unique | length) != 1)
     | "arrow \(.[0].id): \(map([.ph, .ts]))"),
    ($flows[] | select(.ph == "f" and .bp != "e") | "unbound \(.id)"),
    ($flows | group_by(.id)[] | .[0].cat as $cat | if any(.[]; .to == null or .to.pid != .pid) then "arrow \(.[0].id) hangs in the air"
        elif map(.to | if $cat == "operation" then .fanout // .op else .op end | select(.)) | unique | length < 2 then empty
        else "arrow \(.[0].id) joins two operations" end),
    # counters end at zero and are never below
    ([$e[] | select(.ph == "C")] | group_by([.pid, .name])[] | map(.args | to_entries[0].value) as $v
     | select($v[-1] != 0 or ($v | min) < 0 or (map(.ts) | . != sort)) | "counter \(.[0].name) of \(.[0].pid)")
J
holds() { # WHAT FILE
    local said
    said=$(jq -r -f holds.jq "$2" 2>&1 | head -n 5)
    is "$1" "$said" ""
}

# What operations say, in either format: op, rank, when, arguments.
cat >chrome_ops.jq <<'J'
(.otherData.t0_ns | tonumber) as $t0
| .traceEvents[] | select(.ph == "X" and .cat == "operations" and (.args.start_unknown | not)) | .args as $a
| [$a.op, $a.comm, $a.rank, $a.global_rank, .name, $a.seq, $a.bytes, $a.count, $a.nranks, $a.dtype, $a.wait_ns, $a.transfer_ns, $a.last_rank,
   $a.tie == true, $a.clock_error_ns, $a.fanout, $t0 + (.ts * 1000 | round), if $a.end_bounded or $a.open then null else $t0 + (.ts * 1000 | round) + (.dur * 1000 | round) end]
J
cat >ops.jq <<'J'
select(.kind != "fanout") | . as $o | .ranks[] | select(.start_ns)
| [$o.op, $o.comm, .rank, .global_rank, if $o.kind == "pair" then (if .rank == $o.src then "Send" else "Recv" end) else $o.func end, $o.seq, $o.bytes, $o.count, $o.nranks,
   $o.dtype, .wait_ns, $o.transfer_ns, $o.last_rank, $o.tie, .clock_error_ns, $o.fanout, .start_ns, if .end_early then null else .end_ns end]
J
same() { # WHAT FILE IN...: operations as `ops --json` has them
    local what=$1 file=$2
    shift 2
    cut_times <"$file" | jq -c -f chrome_ops.jq | sort >of_chrome
    "$RINGSCOPE" ops --json "$@" | cut_times | jq -c -f ops.jq | sort >of_ops
    is "$what: operations as in ops" "$(diff of_chrome of_ops | head -n 4)" ""
    [ -s of_ops ] || is "$what: operations" none some
}

export_to() { # LEVEL IN...: of tests/data, each into a file of its name
    local level=$1 in
    shift
    for in in "$@"; do
        "$RINGSCOPE" export --format chrome --level "$level" "$data/$in" -o "${in//\//-}.json" 2>err || is "$in" "$(head -n 2 err)" exported
        holds "$in" "${in//\//-}.json"
    done
}
export_to net h200-mix kineto/formats example/oneprocess4 sim-threads
export_to ops h200-ddp h200-overlay/rec kineto flight/ddp4
for in in h200-mix h200-ddp; do same "$in" "$in.json" "$data/$in"; done

# Relations. All four ranks of the world meet in each of its collectives; each send has its receive.
count() { jq "[.traceEvents[] | select($2)] | length" "$1.json"; }
is "mix: rows" "$(count h200-mix '.name == "process_name"')" 4
is "mix: messages" "$(count h200-mix '.ph == "s" and .cat == "message"')" \
    "$("$RINGSCOPE" ops --json "$data/h200-mix" | jq -s '[.[] | select(.kind == "pair")] | length')"
is "mix: operations across ranks" "$(count h200-mix '.ph == "s" and .cat == "operation"')" \
    "$("$RINGSCOPE" ops --json "$data/h200-mix" | jq -s '[.[] | select(.kind != "pair" and (.ranks | length) > 1 and ([.ranks[] | .start_ns // .launched_ns // .enqueued_ns] | all))] | length')"
is "mix: an operation's arrow has all its ranks" "$(jq -c '[.traceEvents[] | select(.cat == "operation")] | group_by(.id) | map(map(.pid) | unique | length) | unique' h200-mix.json)" '[2,4]'
is "mix: steps hang on proxy operations" "$(jq '[.traceEvents[] | select(.ph == "X" and .cat == "steps")] | length > 0' h200-mix.json)" true
# Calls stand in their group's call, on one thread: each but the group calls has one around it.
cat >inside.jq <<'J'
def ns: . * 1000 | round;
[.traceEvents[] | select(.ph == "X" and .cat == "calls")] | group_by(.tid)
| map(sort_by(.ts) | reduce .[] as $s ({}; if $s.name == "group call" then .end = ($s.ts | ns) + ($s.dur | ns)
    else .[if (.end // 0) >= ($s.ts | ns) + ($s.dur | ns) then "inside" else "beside" end] += 1 end))
| [(map(.inside // 0) | add) > 0, (map(.beside // 0) | add)]
J
is "mix: calls inside group calls" "$(jq -c -f inside.jq h200-mix.json)" "[true,0]"
is "mix: flags" "$(count h200-mix '.ph == "i"' | awk '{ print ($1 > 0) }')" 1
# Who was waited for stands out, and is the last rank of its operation.
is "mix: colours" "$(jq -c '[.traceEvents[] | select(.ph == "X" and .cname) | if .cname == "bad" then .args.rank == .args.last_rank and .args.tie == null else .cname end] | unique' h200-mix.json)" "[true]"
# PyTorch's own number of a collective stands beside ours; it may have 64 bits.
jq -r '.traceEvents[] | select(.cat == "operations" and .args["Comms Id"]) | .args | "\(.comms_id) \(.["Comms Id"])"' kineto-formats.json flight-ddp4.json | sort -u >ids
is "some Comms Ids" "$(wc -l <ids | awk '{ print ($1 > 3) }')" 1
while read -r hex digits; do is "Comms Id" "$(printf '0x%016x' "$digits")" "$hex"; done <ids

# Generated runs: losses are seen, filters hold, several ranks in a process have a row each.
"$RINGSCOPE" gen --ranks 8 --hosts 2 --callbacks 15k --no-truth -o gen >/dev/null 2>&1
"$RINGSCOPE" export --format chrome gen -o gen.json
holds "gen" gen.json
is "gen: rows" "$(count gen '.name == "process_name"')" 8
"$RINGSCOPE" gen --ranks 4 --callbacks 8k --drop 0.05 --no-truth -o lossy >/dev/null 2>&1
"$RINGSCOPE" export --format chrome lossy -o lossy.json
holds "lossy" lossy.json
is "lossy: losses are told and seen" "$(jq -c '[.otherData.callbacks_lost > 0, ([.traceEvents[] | select(.cat == "lost" and .ph == "X")] | length > 0)]' lossy.json)" "[true,true]"
is "gen: operation slices" "$(count gen '.ph == "X" and .cat == "operations"')" "$("$RINGSCOPE" ops --json gen | jq -s '[.[] | select(.kind != "fanout") | .ranks[] | .parts // 1] | add')"
"$RINGSCOPE" export --format chrome gen --rank 3 --level ops -o one.json
holds "one rank" one.json
is "one rank: rows with slices" "$(jq -c '[.traceEvents[] | select(.ph == "X") | .pid] | unique | length' one.json)" 1
is "one rank: rows of slices" "$(jq -c '[.traceEvents[] | select(.ph == "X") | .cat] | unique - ["operations", "calls", "launches", "annotations", "compute", "host", "lost", "not-recorded"]' one.json)" "[]"
"$RINGSCOPE" export --format chrome gen | cmp -s - gen.json || is "to standard output" different "the same"
exit $bad
