#!/usr/bin/env bash
# Plants delays in turns on one rank of three small jobs (DDP, TP x DP, pipeline), each in one launch on one GPU, and
# compares what they cost with what `ringscope whatif` says: planted.md in $OUT (or ./gpu-results).
#   planted.sh [SHAPE...]   default: ddp tpdp pipeline
set -eu
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
out=${OUT:-gpu-results}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/planted.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
mkdir -p "$out"
declare -A late=([ddp]=2 [tpdp]=3 [pipeline]=1)
if [ $# = 0 ]; then set -- ddp tpdp pipeline; fi
folders=()
for shape in "$@"; do
    mkdir -p "$tmp/$shape"
    RINGSCOPE_DIR=$tmp/$shape/rec NCCL_PROFILER_PLUGIN=$plugin "$examples/several_ranks_one_gpu.sh" -l "$tmp/$shape/logs" 4 \
        "$PYTHON" "$gpu_folder/planted.py" "$shape" "$tmp/$shape" --late "${late[$shape]:?not a shape}"
    check_recording "$tmp/$shape/rec" 4
    folders+=("$tmp/$shape")
done
"$PYTHON" "$gpu_folder/planted_table.py" "$ringscope" "${folders[@]}" | tee "$out/planted.md"
