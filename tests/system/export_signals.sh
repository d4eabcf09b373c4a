#!/bin/bash
# A signal that comes at the worst moment of an export, when the temporary file or folder has just been made: nothing is
# left behind, and what was there stays. The moment is not left to chance: a library in front of the C library's sends the
# signal from within the call that makes the name, renames it, or exchanges it.
set -u
# shellcheck source=tests/said.sh
source "$(dirname "$0")/../said.sh"
cd "${TMP:?}" || exit 1

cat >at.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* SIGNAL_AT=mkdtemp SIGNAL=15: when that call has done its work. SIGNAL_AT=swap: in the middle of a replacement, on a
 * file system that cannot exchange two names. */
static void at(const char *call)
{
    const char *where = getenv("SIGNAL_AT"), *which = getenv("SIGNAL");
    int why = errno;
    if (where && which && !strcmp(where, call)) kill(getpid(), atoi(which));
    errno = why;
}
char *mkdtemp(char *name)
{
    char *(*real)(char *) = (char *(*)(char *))dlsym(RTLD_NEXT, "mkdtemp");
    char *made = real(name);
    at("mkdtemp");
    return made;
}
int mkstemp(char *name)
{
    int (*real)(char *) = (int (*)(char *))dlsym(RTLD_NEXT, "mkstemp");
    int fd = real(name);
    at("mkstemp");
    return fd;
}
int mkstemp64(char *name) { return mkstemp(name); }
static int opened(const char *path, int flags, unsigned mode)
{
    int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
    int fd = real(path, flags, mode);
    if (flags & O_EXCL && strstr(path, ".tmp")) at("open");
    return fd;
}
int open(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    unsigned mode = flags & O_CREAT ? va_arg(more, unsigned) : 0;
    va_end(more);
    return opened(path, flags, mode);
}
int open64(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    unsigned mode = flags & O_CREAT ? va_arg(more, unsigned) : 0;
    va_end(more);
    return opened(path, flags, mode);
}
int rename(const char *from, const char *to)
{
    int (*real)(const char *, const char *) = (int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename");
    int done = real(from, to);
    if (!done) at("swap");
    return done;
}
int renameat2(int a, const char *from, int b, const char *to, unsigned flags)
{
    int (*real)(int, const char *, int, const char *, unsigned) =
        (int (*)(int, const char *, int, const char *, unsigned))dlsym(RTLD_NEXT, "renameat2");
    const char *where = getenv("SIGNAL_AT");
    if (where && !strcmp(where, "swap") && flags) return errno = EINVAL, -1;
    int done = real(a, from, b, to, flags);
    at("renameat2");
    return done;
}
C
"${CC:-cc}" -shared -fPIC -O1 -o at.so at.c -ldl 2>err || { cat err; exit 77; }
"$RINGSCOPE" gen -w mix --ranks 2 --hosts 2 --steps 2 --no-truth -o run >/dev/null 2>&1 || exit 1

ended() { # SIGNAL CALL FORMAT OUTPUT [OPTIONS]: runs the export; its exit status
    local signal=$1 call=$2 format=$3 out=$4
    shift 4
    env LD_PRELOAD="$PWD/at.so" SIGNAL="$(kill -l "$signal")" SIGNAL_AT="$call" \
        "$RINGSCOPE" export --format "$format" run -o "$out" "$@" >said 2>err </dev/null
}
left() { find . -mindepth 1 -maxdepth 1 -name '.*' | sort | tr '\n' ' '; }
formats=("rsc mkdtemp" "csv open")
"$RINGSCOPE" --version | grep -q 'otf2 *on' && formats+=("otf2 mkdtemp")
"$RINGSCOPE" --version | grep -q 'sqlite *on' && formats+=("sqlite mkstemp")
for signal in TERM INT HUP; do
    for f in "${formats[@]}"; do
        format=${f% *} call=${f#* }
        ended $signal "$call" "$format" "new.$format"
        is "$format, SIG$signal when its temporary name is made: exit status" $? $((128 + $(kill -l $signal)))
        is "$format, SIG$signal: left behind" "$(left)" ""
        [ -e "new.$format" ] && { echo "$format: an unfinished output has its name"; bad=1; rm -rf "new.$format"; }
    done
done

# Replacing a folder, on a file system that cannot exchange two names: whenever the signal comes, the folder is there.
"$RINGSCOPE" export --format rsc run --rank 0 -o old 2>/dev/null || { echo "no folder"; bad=1; }
ended TERM swap rsc old --force
is "replaced by two renames: exit status" $? 143
is "replaced: left behind" "$(left)" ""
is "replaced: the folder holds" "$("$RINGSCOPE" info --json old 2>/dev/null | jq -c '[.processes, .cut]')" "[2,0]"
exit $bad
