#include "plugin/config.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "nccl/abi.h"

enum {
    MASK_OPS = RS_GROUP_API | RS_COLL_API | RS_P2P_API | RS_KERNEL_LAUNCH | RS_GROUP | RS_COLL | RS_P2P | RS_KERNEL_CH |
               RS_KERNEL_PHASE | RS_CE_COLL | RS_CE_SYNC | RS_CE_BATCH,
    MASK_NET = MASK_OPS | RS_PROXY_OP | RS_PROXY_STEP | RS_NET_PLUGIN,
    MASK_ALL = MASK_NET | RS_PROXY_CTRL,
};

bool rs_config_mask(const char *text, int *mask)
{
    if (!strcasecmp(text, "ops"))
        *mask = MASK_OPS;
    else if (!strcasecmp(text, "net"))
        *mask = MASK_NET;
    else if (!strcasecmp(text, "all"))
        *mask = MASK_ALL;
    else if (!strcasecmp(text, "off"))
        *mask = 0;
    else {
        char *end;
        errno = 0;
        unsigned long v = strtoul(text, &end, 0);
        if (end == text || *end || errno || v > 0x7fffffff) return false;
        *mask = (int)v;
    }
    return true;
}

/* A number of bytes, with k, M or G (powers of 1024; an `i` and a `B` may follow). */
static bool bytes_of(const char *text, uint64_t *bytes)
{
    char *end;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    if (end == text || *text == '-' || errno) return false;
    unsigned shift = 0;
    switch (toupper((unsigned char)*end)) {
    case 'K': shift = 10; break;
    case 'M': shift = 20; break;
    case 'G': shift = 30; break;
    case 'T': shift = 40; break;
    }
    if (shift) end++;
    if (shift && *end == 'i') end++;
    if (toupper((unsigned char)*end) == 'B') end++;
    if (*end || v > UINT64_MAX >> shift) return false;
    *bytes = (uint64_t)v << shift;
    return true;
}

static const char *setting(const char *name)
{
    const char *v = getenv(name);
    return v && *v ? v : NULL;
}

/* The program may change its folder later. */
static void make_absolute(char *dir, size_t bytes)
{
    char given[3072], here[2048];
    if (dir[0] == '/' || !getcwd(here, sizeof here)) return;
    memcpy(given, dir, sizeof given);
    if ((size_t)snprintf(dir, bytes, "%s/%s", here, given) >= bytes) memcpy(dir, given, sizeof given);
}

void rs_config_read(struct rs_config *c)
{
    *c = (struct rs_config){.mask = MASK_NET, .memory = (size_t)64 << 20};
    const char *v, *job;
    if ((v = setting("RINGSCOPE_DIR")))
        snprintf(c->dir, sizeof c->dir, "%s", v);
    else if ((job = setting("SLURM_JOB_ID")))
        snprintf(c->dir, sizeof c->dir, "ringscope-%s", job);
    else
        snprintf(c->dir, sizeof c->dir, "ringscope-run");

    make_absolute(c->dir, sizeof c->dir);

    uint64_t bytes;
    if ((v = setting("RINGSCOPE_EVENTS")) && !rs_config_mask(v, &c->mask)) c->bad = "RINGSCOPE_EVENTS";
    if ((v = setting("RINGSCOPE_MEMORY"))) {
        if (bytes_of(v, &bytes) && bytes >= (uint64_t)4 << 20 && bytes <= (uint64_t)1 << 30)
            c->memory = (size_t)bytes;
        else
            c->bad = "RINGSCOPE_MEMORY (4M to 1G)";
    }
    if ((v = setting("RINGSCOPE_LIMIT"))) {
        if (bytes_of(v, &bytes) && (!bytes || bytes >= (uint64_t)1 << 20))
            c->limit = bytes;
        else
            c->bad = "RINGSCOPE_LIMIT (1M or more)";
    }
    if ((v = setting("RINGSCOPE_KEEP"))) {
        if (!strcasecmp(v, "last"))
            c->keep_last = true;
        else if (strcasecmp(v, "first"))
            c->bad = "RINGSCOPE_KEEP (first or last)";
    }
    if (c->keep_last && !c->limit) c->limit = (uint64_t)256 << 20;
    if ((v = setting("RINGSCOPE_TEST_HOST"))) snprintf(c->test_host, sizeof c->test_host, "%s", v);
    if ((v = setting("RINGSCOPE_TEST_CLOCK"))) {
        long long offset;
        if (sscanf(v, "%lld:%lf", &offset, &c->test_ppm) == 2) {
            c->test_clock = true;
            c->test_offset_ns = offset;
        } else {
            c->bad = "RINGSCOPE_TEST_CLOCK (offset_ns:ppm)";
        }
    }
}
