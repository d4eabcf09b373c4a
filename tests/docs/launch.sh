# shellcheck shell=bash
# For the launchers in bin: what they refuse, and the processes that they start. A launcher takes the options that the
# documents use and no others, sets the environment that the real one sets, starts as many processes, and fails if one does.
set -u
me=${0##*/}

refuse() {
    echo "$me: $*" >&2
    exit 2
}
# The ranks of a job meet in this file (nccl.c).
if [ -z "${STANDIN_JOB:-}" ]; then
    STANDIN_JOB=$(mktemp "$STANDIN_STATE/job.XXXXXX") || exit 1
    export STANDIN_JOB
fi
# number WHAT VALUE
number() { [[ $2 =~ ^[1-9][0-9]*$ ]] || refuse "$1: '$2' is not a number"; }
# needed WHAT FILE...: exists
needed() {
    local what=$1 each
    shift
    for each; do [ -e "$each" ] || refuse "$what: $each does not exist"; done
}
pids=()
# ended: waits for all; fails if one failed.
ended() {
    local status=0 each
    for each in "${pids[@]}"; do wait "$each" || status=$?; done
    return $status
}
