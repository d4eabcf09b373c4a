#!/bin/bash
# Clocks of Kineto traces, of a job whose ranks were on one host and one GPU: all true offsets are 0. (Eight processes share the
# GPU in slices of milliseconds, and six steps were kept: errors are as large as that.) Without a hint the wall
# clocks stay as they are, with an error; traces of one host, by the user's word or by their names, share one clock; and
# traces of a host whose clock is off are moved by as much.
set -u
bad=0
data=tests/data/h200-tp2pp2dp2/kineto
# is WHAT GOT WANTED
is() { [ "$2" = "$3" ] || { echo "$1: $2, not $3"; bad=1; }; }
clocks() { "$RINGSCOPE" clocks --json "$@" | jq -s -c "$query"; }

query='[length, all(.[]; .offset_ns == 0 and .gpu_offset_ns == 0 and .drift_ppm == 0), ([.[].gpu_error_ns] | max < 3000000), ([.[].method] | unique)]'
is "no hint" "$(clocks "$data")" '[8,true,true,["reference","unshifted"]]'

query='[length, all(.[]; .offset_ns == 0 and .gpu_offset_ns == 0), .[0].compare_error_ns, ([.[].host] | unique)]'
is "--same-host" "$(clocks --same-host "$data")" '[8,true,1000,["host"]]'

# As PyTorch's handler for TensorBoard names them: HOST_PID.TIME.pt.trace.json.gz
mkdir "$TMP/board"
for file in "$data"/*; do
    pid=$(zcat "$file" | grep -o '"pid": *[0-9]*' | head -n 1 | grep -o '[0-9]*$')
    cp "$file" "$TMP/board/node-7_$pid.1790857026123456789.pt.trace.json.gz"
done
is "names" "$(clocks "$TMP/board")" '[8,true,1000,["node-7"]]'
is "ties on one clock" "$("$RINGSCOPE" report --json "$TMP/board" | jq -c '[.hosts, .clock_error_ns, .operations.compared == .operations.count]')" '[1,1000,true]'

# Another process's pid in the name is no proof.
mkdir "$TMP/others"
for file in "$data"/*; do cp "$file" "$TMP/others/node-7_1.$(basename "$file" .json.gz | tr -d a-z_).pt.trace.json.gz"; done
query='[([.[].host] | unique), ([.[].method] | unique)]'
is "names of other processes" "$(clocks "$TMP/others")" '[[null],["reference","unshifted"]]'

# The clocks of ranks 4 to 7 are 30 ms ahead.
mkdir "$TMP/ahead"
for rank in 0 1 2 3 4 5 6 7; do
    zcat "$data/kineto_rank$rank.json.gz" | if [ $rank -ge 4 ]; then sed 's/"baseTimeNanoseconds": *1790857026000000000/"baseTimeNanoseconds": 1790857026030000000/'; else cat; fi >"$TMP/ahead/kineto_rank$rank.json"
done
# shellcheck disable=SC2016 # the variables are jq's
query='(map({key: "\(.ranks[0])", value: .}) | from_entries) as $r
    | [range(4) as $a | range(4; 8) as $b | $r["\($a)"].gpu_offset_ns - $r["\($b)"].gpu_offset_ns - 30000000
        | fabs <= $r["\($a)"].gpu_error_ns + $r["\($b)"].gpu_error_ns] | [length, all]'
is "30 ms ahead" "$(clocks "$TMP/ahead")" '[16,true]'
exit $bad
