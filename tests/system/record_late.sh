#!/bin/bash
# A file system that takes longer to answer than init waits: the job goes on, and when the recording is open it knows what
# came before: communicators, settings, and how many callbacks it missed.
set -u
cd "${TMP:?}" || exit 1
bad=0
cat >slow.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>
int open(const char *path, int flags, ...)
{
    int (*real)(const char *, int, ...), mode = 0;
    *(void **)&real = dlsym(RTLD_NEXT, "open");
    va_list ap;
    va_start(ap, flags);
    if (flags & O_CREAT) mode = va_arg(ap, int);
    va_end(ap);
    if ((flags & O_CREAT) && strstr(path, ".rsc")) {
        while (access("given-up", F_OK)) usleep(10000);
        usleep(1000000); /* in which callbacks come, and are missed */
    }
    return real(path, flags, mode);
}
END
"${CC:-cc}" -shared -fPIC -o slow.so slow.c -ldl || exit 77
: >said
NCCL_DEBUG=WARN LD_PRELOAD=$PWD/slow.so "$RINGSCOPE" sim --ranks 2 --hosts 2 --steps 300 -o late --truth truth >/dev/null 2>said &
job=$!
# The file system answers when both processes have said that they wait no longer.
until [ "$(grep -c 'does not answer' said)" = 2 ] || ! kill -0 $job 2>/dev/null; do sleep 0.05; done
: >given-up
wait $job || bad=1
sent=$(jq -s 'map(select(.kind == "process") | .callbacks) | add' truth)
got=$("$RINGSCOPE" info --json late | jq -c '[.emitted, .ranks, .communicators, .lost > 0, .callbacks > 1000, .calls.init,
    (.coverage | map(.mask != null) | all), (.notes | map(select(.text | contains("does not answer"))) | length)]')
if [ "$got" != "[$sent,2,1,true,true,2,true,2]" ]; then
    echo "$got with $sent sent"
    bad=1
fi
exit $bad
