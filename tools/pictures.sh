#!/bin/bash
# Makes the pictures of docs/pictures again: the cases that everybody knows, as `ringscope view` draws them.
# BUILD: where ringscope was built (build). FORMAT: svg or png (svg). The first argument: where to put them.
set -eu
cd "$(dirname "$0")/.."
out=${1:-docs/pictures}
format=${FORMAT:-svg}
ringscope=${RINGSCOPE:-${BUILD:-build}/ringscope}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"

draw() { # NAME TITLE INPUT options...
    local name=$1 title=$2 input=$3
    shift 3
    "$ringscope" view "$input" -f -o "$out/$name.$format" --title "$title" --width 1200 --level ops "$@" 2>/dev/null
}
# From the first call, with some room before it, to the last end of operations FIRST to LAST: --from and --to.
span() { # INPUT FIRST LAST
    "$ringscope" ops --json "$1" | jq -rs --argjson first "$2" --argjson last "$3" '
        map(select(.seq != null and .seq >= $first and .seq <= $last) | .ranks[]) |
        (map(.enqueued_ns) | min) as $from | (map(.end_ns) | max) as $to | (($to - $from) / 30 | floor) as $room |
        "--from \($from - $room) --to \($to - 1000)"'
}

"$ringscope" sim -w ddp -n 4 --ranks-per-process 4 --slow 2:2500 --bytes 200Mi --steps 20 -o "$work/threads" >/dev/null
"$ringscope" sim -w multidev -n 4 --ranks-per-process 4 --bytes 100Mi --steps 30 -o "$work/multidev" >/dev/null

# shellcheck disable=SC2046 # options are words
draw one-device-per-thread \
    "One device per thread: each of four threads calls for its GPU; GPU 2 computes longer and comes last" \
    "$work/threads" --open-rows $(span "$work/threads" 8 8)
# shellcheck disable=SC2046
draw devices-in-one-thread "Several devices in one thread: one group call, an operation on each of four GPUs" \
    "$work/multidev" --open-rows $(span "$work/multidev" 6 6)
draw aggregated "Aggregated operations: three all-reduces in one group call are launched together (4 H200)" \
    tests/data/h200-mix --open-rows --comm 02e31744 --func AllReduce --from 164.1ms --to 165.15ms
draw ring "A ring of sends and receives: each rank to the next (4 H200)" \
    tests/data/h200-mix --open-rows --comm 02e31744 --from 160.4ms --to 160.68ms
draw straggler "Data-parallel training as PyTorch's profiler saw it: all wait for rank 2" tests/data/kineto
