#!/bin/bash
# One job that several tools saw: its operations once, with what each tool knows of them; other jobs side by side.
set -u
# shellcheck source=tests/said.sh
source "$(dirname "$0")/../said.sh"
data=$(dirname "$0")/../data
example=$data/example/ddp4 kineto=$data/kineto flight=$data/flight/ddp4

same() { # WHAT FILE FILE FILTER
    if ! cmp -s <(jq -s -c "$4" "$2") <(jq -s -c "$4" "$3"); then
        echo "$1: not those of the one that leads"
        bad=1
    fi
}

"$RINGSCOPE" ops --json "$example" 2> /dev/null > "$TMP/alone"
"$RINGSCOPE" ops --json "$example" "$kineto" 2> "$TMP/notes" > "$TMP/two"
"$RINGSCOPE" ops --json "$example" "$kineto" "$flight" 2> /dev/null > "$TMP/three"
"$RINGSCOPE" ops --json "$example" "$flight" 2> /dev/null > "$TMP/flight"

is "operations of the one that leads" "$(wc -l < "$TMP/alone")" 264
# Nothing comes twice: the same operations as the one that leads has.
for name in two three flight; do
    same "$name: operations" "$TMP/$name" "$TMP/alone" 'map(.op) | sort'
    same "$name: ranks" "$TMP/$name" "$TMP/alone" 'sort_by(.op) | map([.ranks[] | [.rank, .global_rank, .pid]])'
done
is "notes of what is not merged" "$(grep -cE "match(es)? (none|one) of the other inputs" "$TMP/notes")" 0

