#!/bin/bash
# docs/json.md says what the tables of src/fields say, row by row; each table has its place there; and what commands write has
# no other fields, and of a table all that are always there.
set -u
data=$(dirname "$0")/../data
docs=$(dirname "$0")/../../docs
bad=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$(dirname "$0")/../../tools/fields.sh" --check || bad=1

while IFS= read -r name; do
    grep -qxF "<!-- fields: $name -->" "$docs/json.md" || {
        echo "docs/json.md has no table of: $name"
        bad=1
    }
done < <("$BUILD/tests/field_tables" names)

# COMMAND PATH TABLE: the keys of the objects at PATH are those of the table, in its order.
keys() {
    local name="$3" out=$work/${1//\//,}
    awk -v begin="<!-- fields: $name -->" '$0 == begin { on = 1 } /^<!-- end/ { on = 0 } on && /^\| `/' "$docs/json.md" |
        cut -d'`' -f2 | grep -v '\.' >"$work/said"
    # shellcheck disable=SC2086 # words
    [ -e "$out" ] || "$RINGSCOPE" $1 >"$out" 2>/dev/null
    jq -c "$2 | keys_unsorted" "$out" | sort -u >"$work/is"
    [ -s "$work/is" ] || {
        echo "$1: nothing at $2"
        bad=1
    }
    jq -r '.[]' "$work/is" | sort -u | grep -vxFf "$work/said" >"$work/more" && {
        echo "$1: $2 has fields that docs/json.md does not tell: $(paste -sd' ' "$work/more")"
        bad=1
    }
    # In the order of the table: the position of each key rises.
    jq -e --rawfile said "$work/said" '($said | split("\n")) as $s | [.[] as $k | $s | index($k)] | . == sort' "$work/is" |
        grep -q false && {
        echo "$1: $2 is not in the order of docs/json.md"
        bad=1
    }
    return 0
}
keys "info --json $data/h200-mix" '.process_list[]' process
keys "info --json $data/kineto" '.process_list[]' process
keys "info --json $data/h200-mix" '.process_list[].communicators[]' 'communicator of a process'
keys "info --json $data/h200-mix" '.runs[]' run
keys "info --json $data/h200-mix" '.coverage[]' coverage
for in in h200-mix kineto; do
    keys "info --json $data/$in" '.inputs[]' input
    keys "overlap --json $data/$in" . 'rank in overlap'
    keys "critical --json $data/$in" . 'critical path'
    keys "critical --json $data/$in" '.by[]' 'critical row'
    keys "critical --json $data/$in" '.segments[]' 'critical segment'
    keys "whatif --json $data/$in" . whatif
    keys "whatif --json $data/$in" '.cases[]' 'whatif case'
done
runs="$data/diff-h200/base.json.gz $data/diff-h200"
keys "diff --json $runs/proto.json.gz" . diff
keys "diff --json $runs/proto.json.gz" '.a[], .b[]' 'diff run'
keys "diff --json $runs/proto.json.gz" '.rows[]' 'diff row'
keys "diff --json $runs/proto.json.gz" '.settings[]' 'diff setting'
keys "diff --json $runs/late.json.gz" '.findings[]' 'diff finding'
keys "diff --json $runs/late.json.gz" '.causes[]' 'diff cause'
keys "overlap --json $data/kineto" '.top_kernels[]' kernel
keys "overlap --json --stages $data/stages/two-ranks.csv" '.pipeline.stages[]' stage
keys "overlap --json --stages $data/stages/two-ranks.csv" '.pipeline.bubbles[]' bubble
keys "overlap --json $data/kineto" '.stretches[]' stretch
keys "overlap --json $data/kineto" '.host_calls[]' 'host call'
keys "overlap --json $data/kineto" '.annotations[]' annotation
for in in h200-mix kineto example/ring4; do
    keys "ops --json $data/$in" . operation
    keys "ops --json $data/$in" '.ranks[]' 'rank in an operation'
    keys "comms --json $data/$in" . communicator
    keys "comms --json $data/$in" '.members[]' 'rank of a communicator'
    keys "clocks --json $data/$in" . clock
done
"$RINGSCOPE" gen -n 16 --hosts 4 --slow 5:2000 --slow-link 7-8:6 --steps 8 -o "$work/run" >/dev/null
keys "report --json $work/run" '.by_func[]' function
keys "report --json $work/run" .steps steps
keys "report --json --every STEP $work/run" '.course[]' 'window of the course'
ref=$data/nccl_tests/all_reduce.txt
keys "report --json --reference $ref $work/run" '.reference.files[]' 'reference file'
keys "report --json --reference $ref $work/run" '.reference.points[]' 'reference point'
keys "report --json $data/nvprof" .statistics statistics
keys "report --json $data/nvprof" '.statistics.processes[]' 'statistics of a process'
keys "report --json $data/nvprof" '.statistics.operations[]' 'statistics of an operation'
keys "report --json $data/nvprof" '.statistics.operations[].processes[]' 'statistics of a process in a row'
keys "report --json $data/nvprof" '.statistics.host_calls[]' 'statistics of a host call'
keys "report --json $data/nvprof" '.statistics.kernels[]' 'statistics of a kernel'
keys "report --json $data/nvprof" '.statistics.ranges[]' 'statistics of a range'
keys "report --json $work/run" '.stragglers[]' straggler
keys "report --json $work/run" '.lateness[]' lateness
keys "report --json $work/run" '.network[]' 'network pair'
keys "report --json $work/run" '.slow_links[]' 'slow link'

# ---- ranks_seen: as many as are listed; with one rank of eight that was not recorded, seven; the same everywhere ----
is() { # WHAT IS WANT
    [ "$2" = "$3" ] || {
        echo "$1: $2, not $3"
        bad=1
    }
}
"$RINGSCOPE" gen -w mix --no-recording 4 --steps 6 -o "$work/seven" >/dev/null
"$RINGSCOPE" ops --json "$work/seven" 2>/dev/null >"$work/ops"
is "ranks_seen of all kinds" "$(jq -s 'all(.ranks_seen == (.ranks | length)) and any(.kind == "fanout")' "$work/ops")" true
is "ranks_seen of all ranks but one" "$(jq -s -c '[.[] | select(.kind == "coll" and .nranks == 8) | .ranks_seen] | unique' "$work/ops")" "[7]"
sum=$(jq -s 'map(.ranks_seen) | add' "$work/ops")
is "ranks_seen in CSV" "$("$RINGSCOPE" export --to csv "$work/seven" 2>/dev/null |
    awk -F, '{ sub("\r", "") } NR == 1 { n = NF } n && NR > 1 { sum += $NF } END { print sum }')" "$sum"
if "$RINGSCOPE" --version | grep -q 'sqlite *on'; then
    is "ranks_seen in SQL" "$("$RINGSCOPE" sql --csv "$work/seven" "SELECT sum(ranks_seen) FROM operations" 2>/dev/null | tail -n 1 | tr -d '\r')" "$sum"
fi
is "ranks_seen in slices" "$("$RINGSCOPE" export --to chrome "$work/seven" 2>/dev/null |
    jq '[.traceEvents[] | select(.cat == "operations" and .args.seq != null).args | has("ranks_seen")] | all')" true
exit $bad
