#!/bin/bash
# NCCL as libraries that come and go: unloaded with and without a finalize, two at once, loaded by a constructor. What lies
# in NCCL is not touched any more when it is gone; its logger is called inside init and finalize alone; and these leave
# errno and dlerror() as they were.
# shellcheck source=tests/drive/lib.sh
source "$(dirname "$0")/../drive/lib.sh"
src=$OLDPWD/src

cat >nccl.c <<'C'
#include <stdlib.h>
#include <unistd.h>
int mask;
extern __thread int inside;
extern void made_in_constructor(int *mask);
void logger(int level, unsigned long flags, const char *file, int line, const char *fmt, ...)
{
    (void)level, (void)flags, (void)file, (void)line, (void)fmt;
    if (!inside) abort();
}
__attribute__((constructor)) static void construct(void)
{
    if (getenv("IN_CONSTRUCTOR")) made_in_constructor(&mask);
}
C
cat >program.c <<'C'
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "nccl/abi.h"
__thread int inside;
static const struct rs_nccl_profiler_v5 *plugin;
static void *init(int *mask, rs_nccl_logger logger)
{
    void *context;
    inside = 1;
    plugin->init(&context, 1, mask, "c", 1, 1, 0, logger);
    inside = 0;
    return context;
}
static void finalize(void *context)
{
    inside = 1;
    plugin->finalize(context);
    inside = 0;
}
static void call(void *context)
{
    struct rs_nccl_descr_v5 d = {.type = RS_GROUP_API, .groupApi = {.groupDepth = 1}};
    void *handle;
    plugin->startEvent(context, &handle, &d);
    plugin->stopEvent(handle);
}
static void ready(const char *what)
{
    puts(what);
    fflush(stdout);
}
static void call_until(void *context, int *mask, int wanted)
{
    for (; (*mask & ~0x40) != wanted; usleep(1000)) call(context); /* GPU times depend on the machine */
}
void made_in_constructor(int *mask)
{
    usleep((unsigned)atoi(getenv("IN_CONSTRUCTOR")));
    init(mask, NULL);
}
static void *another(void *delay)
{
    static int mask;
    usleep((unsigned)atoi(delay));
    return init(&mask, NULL);
}
static void *load_nccl(void *name)
{
    void *lib = dlopen(name, RTLD_NOW);
    if (!lib) fprintf(stderr, "%s\n", dlerror()), exit(9);
    return lib;
}
int main(int argc, char **argv)
{
    void *lib = dlopen(getenv("PLUGIN"), RTLD_NOW | RTLD_LOCAL);
    plugin = dlsym(lib, "ncclProfiler_v5");
    if (!strcmp(argv[1], "constructor")) {
        pthread_t t, u;
        pthread_create(&t, NULL, load_nccl, "./nccl.so");
        pthread_create(&u, NULL, another, argv[2]);
        pthread_join(t, NULL);
        pthread_join(u, NULL);
        return 0;
    }
    void *a = load_nccl("./nccl.so");
    int *mask_a = dlsym(a, "mask");
    errno = 4242;
    void *context = init(mask_a, (rs_nccl_logger)dlsym(a, "logger"));
    if (errno != 4242) return 2;
    const char *left = dlerror();
    if (left) return fprintf(stderr, "dlerror: %s\n", left), 3;
    call(context);
    if (!strcmp(argv[1], "two")) {
        void *b = load_nccl("./nccl2.so");
        int *mask_b = dlsym(b, "mask");
        void *other = init(mask_b, (rs_nccl_logger)dlsym(b, "logger"));
        ready("both");
        call_until(context, mask_a, 0x910);
        call_until(other, mask_b, 0x910);
        finalize(other);
        dlclose(b);
        ready("one");
        call_until(context, mask_a, 0x920);
        return 0;
    }
    if (argc > 2) finalize(context);
    if (errno != 4242) return 4;
    dlclose(lib);
    dlclose(a);
    ready("unloaded");
    while (access("go", F_OK)) usleep(10000);
    return 0;
}
C
$CC -shared -fPIC -o nccl.so nccl.c && cp nccl.so nccl2.so &&
    $CC -I"$src" -rdynamic -o program program.c -lpthread -ldl || exit 1

begin() { # NAME [ARGUMENTS...]: the program, in the background
    name=$1
    rm -rf "$name" go
    : >"$name.out"
    : >"$name.err"
    RINGSCOPE_DIR=$PWD/$name NCCL_DEBUG=WARN ./program "${@:2}" >"$name.out" 2>"$name.err" &
    pid=$!
}
await() { # FILE WORD: until it is there, or the program has ended
    while ! grep -q "$2" "$1" && kill -0 $pid 2>/dev/null; do sleep 0.02; done
}
ended() {
    wait $pid
    same "$?" 0 "$name: exit status ($(cat "$name.err"))"
}

for how in "unloaded unload" "finalized unload fini"; do
    # shellcheck disable=SC2086
    begin $how
    await "$name.out" unloaded
    echo events=off >"$name/control"
    rm "$name"/*.rsc # a warning is due
    await "$name.err" 'was deleted'
    touch go
    ended
    same "$(grep -c 'ringscope: .*was deleted' "$name.err")" 1 "$name: warnings"
done

begin two two
await two.out both
echo events=0x10 >two/control
await two.out one
sleep 0.05 # another time for the file
echo "events=0x20" >two/control
ended

for delay in 0 1000 3000; do
    for other in 500 1500 3000; do
        rm -rf constructor
        IN_CONSTRUCTOR=$delay RINGSCOPE_DIR=$PWD/constructor timeout 300 ./program constructor $other 2>constructor.err
        same "$?" 0 "constructor, after $delay and $other us: exit status ($(cat constructor.err))"
    done
done
finish
