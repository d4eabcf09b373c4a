#!/usr/bin/env bash
# Runs CMD as N ranks on ONE GPU: one process a rank, each its own "host" to NCCL, which would otherwise refuse two ranks
# on a device. They talk over the socket transport, so network events are real. See README.md.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source-path=SCRIPTDIR source=mps.sh
. "$here/mps.sh"

usage() {
    cat <<'END'
usage: several_ranks_one_gpu.sh [options] N CMD...
  -t SECONDS   kill what still runs after that (300)
  -l FOLDER    output of each rank to FOLDER/rank.R.log instead of here
  --pin        give each rank its own share of the CPU cores
  --no-mps     without the Multi-Process Service
CMD gets RANK, LOCAL_RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT, NCCL_HOSTID, NCCL_ID_FILE and, where not set already,
NCCL's settings for sockets on this machine. Exit status: 0 if all ranks had it, else that of the first to fail.
END
}

limit=300 logs='' pin=0 mps=1
while [ $# -gt 0 ]; do
    case $1 in
    -t) limit=${2:?seconds}; shift 2 ;;
    -l) logs=${2:?folder}; shift 2 ;;
    --pin) pin=1; shift ;;
    --no-mps) mps=0; shift ;;
    -h | --help) usage; exit 0 ;;
    --) shift; break ;;
    -*) usage >&2; exit 2 ;;
    *) break ;;
    esac
done
if [ $# -lt 2 ] || ! [ "$1" -gt 0 ] 2>/dev/null; then
    usage >&2
    exit 2
fi
ranks=$1
shift

tmp=$(mktemp -d "${TMPDIR:-/tmp}/ranks.XXXXXX") || exit 1

end_ranks() { # SIGNAL: timeout passes it on to all that the rank started
    local file
    for file in "$tmp"/pid.*; do
        if [ -s "$file" ] && [ ! -e "$tmp/status.${file##*.}" ]; then kill "-$1" "$(cat "$file")" 2>/dev/null; fi
    done
}

# shellcheck disable=SC2317,SC2329 # called by trap
clean_up() {
    trap - EXIT INT TERM HUP
    end_ranks TERM
    mps_stop
    rm -rf "$tmp"
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

if [ "$mps" = 1 ]; then mps_start "$tmp"; fi
if [ -n "$logs" ]; then mkdir -p "$logs" || exit 1; fi

export WORLD_SIZE=$ranks MASTER_ADDR=${MASTER_ADDR:-127.0.0.1} MASTER_PORT=${MASTER_PORT:-$((20000 + RANDOM % 12000))}
export NCCL_ID_FILE=${NCCL_ID_FILE:-$tmp/id}
export NCCL_NET=${NCCL_NET:-Socket} NCCL_IB_DISABLE=${NCCL_IB_DISABLE:-1} NCCL_SOCKET_IFNAME=${NCCL_SOCKET_IFNAME:-lo}
export NCCL_MNNVL_ENABLE=${NCCL_MNNVL_ENABLE:-0} NCCL_NVLS_ENABLE=${NCCL_NVLS_ENABLE:-0}
# The kernels of all ranks must be on the GPU at once; few channels leave room for that.
export NCCL_MAX_NCHANNELS=${NCCL_MAX_NCHANNELS:-2}

cores=$(nproc)
share=$((cores / ranks))
if [ "$pin" = 1 ] && { [ "$share" -lt 1 ] || ! taskset -c 0 true 2>/dev/null; }; then
    echo "several_ranks_one_gpu: cannot pin $ranks ranks to $cores cores; not pinned" >&2
    pin=0
fi

run_rank() { # RANK CMD...
    local rank=$1
    shift
    export RANK=$rank LOCAL_RANK=$rank NCCL_HOSTID=$rank
    if [ "$pin" = 1 ]; then set -- taskset -c "$((rank * share))-$((rank * share + share - 1))" "$@"; fi
    timeout -k 10 "$limit" "$@" </dev/null &
    echo $! >"$tmp/pid.$rank"
    wait $!
    echo $? >"$tmp/status.$rank.part"
    mv "$tmp/status.$rank.part" "$tmp/status.$rank"
}

for ((r = 0; r < ranks; r++)); do
    if [ -n "$logs" ]; then
        run_rank "$r" "$@" >"$logs/rank.$r.log" 2>&1 &
    else
        run_rank "$r" "$@" &
    fi
done

# When one rank fails the others may wait for it for ever: they get 5 s to notice.
first=0 ended=0 patience=-1
while [ "$ended" -lt "$ranks" ]; do
    ended=0
    for ((r = 0; r < ranks; r++)); do
        if [ ! -s "$tmp/status.$r" ]; then continue; fi
        ended=$((ended + 1))
        status=$(cat "$tmp/status.$r")
        if [ "$status" != 0 ] && [ "$first" = 0 ]; then
            first=$status
            echo "several_ranks_one_gpu: rank $r ended with status $status" >&2
            if [ -n "$logs" ]; then tail -n 5 "$logs/rank.$r.log" | cut -c1-300 >&2; fi
            patience=100
        fi
    done
    if [ "$ended" = "$ranks" ]; then break; fi
    sleep 0.05
    if [ "$patience" -gt 0 ]; then
        patience=$((patience - 1))
        if [ "$patience" = 0 ]; then end_ranks TERM; fi
    fi
done
wait
exit "$first"
