# shellcheck shell=bash
# Shared by the scripts in this folder; to be sourced. Sets root, examples, build, plugin, plugin_nop, ringscope.
gpu_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$gpu_folder/../.." && pwd)
# shellcheck disable=SC2034 # used by those who source this
examples=$root/examples
build=${RINGSCOPE_BUILD:-$root/build}
# shellcheck disable=SC2034
plugin=$build/libnccl-profiler-ringscope.so plugin_nop=$build/libnccl-profiler-ringscope-nop.so
ringscope=$build/ringscope
PYTHON=${PYTHON:-python3}

ringscope_runs() { [ -x "$ringscope" ] && "$ringscope" --version >/dev/null 2>&1; }

# build_gpu_programs FOLDER: nccl_mix, nccl_latency, nccl_masks. With make, else (no make, or it found something it cannot use)
# with nvcc or gcc by hand.
build_gpu_programs() {
    local out=$1 nccl cuda=${CUDA_HOME:-/usr/local/cuda} nvcc name source flags
    mkdir -p "$out"
    if make -s -C "$examples" O="$out" PYTHON="$PYTHON" && make -s -C "$gpu_folder" O="$out" PYTHON="$PYTHON"; then
        return 0
    fi
    echo "build: make failed; by hand" >&2
    # The NCCL that PyTorch uses; else CUDA's folder.
    nccl=${NCCL_HOME:-$("$PYTHON" -c 'import nvidia.nccl as m; print(next(iter(m.__path__)))' 2>/dev/null)}
    if [ ! -e "$nccl/include/nccl.h" ]; then nccl=$cuda; fi
    ln -sf "$nccl/lib/libnccl.so.2" "$out/libnccl.so" # the Python package has only the name with the number
    nvcc=$(command -v nvcc || echo "$cuda/bin/nvcc")
    for name in nccl_mix nccl_latency nccl_masks; do
        source=$gpu_folder/${name#nccl_}.c
        if [ ! -e "$source" ]; then source=$examples/$name.c; fi
        flags=(-O2 "-I$nccl/include" "-I$examples" -o "$out/$name" "$source" "-L$out" -lnccl -lm)
        "$nvcc" "${flags[@]}" -Xlinker "-rpath=$nccl/lib" ||
            gcc "-I$cuda/include" "${flags[@]}" "-Wl,-rpath,$nccl/lib:$cuda/lib64" "-L$cuda/lib64" -lcudart || return 1
    done
}

# check_recording FOLDER PROCESSES: two lines about the recording; fails if there is none, if anything was lost or if a
# process is missing (PROCESSES 0: any number will do).
check_recording() {
    local json files
    files=$(find "$1" -name '*.rsc' 2>/dev/null | wc -l)
    if [ "$files" = 0 ]; then
        echo "  NO recording in $1: was the plugin loaded?"
        return 1
    fi
    if ! ringscope_runs; then
        echo "  (no ringscope that runs here: recording of $files files not looked into)"
        return 0
    fi
    if ! json=$(timeout 60 "$ringscope" info --json "$1" 2>&1); then
        echo "  ringscope info failed: $(printf %s "$json" | tail -c 300)"
        return 1
    fi
    printf '%s' "$json" | "$PYTHON" -c '
import json, sys
text, want = sys.stdin.read(), int(sys.argv[1])
info = json.loads(text[text.index("{"):])
lost, over = info.get("lost"), info.get("overwritten")
n = info.get("processes")
n = len(n) if isinstance(n, list) else n
size = lambda v: len(v) if isinstance(v, (list, dict)) else v
events = info.get("events") or {}
print("  processes %s ranks %s communicators %s callbacks %s lost %s overwritten %s NCCL %s" % (n, size(info.get("ranks")),
      size(info.get("communicators")), info.get("callbacks"), lost, over, info.get("nccl_version")))
print("  events: " + " ".join("%s=%s" % pair for pair in events.items()))
sys.exit(0 if lost == 0 and not over and (want == 0 or n == want) else 1)
' "$2"
}
