#!/usr/bin/env bash
# Changes the event mask of running jobs at random times, through the control file: every ncclCommDestroy must return, and
# all results be right.
#   masks.sh [--seconds N (30)] [--ranks N (4)] [--here] [--program FILE]
# --here: one process with all ranks (NCCL 2.30 and later); else a process each. The plugin comes from build/ (or
# RINGSCOPE_BUILD, or PLUGIN).
set -u
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
seconds=30 ranks=4 here=0 program=''
while [ $# -gt 0 ]; do
    case $1 in
    --seconds) seconds=$2; shift 2 ;;
    --ranks) ranks=$2; shift 2 ;;
    --here) here=1; shift ;;
    --program) program=$2; shift 2 ;;
    *) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
    esac
done
tmp=$(mktemp -d "${TMPDIR:-/tmp}/masks.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM HUP
if [ -z "$program" ]; then
    build_gpu_programs "$tmp/bin" >"$tmp/build.log" 2>&1 || { tail -n 15 "$tmp/build.log"; exit 1; }
    program=$tmp/bin/nccl_masks
fi
export NCCL_PROFILER_PLUGIN=${PLUGIN:-$plugin} RINGSCOPE_DIR=$tmp/rec NCCL_DEBUG=${NCCL_DEBUG:-WARN}
mkdir -m 700 "$RINGSCOPE_DIR"
if [ "$here" = 1 ]; then
    NCCL_MULTI_RANK_GPU_ENABLE=1 NCCL_NVLS_ENABLE=0 NCCL_MAX_NCHANNELS=2 NCCL_IB_DISABLE=1 NCCL_SOCKET_IFNAME=lo \
        CUDA_DEVICE_MAX_CONNECTIONS=32 CUDA_MODULE_LOADING=EAGER \
        timeout -k 5 $((seconds + 90)) "$program" --seconds "$seconds" --here "$ranks" &
else
    "$examples/several_ranks_one_gpu.sh" -t $((seconds + 90)) "$ranks" "$program" --seconds "$seconds" &
fi
job=$!
# KernelCh comes and goes, and with it what NCCL's proxies wait for. Put in place by renaming: never half written.
words=(all ops net off 1 2047 63 14 4095 0) changes=0
while kill -0 $job 2>/dev/null; do
    echo "events=${words[RANDOM % ${#words[@]}]}" >"$tmp/control.new"
    mv "$tmp/control.new" "$RINGSCOPE_DIR/control"
    changes=$((changes + 1))
    sleep "0.0$((RANDOM % 10))"
done
wait $job
status=$?
echo "masks: the control file was written $changes times; exit status $status"
if ringscope_runs; then
    timeout 60 "$ringscope" info --json "$RINGSCOPE_DIR" | "$PYTHON" -c '
import json, sys
i = json.load(sys.stdin)
print("masks: %d processes, emitted %s kept %s lost %s damaged %s; %d spans of one mask" % (i["processes"], i["emitted"],
      i["callbacks"], i["lost"], i["damaged"], len(i["coverage"])))'
fi
exit $status
