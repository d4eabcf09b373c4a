#!/usr/bin/env bash
# What recording costs on a real GPU: nccl_latency with no plugin, with the empty plugin and with ringscope, in turns, for
# several rounds, all ranks on one GPU. Writes $OUT/overhead.tsv (one line per launch) and $OUT/overhead.md (the table).
set -u
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../../examples/mps.sh
. "$examples/mps.sh"

usage() {
    cat <<'END'
usage: overhead.sh [options]
  --rounds N       wanted (30); fewer if they do not fit the limit, which is said
  --limit-s N      seconds for all of it (600)
  --ranks "2 4"    numbers of ranks
  --variants "none nop ours"
                   in each round, in rotated order. none: no plugin; nop...: the empty one; ours...: ringscope. With
                   :EVENTS behind it, RINGSCOPE_EVENTS for that one: "none nop:ops ours:ops nop ours"; with @WINDOWS,
                   RINGSCOPE_DETAIL: "ours@200ms:10s". A second "nop2" or "none2" shows what difference there is
                   between equals.
  --name NAME      of the results: $OUT/NAME.tsv, NAME.md (overhead)
  --append         add rounds to the results that are there, for measurements in several sittings
  --here           all ranks in one process (NCCL 2.30 and later), not a process each
  --iters N        operations a launch and kind (2000)
  --latency FILE   the program, if built already
END
}

wanted=30 limit=600 rank_counts="2 4" variants=${VARIANTS:-none nop ours} iters=2000 latency='' out=${OUT:-.}
name=overhead append=0 here=0
while [ $# -gt 0 ]; do
    case $1 in
    --rounds) wanted=$2; shift 2 ;;
    --limit-s) limit=$2; shift 2 ;;
    --ranks) rank_counts=$2; shift 2 ;;
    --variants) variants=$2; shift 2 ;;
    --iters) iters=$2; shift 2 ;;
    --latency) latency=$2; shift 2 ;;
    --name) name=$2; shift 2 ;;
    --append) append=1; shift ;;
    --here) here=1; shift ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
    esac
done
SECONDS=0
tmp=$(mktemp -d "${TMPDIR:-/tmp}/overhead.XXXXXX") || exit 1
trap 'mps_stop; rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM HUP
mkdir -p "$out"
out=$(cd "$out" && pwd)

case " $variants" in *" nop"*) [ -e "$plugin_nop" ] || { echo "overhead: no $plugin_nop" >&2; exit 1; } ;; esac
case " $variants" in *" ours"*) [ -e "$plugin" ] || { echo "overhead: no $plugin" >&2; exit 1; } ;; esac
if [ -z "$latency" ]; then
    build_gpu_programs "$tmp/bin" || { echo "overhead: could not build nccl_latency" >&2; exit 1; }
    latency=$tmp/bin/nccl_latency
fi
no_mps=()
if [ "$here" = 1 ]; then
    no_mps=(--no-mps) # one process needs none
elif [ -n "${RANKS_NO_MPS:-}" ] || ! mps_start "$tmp/mps"; then
    no_mps=(--no-mps)
    echo "overhead: WITHOUT the Multi-Process Service: these are times of the GPU's time slices" >&2
fi

pin=(--pin) # each rank its own cores: less noise, and the same for all variants
for ranks in $rank_counts; do
    if [ "$ranks" -gt "$(nproc)" ] || ! taskset -c 0 true 2>/dev/null; then
        echo "overhead: ranks are not pinned to cores ($(nproc) cores)"
        pin=()
    fi
done

