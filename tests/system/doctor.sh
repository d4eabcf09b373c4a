#!/bin/bash
# `ringscope doctor`, and what `ringscope run` says when nothing was recorded: real processes with libraries that have the names
# and the version of NCCL.
set -u
fails=0
fail() {
    echo "line ${BASH_LINENO[1]}: $*"
    fails=$((fails + 1))
}
expect() { # STATUS COMMAND...: $out and $err hold what it printed
    local want=$1 got
    shift
    "$@" >"$TMP/out" 2>"$TMP/err"
    got=$?
    out=$(cat "$TMP/out")
    err=$(cat "$TMP/err")
    [ "$got" = "$want" ] || fail "exit status $got instead of $want: $* -- $out $err"
}
has() { [[ $1 == *"$2"* ]] || fail "'$2' is not in: $1"; }
lacks() { [[ $1 != *"$2"* ]] || fail "'$2' is in: $1"; }
same() { [ "$1" = "$2" ] || fail "'$1' instead of '$2'"; }
unset NCCL_PROFILER_PLUGIN RINGSCOPE_DIR SLURM_JOB_ID SLURM_PROCID OMPI_COMM_WORLD_RANK PMI_RANK PMIX_RANK RANK
cd "$TMP" || exit 1
# Python itself: a shim of pyenv takes longer than all checks.
python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null) && PATH=$(dirname "$python"):$PATH

# ---- stand-ins: NCCL by version, with its text or with ncclGetVersion() alone, and a program that loads libraries ----
library() { # FOLDER VERSION [TEXT]
    mkdir -p "$1"
    # shellcheck disable=SC2086 # flags
    $CC -shared -fPIC -DVERSION="$2" -DTEXT="\"${3:-}\"" -x c - -o "$1/libnccl.so.2" <<'C' || exit 1
const char *ncclText(void);
const char *ncclText(void) { return TEXT; }
int ncclGetVersion(int *version);
int ncclGetVersion(int *version) { *version = VERSION; return 0; }
C
}
library old 22105 "NCCL version 2.21.5+cuda12.4"
library new 22809 "NCCL version 2.28.9+cuda13.0"
library quiet 22706
library paths 22703 "NCCL version 2.27.3+cuda12.9"
mkdir plugins
cp "$NOP" plugins/libnccl-profiler-other.so
cat >job.c <<'C'
/* job LIBRARY...: loads them, then waits until its parent has seen the last one (it keeps that file open) and sleeps again. */
#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int parent_sleeps(void)
{
    char path[64], text[400] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)getppid());
    FILE *f = fopen(path, "r");
    if (!f || !fgets(text, sizeof text, f)) return 0;
    fclose(f);
    return strncmp(strrchr(text, ')'), ") S", 3) == 0;
}
int main(int argc, char **argv)
{
    char parent[64], path[400], link[PATH_MAX], last[PATH_MAX] = "";
    for (int i = 1; i < argc; i++) {
        if (!dlopen(argv[i], RTLD_NOW | RTLD_LOCAL)) return fprintf(stderr, "%s\n", dlerror()), 9;
        if (!realpath(argv[i], last)) return 9;
    }
    snprintf(parent, sizeof parent, "/proc/%d/fd", (int)getppid());
    for (int tries = 0; argc > 1 && tries < 3000; tries++) {
        DIR *list = opendir(parent);
        const struct dirent *e;
        while (list && (e = readdir(list))) {
            snprintf(path, sizeof path, "%s/%s", parent, e->d_name);
            ssize_t n = readlink(path, link, sizeof link - 1);
            link[n < 0 ? 0 : n] = 0;
            if (!strcmp(link, last) && parent_sleeps()) return closedir(list), 0;
        }
        if (list) closedir(list);
        usleep(10000);
    }
    /* Without a library: until the first look is over, and for longer than a command that ended too early. */
    for (int tries = 0; tries < 3000 && !parent_sleeps(); tries++) usleep(10000);
    usleep(300000);
    return 0;
}
C
$CC job.c -o job -ldl || exit 1
echo 'const char *rs_text(void); const char *rs_text(void) { return "NCCL version 2.19.3+cuda12.3"; }' | $CC -x c -c - -o text.o || exit 1
$CC job.c text.o -Wl,-u,rs_text -o static_job -ldl || exit 1

