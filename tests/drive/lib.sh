# shellcheck shell=bash
# For the tests that drive the recorder: sourced by tests/system/record_*.sh.
set -u
DRIVE=$BUILD/tests/drive
VERIFY=$BUILD/tests/verify
fails=0
unset NCCL_DEBUG SLURM_JOB_ID RINGSCOPE_EVENTS RINGSCOPE_MEMORY RINGSCOPE_LIMIT RINGSCOPE_KEEP RINGSCOPE_BUFFERS RINGSCOPE_DETAIL RINGSCOPE_TRIGGERS
cd "$TMP" || exit 1

fail() {
    echo "FAILED: $*"
    fails=$((fails + 1))
}
same() { [ "$1" = "$2" ] || fail "${3:-}: '$1' instead of '$2'"; }

# drive NAME [VARIABLE=VALUE...] [--] ARGUMENTS...: plays into the folder NAME; NAME.out, NAME.err and NAME.truth beside.
drive() {
    local name=$1 settings=()
    shift
    while [[ ${1:-} == *=* ]]; do
        settings+=("$1")
        shift
    done
    [ "${1:-}" != -- ] || shift
    rm -rf "$name"
    env RINGSCOPE_DIR="$PWD/$name" "${settings[@]}" "$DRIVE" --truth "$name.truth" "$@" >"$name.out" 2>"$name.err"
    same "$?" "${want_status:-0}" "$name: exit status ($(tail -n 2 "$name.err"))"
}

# verify NAME [ARGUMENTS...]: the one recording in the folder NAME against NAME.truth; NAME.seen.
verify() {
    local name=$1 files
    shift
    files=("$name"/*.rsc)
    same "${#files[@]}" 1 "$name: recordings"
    "$VERIFY" --truth "$name.truth" "$@" "${files[0]}" >"$name.seen" 2>"$name.wrong" ||
        fail "$name $*: $(head -n 5 "$name.wrong") $(grep -v '^info' "$name.seen" | head -n 12 | tr '\n' ' ')"
}

# seen NAME KEY, told NAME KEY: what verify or the driver said (all values, one a line).
seen() { sed -n "s/^$2=//p" "$1.seen"; }
told() { sed -n "s/^$2=//p" "$1.out"; }
warnings() { grep -c '^WARN' "$1.err"; }

# Live files in /dev/shm of recordings below $TMP.
in_shm() { grep -lsF "$TMP/" /dev/shm/ringscope-"$(id -u)"-*.live; }
# What a kill left there is gone with the test that left it.
# shellcheck disable=SC2046 # their names are hexadecimal digits
trap 'rm -f $(in_shm)' EXIT

finish() { [ "$fails" = 0 ]; }
