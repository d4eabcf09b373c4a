# shellcheck shell=bash
# NVIDIA's Multi-Process Service for the scripts here; to be sourced. Without it the processes that share a GPU take
# turns by time slice, and every operation between them costs milliseconds instead of tens of microseconds.
#   mps_start FOLDER   starts a daemon with its pipes and logs in FOLDER, unless one runs already in this environment.
#                      Where it cannot be had: says so on stderr and returns 1; programs then run without it
#   mps_stop           stops the daemon if mps_start started it
# FOLDER's path must be short: there are sockets in it.

mps_owned=0

mps_tool() {
    local folder
    for folder in "" /usr/bin/ /usr/local/nvidia/bin/ /usr/local/cuda/bin/ /opt/nvidia/bin/; do
        if command -v "${folder}nvidia-cuda-mps-control"; then return 0; fi
    done
    return 1
}

mps_ask() { # a command for the daemon
    echo "$1" | timeout -k 1 "${2:-5}" "$mps_control" 2>/dev/null
}

mps_running() {
    [ -e "${CUDA_MPS_PIPE_DIRECTORY:-/tmp/nvidia-mps}/control" ] && mps_ask get_server_list >/dev/null
}

mps_start() {
    if ! mps_control=$(mps_tool); then
        echo "mps: nvidia-cuda-mps-control was not found; going on without it, slowly" >&2
        return 1
    fi
    if mps_running; then return 0; fi
    mkdir -p "$1/pipe" "$1/log"
    export CUDA_MPS_PIPE_DIRECTORY=$1/pipe CUDA_MPS_LOG_DIRECTORY=$1/log
    if timeout -k 1 20 "$mps_control" -d </dev/null >"$1/start.log" 2>&1; then
        local try
        for try in 1 2 3 4 5 6 7 8 9 10; do
            if mps_running; then
                mps_owned=1
                return 0
            fi
            sleep 0.2
        done
        echo "mps: the daemon does not answer after $try tries; going on without it, slowly" >&2
        mps_owned=1
        mps_stop
    else
        echo "mps: the daemon did not start ($(head -c 300 "$1/start.log")); going on without it, slowly" >&2
    fi
    unset CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_LOG_DIRECTORY
    return 1
}

mps_stop() {
    local pid
    if [ "$mps_owned" = 0 ]; then return 0; fi
    mps_owned=0
    pid=$(cat "$CUDA_MPS_PIPE_DIRECTORY/nvidia-cuda-mps-control.pid" 2>/dev/null) || pid=
    mps_ask "quit -t 5" 12 >/dev/null
    # A server with a client that does not end keeps the daemon from ending.
    if [ -n "$pid" ] && kill -0 "$pid" 2>/dev/null; then
        sleep 1
        kill -9 "$pid" 2>/dev/null
    fi
    return 0
}
