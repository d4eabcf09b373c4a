#include "foreign/host_call.h"

#include <string.h>

/* Runtime ("cuda") and driver ("cu") name their calls alike: only what follows counts, and only its beginning, since
 * versions and variants (_v11060, Async, _ptsz) follow. The first that fits wins. */
static const struct {
    const char *begins;
    enum rs_activity_kind kind;
} calls[] = {
    {"LaunchHostFunc", RS_ACT_CALL},
    {"Launch", RS_ACT_LAUNCH},
    {"GraphLaunch", RS_ACT_LAUNCH},
    {"ModuleLaunch", RS_ACT_LAUNCH}, /* HIP, as the next two */
    {"ExtLaunch", RS_ACT_LAUNCH},
    {"ExtModuleLaunch", RS_ACT_LAUNCH},
    {"Memcpy", RS_ACT_LAUNCH},
    {"Memset", RS_ACT_LAUNCH},
    {"MemPrefetchAsync", RS_ACT_LAUNCH},
    {"DeviceSynchronize", RS_ACT_SYNC},
    {"StreamSynchronize", RS_ACT_SYNC},
    {"EventSynchronize", RS_ACT_SYNC},
    {"CtxSynchronize", RS_ACT_SYNC},
    {"ThreadSynchronize", RS_ACT_SYNC},
    {"Malloc", RS_ACT_MEMORY},
    {"Free", RS_ACT_MEMORY},
    {"Host", RS_ACT_MEMORY}, /* HostAlloc, HostRegister, HostUnregister; HostGet... is none */
    {"MemAlloc", RS_ACT_MEMORY},
    {"MemFree", RS_ACT_MEMORY},
    {"MemHost", RS_ACT_MEMORY},
    {"MemCreate", RS_ACT_MEMORY},
    {"MemRelease", RS_ACT_MEMORY},
    {"MemMap", RS_ACT_MEMORY},
    {"MemUnmap", RS_ACT_MEMORY},
};

static int begins(const char *name, size_t n, const char *with)
{
    size_t length = strlen(with);
    return n >= length && !memcmp(name, with, length);
}

enum rs_activity_kind rs_host_call_kind(const char *name, size_t n)
{
    size_t skip = begins(name, n, "cuda") ? 4 : begins(name, n, "hip") ? 3 : begins(name, n, "cu") ? 2 : 0;
    if (!skip) return RS_ACT_CALL;
    name += skip;
    n -= skip;
    if (begins(name, n, "HostGet") || begins(name, n, "MemHostGet")) return RS_ACT_CALL;
    /* The driver's copies and sets name their kind: MemcpyHtoDAsync, MemsetD8Async. */
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (begins(name, n, calls[i].begins)) return calls[i].kind;
    return RS_ACT_CALL;
}
