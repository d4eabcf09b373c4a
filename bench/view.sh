#!/usr/bin/env bash
# Making a timeline of a generated job, and the page that shows it in a browser without a GPU.
#   view.sh [--quick] FOLDER [RESULTS]     with RINGSCOPE as `make bench` sets it
# Of 10 M bars (quick: 3 M) as a page in one file, of 100 M through `ringscope serve` (not when quick). CPU time and
# peak memory are what the kernel says of `serve` when it prints its address: then all is made. Results, for each size:
# built_SIZE (M bars, M bars/s, bytes a bar, MiB, s) and page_SIZE (first paint in ms, worst frame by processor time,
# what 95 % of frames keep within by the clock, MB). Without Node, packages or chromium a line says so instead.
set -u
quick=
if [ "${1:-}" = --quick ]; then quick=1; shift; fi
if [ $# -lt 1 ]; then echo "usage: view.sh [--quick] FOLDER [RESULTS]" >&2; exit 2; fi
folder=$(cd "$1" && pwd)/view results=${2:-/dev/null}
: "${RINGSCOPE:=$PWD/build/ringscope}"
mkdir -p "$folder" || exit 1
cd "$(dirname "$0")/.." || exit 1
pid=
trap '[ -z "$pid" ] || kill "$pid" 2>/dev/null; rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM HUP
ticks=$(getconf CLK_TCK) failed=0

fail() {
    echo "view: $1:" >&2
    cat "$folder/log" >&2
    failed=1
    return 1
}

# Follows $pid until it has printed an address into $folder/out, or ended; sets cpu (ticks), peak (KiB) and address.
follow() {
    local key value rest fields
    cpu=0 peak=0 address=
    while [ -z "$address" ] && kill -0 "$pid" 2>/dev/null; do
        sleep 0.05
        address=$(grep -o 'http://[^ ]*' "$folder/out")
        while read -r key value rest; do
            [ "$key" != VmHWM: ] || peak=$value
        done 2>/dev/null <"/proc/$pid/status"
        if read -r rest 2>/dev/null <"/proc/$pid/stat"; then
            read -r -a fields <<<"${rest##*) }" # behind the name, which may hold anything
            cpu=$((fields[11] + fields[12]))
        fi
    done
}

built() { # NAME BYTES: of what was followed; it says how many bars there are
    local bars wall
    wall=$(awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }')
    bars=$(sed -n "s/^\([0-9,]*\) bars, .*/\1/p" "$folder/log" | head -n 1 | tr -d ,)
    [ -n "$bars" ] || { fail "it does not say how many bars there are"; return; }
    awk -v name="$1" -v bars="$bars" -v cpu="$cpu" -v hz="$ticks" -v bytes="$2" -v kib="$peak" -v wall="$wall" -v results="$results" 'BEGIN {
        printf "  %-8s %5.1f M bars, %.2f M bars/s of CPU, %.1f bytes a bar, peak %.0f MiB, %.1f s\n", name,
            bars / 1e6, bars / cpu * hz / 1e6, bytes / bars, kib / 1024, wall
        printf "built_%s %.1f %.2f %.1f %.0f %.1f\n", name, bars / 1e6, bars / cpu * hz / 1e6, bytes / bars,
            kib / 1024, wall >>results }'
}

page() { # NAME PLACE
    local line
    line=$(cd viewer && npm run --silent measure -- "$2" 2>"$folder/log")
    case $? in
    0) ;;
    77) echo "  the page of $1 is not measured: no chromium"; return ;;
    *) fail "the page of $1 could not be measured"; return ;;
    esac
    awk -v name="$1" -v results="$results" '{
        for (i = 1; i < NF; i += 2) v[$i] = $(i + 1)
        worst = v["folded_cpu_ms_worst"] > v["open_cpu_ms_worst"] ? v["folded_cpu_ms_worst"] : v["open_cpu_ms_worst"]
        usual = v["folded_ms_p95"] > v["open_ms_p95"] ? v["folded_ms_p95"] : v["open_ms_p95"]
        printf "  %-8s first paint %s ms, frames at worst %s ms of processor time, 95 %% within %s ms, %s MB\n", name,
            v["first_paint_ms"], worst, usual, v["memory_mb"]
        print "page_" name, v["first_paint_ms"], worst, usual, v["memory_mb"] >>results }' <<<"$line"
}

has_node() {
    if command -v npm >/dev/null && [ -d viewer/node_modules ]; then return; fi
    echo "  the page is not measured: it takes Node and what \`npm ci\` in viewer/ brings"
    return 1
}

one() { # NAME CALLBACKS
    rm -rf "$folder/job"
    "$RINGSCOPE" gen --callbacks "$2" --ranks 64 --hosts 8 --no-truth -o "$folder/job" >"$folder/log" 2>&1 ||
        { fail "ringscope gen failed"; return; }
    true >"$folder/out"
    begin=$EPOCHREALTIME
    "$RINGSCOPE" serve "$folder/job" >"$folder/out" 2>"$folder/log" &
    pid=$!
    follow
    [ -n "$address" ] || { pid=; fail "ringscope serve failed"; return; }
    # "99,833,600 bars, 164,200 operations, 704 MiB"
    built "$1" "$(awk '/ bars, / { print $(NF - 1) * ($NF == "GiB" ? 1073741824 : $NF == "MiB" ? 1048576 : 1024) }' \
        "$folder/log")"
    if [ "$1" = 100M ]; then has_node && page "$1" "$address"; fi
    kill "$pid"
    wait "$pid" 2>/dev/null
    pid=
    if [ "$1" = 100M ] || ! has_node; then return; fi
    "$RINGSCOPE" view "$folder/job" --most 1Gi -o "$folder/page.html" >"$folder/log" 2>&1 ||
        { fail "ringscope view failed"; return; }
    page "$1" "$folder/page.html"
    rm -f "$folder/page.html"
}

printf '\ntimelines of generated jobs, 64 ranks on 8 hosts\n'
if [ -n "$quick" ]; then
    one 3M 10M
else
    one 10M 31M
    one 100M 311M
fi
exit $failed