launch() { # ROUND RANKS VARIANT POSITION: one line into the table, or a message and 1
    local round=$1 ranks=$2 variant=$3 position=$4 events='' column line rc
    local seconds=$((limit - SECONDS + 10)) # none may run far past the limit
    if [ "$seconds" -gt 90 ]; then seconds=90; fi
    if [ "$seconds" -lt 1 ]; then seconds=1; fi
    local folder=$tmp/recordings/$round.$ranks.${variant//[:@]/-}
    mkdir -p "$folder"
    (
        case $variant in *@*) export RINGSCOPE_DETAIL=${variant#*@} ;; esac
        case ${variant%%@*} in *:*) events=${variant%%@*} events=${events#*:} ;; esac
        if [ -n "$events" ]; then export RINGSCOPE_EVENTS=$events; fi
        export RINGSCOPE_DIR=$folder
        case $variant in
        none*) export NCCL_PROFILER_PLUGIN=none ;;
        nop*) export NCCL_PROFILER_PLUGIN=$plugin_nop ;;
        ours*) export NCCL_PROFILER_PLUGIN=$plugin ;;
        *) echo "overhead: what is variant '$variant'?" >&2; exit 2 ;;
        esac
        # The warm-up round tells whether NCCL took the plugin; the others are left in peace.
        if [ "$round" = 0 ]; then export NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,ENV,PROFILE; fi
        export NCCL_DEBUG=${NCCL_DEBUG:-WARN}
        if [ "$here" = 1 ]; then
            mkdir -p "$tmp/logs"
            NCCL_MULTI_RANK_GPU_ENABLE=1 NCCL_NVLS_ENABLE=0 NCCL_MAX_NCHANNELS=2 NCCL_IB_DISABLE=1 NCCL_SOCKET_IFNAME=lo \
                CUDA_DEVICE_MAX_CONNECTIONS=32 CUDA_MODULE_LOADING=EAGER \
                exec timeout -k 5 "$seconds" "$latency" --iters "$iters" --device 0 --here "$ranks" \
                >"$tmp/logs/rank.0.log" 2>&1
        fi
        exec "$examples/several_ranks_one_gpu.sh" "${no_mps[@]+"${no_mps[@]}"}" \
            "${pin[@]+"${pin[@]}"}" -t "$seconds" -l "$tmp/logs" "$ranks" \
            "$latency" --iters "$iters" --device 0
    )
    rc=$?
    line=$(grep -h '^ranks=.*sendrecv_burst_ns=' "$tmp/logs/rank.0.log" 2>/dev/null | tail -n 1)
    if [ "$rc" != 0 ] || [ -z "$line" ]; then
        echo "overhead: round $round, $ranks ranks, $variant: failed ($rc)" >&2
        return 1
    fi
    if [ "$round" = 0 ]; then
        echo "overhead: $ranks ranks, $variant: $(grep -hi profiler "$tmp/logs/rank.0.log" | sed 's/.*NCCL INFO //' |
            tail -n 1 | cut -c1-150)"
        if [ "$ranks $variant" = "${rank_counts%% *} ${list[0]}" ]; then
            echo "overhead: NCCL uses $(grep -ho 'Using network [A-Za-z]*' "$tmp/logs/rank.0.log" | head -n 1)"
        fi
    fi
    value() { printf '%s' "$line" | tr ' ' '\n' | sed -n "s/^$1=//p"; }
    if [ "$round" = 0 ]; then return 0; fi # the warm-up
    printf '%s\t%s\t%s\t%s' "$((before + round))" "$ranks" "$variant" "$position" >>"$results"
    for column in $columns; do printf '\t%s' "$(value "${column}_ns")" >>"$results"; done
    echo >>"$results"
}

columns="allreduce_sync sendrecv_sync allreduce_burst sendrecv_burst allreduce_sync_mean sendrecv_sync_mean"
results=$out/$name.tsv before=0
if [ "$append" = 1 ] && [ -s "$results" ]; then
    before=$(awk -F'\t' 'NR > 1 && $1 > n { n = $1 } END { print n + 0 }' "$results")
    echo "overhead: $before rounds are in $results already"
else
    printf 'round\tranks\tvariant\tposition' >"$results"
    for column in $columns; do printf '\t%s' "$column" >>"$results"; done
    echo >>"$results"