# ---- run: why nothing was recorded ----
run() { expect 0 "$RINGSCOPE" run -o rec "$@"; has "$err" "nothing was recorded in $TMP/rec:"; }
run -- ./job ./old/libnccl.so.2
[[ $err =~ pid\ [0-9]+\ \(job\)\ loaded\ libnccl\ 2.21.5:\ too\ old\ for\ profiler\ plugins ]] || fail "$err"
same "$(grep -c '^  - ' "$TMP/err")" 1
run -- ./job ./new/libnccl.so.2
has "$err" "(job) loaded libnccl 2.28.9, but not the plugin: it created no communicator"
run -- sh -c 'NCCL_PROFILER_PLUGIN=inspector exec ./job ./new/libnccl.so.2'
has "$err" "loaded libnccl 2.28.9, but NCCL_PROFILER_PLUGIN was overwritten by 'inspector'"
run -- env -u NCCL_PROFILER_PLUGIN ./job ./new/libnccl.so.2
has "$err" "but was started without NCCL_PROFILER_PLUGIN"
run -- ./job plugins/libnccl-profiler-other.so ./new/libnccl.so.2
has "$err" "and another profiler plugin, $TMP/plugins/libnccl-profiler-other.so"
run -- ./job "$PLUGIN" ./new/libnccl.so.2
has "$err" "and the recorder, which wrote nothing"
cp "$PLUGIN" gone.so
run --plugin ./gone.so -- sh -c 'rm gone.so; exec ./job ./new/libnccl.so.2'
has "$err" "but $TMP/gone.so does not exist in its container"
run -- ./static_job
has "$err" "(static_job) has NCCL 2.19.3 linked in ($TMP/static_job): too old"
run -- ./job
has "$err" "no process loaded libnccl, and none has it linked in (1 process watched)"
lacks "$err" "Likely"
cp job mpirun
run -- ./mpirun
has "$err" "(mpirun) starts processes that cannot be watched from here"
# Only the first rank says so.
expect 0 env RANK=1 "$RINGSCOPE" run -o rec -- ./job
same "$err" ""

