#!/bin/bash
# Updates docs/pictures: well-known cases as `ringscope view` draws them. All are drawn from recordings in tests/data, so the
# same program draws the same bytes.
# BUILD: where ringscope was built (build). FORMAT: svg or png (svg). The first argument: where to put them.
set -eu
cd "$(dirname "$0")/.."
out=${1:-docs/pictures}
format=${FORMAT:-svg}
ringscope=${RINGSCOPE:-${BUILD:-build}/ringscope}
data=tests/data
mkdir -p "$out"

draw() { # NAME TITLE INPUT options...
    local name=$1 title=$2 input=$3
    shift 3
    "$ringscope" view "$data/$input" -f -o "$out/$name.$format" --title "$title" --width 1200 "$@"
}
# From the first call of operations FIRST to LAST, with some room before it, to their last end: --from and --to.
span() { # INPUT FIRST LAST
    "$ringscope" ops --json "$data/$1" | jq -rs --argjson first "$2" --argjson last "$3" '
        map(select(.seq != null and .seq >= $first and .seq <= $last) | .ranks[]) |
        (map(.enqueued_ns) | min) as $from | (map(.end_ns) | max) as $to | (($to - $from) / 50 | floor) as $room |
        "--from \($from - $room) --to \($to - 1000)"'
}
rows="--no-conclusion --open-rows --rows calls,launches,operations,channels"

# shellcheck disable=SC2046,SC2086 # options are words
{
    draw one-device-per-thread "One device per thread: four threads, each with its own calls, launches and GPU" \
        sim-threads $rows $(span sim-threads 12 12)
    draw devices-in-one-thread "Several devices in one thread: one group call, from which four GPUs are launched" \
        sim-one-thread $rows $(span sim-one-thread 4 4)
    draw aggregated "Aggregated operations: three all-reduces in one group call, launched together as one kernel" \
        sim-aggregate $rows $(span sim-aggregate 12 14)
    draw ring "A ring of sends and receives: 0 to 1 to 2 to 3 to 0 (four ranks on an H200)" \
        h200-mix --no-conclusion --open-rows --rows calls,launches,operations --comm 02e31744 --from 160.4ms --to 160.66ms
}
draw straggler "Data-parallel training as PyTorch's profiler saw it: all wait for rank 2" kineto
