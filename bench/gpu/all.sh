#!/usr/bin/env bash
# Everything that needs a real GPU, in one go, on a machine with one of them: versions, a probe of what works, the
# examples recorded and checked, PyTorch recorded and checked, the overhead. Each stage stands alone: a failure is
# reported and the next one runs. Results go to $OUT (or ./gpu-results).
#   all.sh [--limit-s N (540)] [--rounds N (30)] [--variants "..."] [probe mix ddp kineto overhead]
# Default stages: probe mix ddp overhead. The plugins and the ringscope command come from build/ (or RINGSCOPE_BUILD).
set -u
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
SECONDS=0
limit=540 rounds=30 variants=${VARIANTS:-none nop ours} stages=()
while [ $# -gt 0 ]; do
    case $1 in
    --limit-s) limit=$2; shift 2 ;;
    --rounds) rounds=$2; shift 2 ;;
    --variants) variants=$2; shift 2 ;;
    probe | mix | ddp | kineto | overhead) stages+=("$1"); shift ;;
    *) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
    esac
done
if [ ${#stages[@]} = 0 ]; then stages=(probe mix ddp overhead); fi
out=${OUT:-gpu-results}
mkdir -p "$out" || exit 1
out=$(cd "$out" && pwd)
tmp=$(mktemp -d "${TMPDIR:-/tmp}/gpu.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM HUP
bin=$tmp/bin rec=$tmp/rec logs=$tmp/logs
mkdir -p "$rec" "$logs"
rm -f "$out/overhead.md" "$out/overhead.tsv"
summary=() bad=0

left() { # CAP: seconds a step may take: the cap, or what is left of the whole
    local rest=$((limit - SECONDS - 10))
    echo $((rest < $1 ? (rest < 1 ? 1 : rest) : $1))
}
note() { # ok|FAILED WHAT
    summary+=("$(printf '%-7s %s' "$1" "$2")")
    if [ "$1" = FAILED ]; then bad=1; fi
    echo "$1: $2 [at ${SECONDS} s]"
}
wants() { case " ${stages[*]} " in *" $1 "*) return 0 ;; *) return 1 ;; esac; }

# record NAME PROCESSES SECONDS CMD...: CMD on 4 ranks under ringscope, into $rec/NAME, checked.
record() {
    local name=$1 processes=$2 seconds=$3 began=$SECONDS rc
    shift 3
    mkdir -p "$rec/$name"
    RINGSCOPE_DIR=$rec/$name NCCL_PROFILER_PLUGIN=$plugin NCCL_DEBUG=${NCCL_DEBUG:-INFO} \
        NCCL_DEBUG_SUBSYS=${NCCL_DEBUG_SUBSYS:-INIT,ENV,NET,PROFILE} \
        "$examples/several_ranks_one_gpu.sh" "${rank_options[@]+"${rank_options[@]}"}" -t "$(left "$seconds")" \
        -l "$logs/$name" 4 "$@"
    rc=$?
    grep -hoE '(nccl_mix: NCCL|ddp: torch) .*' "$logs/$name/rank.0.log"
    grep -hiE 'ringscope' "$logs/$name/rank.0.log" | grep -viE 'set by env' | sed 's/.*NCCL [A-Z]* //' | sort -u |
        head -n 4 | cut -c1-160 | sed 's/^/  log: /'
    if ! check_recording "$rec/$name" "$processes"; then
        note FAILED "$name: recording not whole (exit status $rc)"
        return 1
    fi
    if [ "$rc" != 0 ]; then
        note FAILED "$name: exit status $rc"
        return 1
    fi
    note ok "$name, $((SECONDS - began)) s, $(du -sk "$rec/$name" | cut -f1) KiB"
}

keep() { # NAME GLOB...: recordings into $OUT/NAME.tar.gz; the largest are left out until it is under 15 MiB
    local name=$1 largest
    shift
    local -a dirs=("$@")
    while [ ${#dirs[@]} -gt 0 ]; do
        tar -C "$rec" -czSf "$out/$name.tar.gz" "${dirs[@]}" 2>/dev/null ||
            tar -C "$rec" -czf "$out/$name.tar.gz" "${dirs[@]}" || return 1
        if [ "$(wc -c <"$out/$name.tar.gz")" -lt $((15 << 20)) ]; then return 0; fi
        largest=$(cd "$rec" && du -sk "${dirs[@]}" | sort -rn | head -n 1 | cut -f2)
        echo "keep: $name is too large with $largest, which is left out"
        local -a smaller=()
        local dir
        for dir in "${dirs[@]}"; do if [ "$dir" != "$largest" ]; then smaller+=("$dir"); fi; done
        dirs=("${smaller[@]+"${smaller[@]}"}")
        rm -f "$out/$name.tar.gz"
    done
}

echo "== versions"
nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>&1 | head -n 2
echo "kernel $(uname -r), $(nproc) cores, /dev/shm free $(df -Pm /dev/shm 2>/dev/null | awk 'NR == 2 { print $4 }') MiB," \
    "clock source $(cat /sys/devices/system/clocksource/clocksource0/current_clocksource 2>/dev/null || echo '?')"
"$(command -v nvcc || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")" --version 2>/dev/null | tail -n 2 | head -n 1
gcc --version 2>/dev/null | head -n 1
# The import also brings PyTorch's files into memory, so that the ranks later do not wait for the disk.
if wants ddp || wants kineto; then
    timeout "$(left 90)" "$PYTHON" -c '
import torch; print("torch", torch.__version__, "NCCL", torch.cuda.nccl.version(), torch.cuda.get_device_name(0))' 2>&1 |
        tail -n 1
fi
if ringscope_runs; then "$ringscope" --version | head -n 1; else echo "ringscope: $ringscope does not run here"; fi
for file in "$plugin" "$plugin_nop"; do
    if [ ! -e "$file" ]; then
        note FAILED "there is no $file"
    elif ldd "$file" 2>&1 | grep -E 'not found'; then
        note FAILED "$file does not load here"
    fi
done

echo "== build"
if build_gpu_programs "$bin" >"$logs/build.log" 2>&1; then
    note ok "build, NCCL from $(ldd "$bin/nccl_mix" | sed -n 's/.*libnccl[^>]*> \([^ ]*\).*/\1/p')"
else
    note FAILED "build"
    tail -n 15 "$logs/build.log"
fi

# What works here: the plain set-up first, then without what may be missing. What works is kept for all that follows.
echo "== probe"
rank_options=()
works=0
for try in "" "NCCL_CUMEM_ENABLE=0" "NCCL_CUMEM_ENABLE=0 NCCL_CUMEM_HOST_ENABLE=0 NCCL_RAS_ENABLE=0" "no-mps"; do
    if [ ! -x "$bin/nccl_mix" ]; then break; fi
    began=$SECONDS
    options=()
    if [ "$try" = no-mps ]; then options=(--no-mps); fi
    (
        if [ "$try" != no-mps ]; then for setting in $try; do export "${setting?}"; done; fi
        NCCL_PROFILER_PLUGIN=none NCCL_DEBUG=INFO "$examples/several_ranks_one_gpu.sh" \
            "${options[@]+"${options[@]}"}" -t "$(left 60)" -l "$logs/probe-$try" 4 "$bin/nccl_mix" --steps 1 --device 0
    )
    rc=$?
    if [ "$rc" = 0 ]; then
        works=1
        if [ "$try" = no-mps ]; then
            rank_options=(--no-mps)
            export RANKS_NO_MPS=1
        else
            for setting in $try; do export "${setting?}"; done
        fi
        note ok "probe: 4 ranks on one GPU, no plugin, set-up '${try:-plain}', $((SECONDS - began)) s"
        grep -h '^nccl_mix:' "$logs/probe-$try/rank.0.log"
        grep -hoE 'Using network.*|NET/[A-Za-z]+ : Using.*' "$logs/probe-$try/rank.0.log" | sort -u | head -n 2
        break
    fi
    echo "probe: '${try:-plain}' failed with $rc after $((SECONDS - began)) s"
    grep -hE 'WARN|rank [0-9]+:' "$logs/probe-$try"/*.log | sort -u | head -n 6 | cut -c1-250
done
if [ "$works" = 0 ]; then note FAILED "probe: no set-up works"; fi

if wants mix && [ -x "$bin/nccl_mix" ]; then
    echo "== mix: everything once, all events; then default events with a slow rank; other ends"
    RINGSCOPE_EVENTS=all record mix-all 4 60 "$bin/nccl_mix" --device 0 --steps 3
    record mix-slow 4 60 "$bin/nccl_mix" --device 0 --steps 10 --slow 2:3000
    record mix-nodestroy 4 30 "$bin/nccl_mix" --device 0 --steps 2 --only allreduce,ring,second --no-destroy
    if ringscope_runs; then
        record mix-run 4 60 env -u NCCL_PROFILER_PLUGIN -u RINGSCOPE_DIR "$ringscope" run -o "$rec/mix-run" -- "$bin/nccl_mix" --device 0 --steps 1
    fi
    record mix-abort 4 25 "$bin/nccl_mix" --device 0 --steps 2 --only allreduce,ring,split --abort
    (cd "$rec" && ls -d mix-*) >"$tmp/list" && mapfile -t list <"$tmp/list" && keep recordings-mix "${list[@]}"
fi

if wants ddp; then
    echo "== ddp"
    # With process groups of half the ranks (split communicators), else without.
    if ! record ddp-halves 4 120 "$PYTHON" "$examples/ddp.py" --one-gpu --halves --steps 15; then
        grep -hE 'Error|rank [0-9]+:|WARN' "$logs/ddp-halves"/*.log | sort -u | head -n 8 | cut -c1-250
        record ddp-plain 4 120 "$PYTHON" "$examples/ddp.py" --one-gpu --steps 15
    fi
    (cd "$rec" && ls -d ddp-[hp]*) >"$tmp/list" && mapfile -t list <"$tmp/list" && keep recordings-ddp "${list[@]}"
fi

if wants kineto; then
    echo "== kineto"
    record ddp-kineto 4 150 "$PYTHON" "$examples/ddp.py" --one-gpu --steps 10 --slow 1:5000 \
        --profile "$rec/ddp-kineto/kineto"
    keep recordings-ddp-kineto ddp-kineto
fi

tar -C "$tmp" -czf "$out/logs.tar.gz" logs 2>/dev/null

if wants overhead; then
    echo "== overhead"
    # 25 s at the end to look into the recordings.
    rest=$((limit - SECONDS - 25))
    if [ "$works" = 0 ] || [ ! -x "$bin/nccl_latency" ]; then
        note FAILED "overhead: not run, nothing to run it with"
    elif [ "$rest" -lt 40 ]; then
        note FAILED "overhead: not run, only $rest s are left"
    elif OUT=$out timeout -k 15 $((rest + 20)) "$gpu_folder/overhead.sh" --latency "$bin/nccl_latency" \
        --rounds "$rounds" --variants "$variants" --limit-s "$rest"; then
        note ok "overhead, $(awk 'NR > 1 && !($1 in seen) { seen[$1] = 1; n++ } END { print n + 0 }' \
            "$out/overhead.tsv") rounds"
    else
        note FAILED "overhead"
        # It may have been stopped before it made its table.
        if [ ! -s "$out/overhead.md" ] && [ -s "$out/overhead.tsv" ]; then
            awk -f "$gpu_folder/overhead.awk" "$out/overhead.tsv" | tee "$out/overhead.md"
        fi
    fi
fi

echo "== summary after $SECONDS s"
printf '%s\n' "${summary[@]}" | tee "$out/summary.txt"
exit "$bad"