# ---- doctor: the host ----
check() { jq -r --arg name "$1" '.checks[] | select(.check == $name) | .status + " " + .text' <<<"$out"; }
doctor() { # STATUS VERDICT FOLDER-OF-NCCL ARGUMENTS...
    local status=$1 verdict=$2 nccl=$3
    shift 3
    expect "$status" env LD_LIBRARY_PATH="$TMP/$nccl" PYTHONPATH="$TMP/python" "$RINGSCOPE" doctor --json "$@"
    [[ $(jq -r .verdict <<<"$out") =~ ^($verdict)$ ]] || fail "verdict: $out"
    same "$(jq -r '.checks | map(.status | IN("ok", "warning", "problem")) | all' <<<"$out")" true
}
mkdir -p python
doctor 0 'ok|warning' new -o rec
same "$(check plugin)" "ok $(realpath "$PLUGIN") loads; interface versions 1 to 7"
has "$(check nccl)" "ok NCCL 2.28.9, found by the loader ($TMP/new/libnccl.so.2), will use ncclProfiler_v5"
has "$(check folder)" "$TMP/rec is writable"
for name in shm clock cupti limits; do [ -n "$(check $name)" ] || fail "$name is not checked"; done
doctor 0 'ok|warning' quiet -o not/yet/there # by ncclGetVersion()
has "$(check nccl)" "ok NCCL 2.27.6, found by the loader ($TMP/quiet/libnccl.so.2), will use ncclProfiler_v4"
has "$(check folder)" "$TMP/not/yet/there can be created"
[ ! -e not ] || fail "the folder was created"
doctor 1 problem old
has "$(check nccl)" "problem NCCL 2.21.5, found by the loader"
doctor 1 problem paths
has "$(check nccl)" "refuses plugins that are named by a path"
doctor 1 problem new -o job/x
has "$(check folder)" "problem $TMP/job: cannot create files: Not a directory"
doctor 1 problem new --plugin ./old/libnccl.so.2
has "$(check plugin)" "is no NCCL profiler plugin"
echo "no library" >text.so
doctor 1 problem new --plugin ./text.so
has "$(check plugin)" "problem $TMP/text.so cannot be loaded: "
expect 1 "$RINGSCOPE" doctor --plugin ./absent.so
has "$err" "absent.so"
# NCCL of PyPI: nvidia/nccl/lib, which only Python finds.
if python3 -c 'import sys' 2>/dev/null; then
    mkdir -p python/nvidia/nccl
    cp -r old python/nvidia/nccl/lib
    doctor 1 problem new
    has "$(check nccl)" "problem NCCL 2.21.5, of python3 (nvidia-nccl) ($TMP/python/nvidia/nccl/lib/libnccl.so.2): too old"
    has "$(check nccl)" "ok NCCL 2.28.9, found by the loader"
    rm -r python/nvidia
fi
(
    ulimit -n 64
    doctor 0 warning new -o rec
    has "$(check limits)" "warning only 64 open files are allowed"
    exit $fails
) || fail "ulimit -n"
expect 0 env LD_LIBRARY_PATH="$TMP/new" NCCL_PROFILER_PLUGIN=other "$RINGSCOPE" doctor
has "$out" "warning  environment  NCCL_PROFILER_PLUGIN=other is set: ringscope run replaces it"
same "$(cut -c 1-7 <<<"$out" | sort -u | tr -d ' ' | grep -vx -e ok -e warning)" ""
same "$err" ""

# ---- doctor: a command ----
doctor 1 problem new -- ./job ./old/libnccl.so.2
[[ $(check process) =~ ^problem\ pid\ [0-9]+\ \(job\)\ loaded\ libnccl\ 2.21.5:\ too\ old ]] || fail "$(check process)"
has "$(check recording)" "problem nothing was recorded"
same "$(jq -c '[.recorded, (.processes[] | .name, .nccl_version, .nccl_path, .plugin_setting, .recorder, (.reason | length > 0))]' <<<"$out")" \
    "[0,\"job\",\"2.21.5\",\"$TMP/old/libnccl.so.2\",\"$(realpath "$PLUGIN")\",false,true]"
doctor 1 problem new -- ./job
has "$(check recording)" "nothing was recorded: no process loaded libnccl"
mkdir tmp
# shellcheck disable=SC2016 # the inner shell is to expand it
TMPDIR=$TMP/tmp doctor 0 'ok|warning' new -- sh -c '"$0" sim --ranks 2 --steps 1 -o "$RINGSCOPE_DIR"' "$RINGSCOPE"
has "$err" "simulated"
has "$(check recording)" "ok 2 processes were recorded"
same "$(jq -c '[.recorded, .processes]' <<<"$out")" "[2,[]]" # the simulator has no NCCL
same "$(ls -A tmp)" ""
doctor 0 'ok|warning' new -o kept -- "$RINGSCOPE" sim --ranks 2 --steps 1 -o kept
set -- kept/*.rsc
same "$#" 2
doctor 1 problem new -- sh -c 'exit 7'
has "$(check command)" "warning sh ended with status 7"
expect 1 "$RINGSCOPE" doctor -- ./no-such-command
has "$err" "cannot run './no-such-command'"
expect 2 "$RINGSCOPE" doctor -o ''

[ $fails = 0 ]