# The five steps of the profiler: 8 all-reduces, 1 all-gather, 1 all-to-all, 1 ring of 4 and 1 of each half, a step.
seen='select(.seen_by == ["example-profiler", "kineto"])'
is "collectives that Kineto saw" "$(jq -s -c "map($seen | select(.kind == \"coll\")) | group_by([.func, .pg_desc])
    | map([.[0].func, .[0].pg_desc, .[0].pg_name, length])" "$TMP/two")" \
    '[["AllGather","default_pg","0",5],["AllReduce","default_pg","0",40],["AllReduce","even","1",5],["AllReduce","odd","2",5]]'
is "fan-outs that Kineto saw" "$(jq -s -c "map($seen | select(.kind == \"fanout\")) | group_by(.func)
    | map([.[0].func, .[0].pg_desc, length])" "$TMP/two")" '[["AlltoAll","default_pg",5],["SendRecv","default_pg",5]]'
# Which five of the eight: the last ones, by their numbers. 19 all-reduces come before (3 steps before of 8, and others).
is "numbers of the first and last" "$(jq -s -c "map($seen | select(.func == \"AllReduce\" and .pg_desc == \"even\")) | map(.seq)
    | [min, max]" "$TMP/two")" '[3,7]'

# Our own recording of a job of 12 steps, and the profiler in its steps 4 to 6: names, steps and annotations.
over=$data/h200-overlay
"$RINGSCOPE" ops --json "$over/rec" > "$TMP/alone"
"$RINGSCOPE" ops --json "$over/rec" "$over/kineto" > "$TMP/two"
same "recordings: operations" "$TMP/two" "$TMP/alone" 'map([.op, .func, .seq]) | sort'
is "recordings: steps" "$(jq -s -c 'map(select(.step != null and .kind == "coll")) | group_by(.step)
    | map([.[0].step, length, (map(.seen_by) | unique), (map(.scope) | unique)])' "$TMP/two")" \
    '[[4,8,[["ringscope","kineto"]],[null,"backward"]],[5,8,[["ringscope","kineto"]],[null,"backward"]],[6,8,[["ringscope","kineto"]],[null,"backward"]]]'
is "recordings: which all-reduces" "$(jq -s -c 'map(select(.step != null and .func == "AllReduce" and .nranks == 4))
    | sort_by(.seq) | map(.seq) | [length, .[-1] - .[0]]' "$TMP/two")" '[18,17]'
# Both saw the same kernels start: within some us, whatever the clocks were.
is "recordings: clock errors" "$("$RINGSCOPE" clocks --json "$over/rec" "$over/kineto" | jq -s 'map(select(.method == "overlay"))
    | [length, (map(.error_ns) | max < 20000)]' -c)" '[4,true]'

# Wall time, which was not needed to find the place, says the same.
is "recordings: wall time" "$("$RINGSCOPE" clocks --json "$over/rec" "$over/kineto" | jq -s 'map(select(.method == "overlay")
    | .offset_ns | fabs < 1000000) | all')" true

# The Flight Recorder: all of the job, its own numbers.
is "what the Flight Recorder lacks" "$(jq -s 'map(select(.seen_by != ["example-profiler", "flight-recorder"])) | length' \
    "$TMP/flight")" 1
is "numbers in the group" "$(jq -s -c 'map(select(.pg_desc == "even" and .pg_seq != null)) | sort_by(.seq) | map(.pg_seq)
    | (. == unique and length == 8)' "$TMP/flight")" true
is "comms ids" "$(jq -s 'map(select(.kind == "coll" and .comms_id != null)) | [length, (map(.comms_id) | unique | length)] | .[0] == .[1]' \
    "$TMP/flight")" true

# Rank 2 is the straggler for whoever looks.
for inputs in "$example" "$kineto" "$example $kineto" "$example $kineto $flight"; do
    # shellcheck disable=SC2086
    is "straggler of $inputs" "$("$RINGSCOPE" report --json $inputs 2> /dev/null | jq '.stragglers[0].rank')" 2
    # shellcheck disable=SC2086
    is "ranks of $inputs" "$("$RINGSCOPE" report --json $inputs 2> /dev/null | jq '.basis.ranks // .ranks')" 4
done

# Communicators are listed once, with the names that only the framework knows.
is "communicators" "$("$RINGSCOPE" comms --json "$example" "$kineto" "$flight" 2> /dev/null | jq -s -c 'map([.pg_name, .pg_desc,
    (.seen_by | length), .comm_source, .ranks]) | sort')" \
    '[["0","default_pg",3,"nccl",[0,1,2,3]],["1","even",3,"nccl",[0,2]],["2","odd",3,"nccl",[1,3]]]'
is "by the framework's name" "$("$RINGSCOPE" ops --json --comm even "$example" "$kineto" 2> /dev/null | wc -l)" 8

# Sends and receives, whose kernels tell their end too early in the recording: what the driver saw of them counts.
is "ring: transfers" "$("$RINGSCOPE" ops --json "$over/rec" "$over/kineto" 2> /dev/null | jq -s -c 'map(select(.kind == "fanout"))
    | group_by(.seen_by | length) | map([length, (map(.transfer_ns != null) | unique)])')" '[[9,[false]],[3,[true]]]'
# The trace alone may not know it, since its clocks err by more: then as it comes.
view() { "$RINGSCOPE" ops --json "$@" 2> /dev/null | jq -s 'map(select(.kind == "fanout" and (.seen_by | index("kineto"))) | (.ranks | (map(.end_ns) | max) - (map(.start_ns) | max))) | add / length'; }
is "ring: the same transfer as in the trace alone" "$(jq -n "($(view "$over/rec" "$over/kineto") / $(view "$over/kineto") - 1) | fabs < 0.3")" true

# Clocks of the other tools are on the axis of the first.
is "islands" "$("$RINGSCOPE" clocks --json "$example" "$kineto" "$flight" 2> /dev/null | jq -s 'map(select(.pid != 0 and .island != 0)) | length')" 0

# Another job of the same shape is another job.
if "$RINGSCOPE" gen -f --ranks 4 --hosts 1 --steps 20 -o "$TMP/gen" > /dev/null 2>&1; then
    n=$("$RINGSCOPE" ops --json "$TMP/gen" 2> /dev/null | wc -l)
    "$RINGSCOPE" ops --json "$TMP/gen" "$kineto" 2> "$TMP/notes" > "$TMP/apart"
    is "operations of two jobs" "$(wc -l < "$TMP/apart")" $((n + $("$RINGSCOPE" ops --json "$kineto" 2> /dev/null | wc -l)))
    is "operations that both saw" "$(jq -s 'map(select(.seen_by | length != 1)) | length' "$TMP/apart")" 0
    is "the note" "$(grep -c 'kineto: none of its' "$TMP/notes")" 1
else
    echo "gen failed"
    bad=1
fi
exit $bad