fi
read -r -a list <<<"$variants"
n=${#list[@]} failures=0 in_a_row=0

one_round() { # ROUND: another variant first in each, and every other round backwards, so that each has every neighbour
    local round=$1 ranks i at
    for ranks in $rank_counts; do
        for ((i = 0; i < n; i++)); do
            at=$(((before + round + i) % n))
            if [ $(((before + round) / n % 2)) = 1 ]; then at=$(((before + round + n - i) % n)); fi
            if launch "$round" "$ranks" "${list[at]}" "$i"; then
                in_a_row=0
                continue
            fi
            failures=$((failures + 1)) in_a_row=$((in_a_row + 1))
            if [ "$in_a_row" -ge 3 ]; then return 1; fi
            # A process that died badly can leave the daemon's server unusable: a new one.
            if [ "$mps_owned" = 1 ]; then
                mps_stop
                mps_start "$tmp/mps.$failures"
            fi
        done
    done
}

# Round 0 warms up (files into memory, the GPU's clocks) and is not counted; the first counted one tells the time.
round_s=0 rounds=$wanted done_rounds=0 gave_up=0
for ((round = 0; round <= rounds; round++)); do
    began=$SECONDS
    if [ "$round" -gt 1 ] && [ $((SECONDS + round_s + 10)) -gt "$limit" ]; then
        echo "overhead: the limit of $limit s is near"
        break
    fi
    if ! one_round "$round"; then
        echo "overhead: three failures in a row; giving up" >&2
        gave_up=1
        break
    fi
    took=$((SECONDS - began))
    if [ "$took" -gt "$round_s" ] || [ "$round" = 1 ]; then round_s=$took; fi
    if [ "$round" = 0 ]; then
        rm -rf "$tmp/recordings"
        continue
    fi
    done_rounds=$round
    if [ "$round" = 1 ]; then
        if [ "$took" -lt 1 ]; then took=1; fi
        fit=$((1 + (limit - SECONDS - 15) / took))
        echo "overhead: one round takes $took s"
        if [ "$fit" -lt "$rounds" ]; then
            if [ "$fit" -lt 1 ]; then fit=1; fi
            rounds=$fit
            echo "overhead: $rounds rounds instead of $wanted fit the limit of $limit s"
        fi
    fi
done
if [ $((before + done_rounds)) -lt 20 ]; then echo "overhead: ONLY $((before + done_rounds)) rounds; 20 or more are needed for the report"; fi

# Nothing may have been lost in what was just called cheap.
lost=0 checked=0 kib=0
kib=$(du -sk "$tmp/recordings" 2>/dev/null | cut -f1)
if ringscope_runs; then
    for folder in "$tmp"/recordings/*.ours*; do
        [ -d "$folder" ] || continue
        recording=${folder##*/}
        ranks=${recording#*.}
        ranks=${ranks%%.*}
        checked=$((checked + 1))
        if [ "$here" = 1 ]; then ranks=1; fi # processes
        if ! text=$(check_recording "$folder" "$ranks"); then
            lost=$((lost + 1))
            if [ "$lost" -le 3 ]; then echo "overhead: recording $recording is not whole:"; echo "$text"; fi
        fi
        if [ "$SECONDS" -gt $((limit + 20)) ]; then break; fi
    done
    echo "overhead: $checked recordings checked (${kib:-0} KiB), $lost not whole"
    if [ -n "${text:-}" ]; then echo "$text"; fi
else
    echo "overhead: ${kib:-0} KiB of recordings not checked ($ringscope does not run here); those of round 1 are kept"
    (cd "$tmp/recordings" && tar -czf "$out/overhead-recording.tar.gz" 1.*.ours*)
fi

awk -f "$gpu_folder/overhead.awk" "$results" | tee "$out/$name.md"
if [ "$failures" != 0 ]; then echo "overhead: $failures launches failed"; fi
[ "$gave_up" = 0 ] && [ "$lost" = 0 ] && [ "$done_rounds" -gt 0 ]
