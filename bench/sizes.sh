#!/usr/bin/env bash
# Bytes on disk a callback, for simulated jobs with a network between hosts, and bytes a second of a job that does little.
#   sizes.sh [--quick] FOLDER [RESULTS]     with RINGSCOPE and PLUGIN as `make bench` sets them
# Everything in the folder counts: headers, facts and environment of each process too, so short jobs look worse.
set -u
quick=
if [ "${1:-}" = --quick ]; then quick=1; shift; fi
if [ $# -lt 1 ]; then echo "usage: sizes.sh [--quick] FOLDER [RESULTS]" >&2; exit 2; fi
folder=$1/sizes results=${2:-/dev/null}
: "${RINGSCOPE:=build/ringscope}" "${PLUGIN:=build/libnccl-profiler-ringscope.so}"
mkdir -p "$folder" || exit 1
trap 'rm -rf "$folder"' EXIT
failed=0 worst=0

# sim OPTION...: one job into $rec; sets callbacks, lost, bytes and seconds (from first to last callback)
sim() {
    local info
    rec=$folder/rec
    rm -rf "$rec"
    if ! "$RINGSCOPE" sim --plugin "$PLUGIN" "$@" -o "$rec" >"$folder/log" 2>&1 ||
        ! info=$("$RINGSCOPE" info --json "$rec" 2>>"$folder/log"); then
        echo "sizes: ringscope sim $* failed:" >&2
        cat "$folder/log" >&2
        failed=1
        return 1
    fi
    callbacks=$(first callbacks "$info") lost=$(first lost "$info")
    bytes=$(find "$rec" -name '*.rsc' -printf '%s\n' | awk '{ n += $1 } END { print n }')
    seconds=$(awk -v a="$(first from_ns "$info")" -v b="$(first to_ns "$info")" 'BEGIN { print (b - a) / 1e9 }')
}
first() { grep -o "\"$1\":[0-9]*" <<<"$2" | head -n 1 | cut -d: -f2; } # NAME JSON: the first number of that name

printf '\nsimulated jobs, 8 ranks on 2 hosts\n  %-34s %10s %6s %10s %9s\n' '' callbacks lost bytes 'a callback'
row() { # NAME OPTION...
    local name=$1 each
    shift
    sim "$@" || return
    each=$(awk -v b="$bytes" -v n="$callbacks" 'BEGIN { printf "%.2f", b / n }')
    printf '  %-34s %10s %6s %10s %9s\n' "$name" "$callbacks" "$lost" "$bytes" "$each"
    worst=$(awk -v a="$worst" -v b="$each" 'BEGIN { print (b > a ? b : a) }')
    total_lost=$((total_lost + lost))
}
total_lost=0
job=(--ranks 8 --hosts 2 --speed 4)
row 'data-parallel' "${job[@]}" --workload ddp --steps 40
if [ -z "$quick" ]; then
    row 'pipeline' "${job[@]}" --workload pipeline --steps 80
    row 'all-to-all' "${job[@]}" --workload alltoall --steps 40
    row 'data-parallel, one slow rank' "${job[@]}" --workload ddp --steps 40 --slow 5:2000
    row 'data-parallel, events of sockets' "${job[@]}" --workload ddp --steps 40 --net socket
    row 'data-parallel, 1 Mi, 64 steps' "${job[@]}" --workload ddp --steps 20 --net-steps 64 --bytes 1Mi
fi
row 'all in turn' "${job[@]}" --workload mix --steps 40
[ $failed != 0 ] || echo "sizes $worst $total_lost" >>"$results" # no row rather than a wrong one
# Not a size to judge by: what each process says once is most of it.
worst=0
row "data-parallel, 3 steps only" "${job[@]}" --workload ddp --steps 3
[ $failed != 0 ] || echo "sizes_short $worst" >>"$results"

# Hardly a callback a second: what is left is clock samples, and a chunk for each second in which anything came.
if sim --ranks 2 --hosts 2 --steps "$([ -n "$quick" ] && echo 2 || echo 5)" --slow 0:1000000; then
    each=$(awk -v b="$bytes" -v s="$seconds" 'BEGIN { printf "%.0f", b / 2 / s }')
    printf '  almost idle: 2 ranks, a step a second: %s callbacks in %.1f s, %s bytes a second and process\n' "$callbacks" \
        "$seconds" "$each"
    echo "idle $each" >>"$results"
fi
exit $failed
