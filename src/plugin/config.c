#include "plugin/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static const char *setting(const char *name)
{
    const char *v = getenv(name);
    return v && *v ? v : NULL;
}

/* Adds to the list of bad settings. */
static void complain(struct rs_config *c, const char *name)
{
    size_t n = strlen(c->bad);
    snprintf(c->bad + n, sizeof c->bad - n, "%s%s", n ? ", " : "", name);
}

/* The nearest allowed value: a limit that is too small must not become none at all. */
static uint64_t within(struct rs_config *c, const char *name, uint64_t value, uint64_t least, uint64_t most)
{
    if (value >= least && value <= most) return value;
    complain(c, name);
    return value < least ? least : most;
}

/* Absolute, since the program may change its working folder later. If it is too long, nothing is recorded. */
static void set_dir(struct rs_config *c, const char *prefix, const char *name)
{
    char here[sizeof c->dir];
    bool absolute = (!prefix[0] && name[0] == '/') || !getcwd(here, sizeof here);
    int n = snprintf(c->dir, sizeof c->dir, "%s%s%s%s", absolute ? "" : here, absolute ? "" : "/", prefix, name);
    if ((size_t)n < sizeof c->dir) return;
    complain(c, "RINGSCOPE_DIR (too long)");
    c->dir[0] = 0;
}

void rs_config_read(struct rs_config *c)
{
    *c = (struct rs_config){.memory = (size_t)64 << 20, .triggers = RS_DETAIL_TRIGGERS};
    rs_setting_mask("net", &c->mask);
    const char *v, *job;
    if ((v = setting("RINGSCOPE_DIR")))
        set_dir(c, "", v);
    else if ((job = setting("SLURM_JOB_ID")))
        set_dir(c, "ringscope-", job);
    else
        set_dir(c, "ringscope-", "run");

    uint64_t bytes;
    if ((v = setting("RINGSCOPE_EVENTS")) && !rs_setting_mask(v, &c->mask)) complain(c, "RINGSCOPE_EVENTS");
    if ((v = setting("RINGSCOPE_DETAIL")) && !rs_setting_detail(v, &c->detail)) complain(c, "RINGSCOPE_DETAIL");
    if ((v = setting("RINGSCOPE_TRIGGERS"))) {
        char *end;
        unsigned long n = strtoul(v, &end, 10);
        if (*end || v[0] == '-')
            complain(c, "RINGSCOPE_TRIGGERS");
        else
            c->triggers = (uint32_t)within(c, "RINGSCOPE_TRIGGERS", n, 0, 3600);
    }
    if ((v = setting("RINGSCOPE_MEMORY"))) {
        if (!rs_setting_bytes(v, &bytes))
            complain(c, "RINGSCOPE_MEMORY");
        else
            c->memory = (size_t)within(c, "RINGSCOPE_MEMORY", bytes, RS_MEMORY_LEAST, RS_MEMORY_MOST);
    }
    if ((v = setting("RINGSCOPE_LIMIT"))) {
        if (!rs_setting_bytes(v, &bytes))
            complain(c, "RINGSCOPE_LIMIT");
        else if (bytes)
            c->limit = within(c, "RINGSCOPE_LIMIT", bytes, RS_LIMIT_LEAST, UINT64_MAX);
    }
    if ((v = setting("RINGSCOPE_KEEP"))) {
        if (!strcasecmp(v, "last"))
            c->keep_last = true;
        else if (strcasecmp(v, "first"))
            complain(c, "RINGSCOPE_KEEP");
    }
    if (c->keep_last && !c->limit) c->limit = (uint64_t)256 << 20;
    if ((v = setting("RINGSCOPE_BUFFERS"))) {
        if (!strcasecmp(v, "disk"))
            c->buffers = RS_BUFFERS_DISK;
        else if (!strcasecmp(v, "memory"))
            c->buffers = RS_BUFFERS_MEMORY;
        else if (strcasecmp(v, "shm"))
            complain(c, "RINGSCOPE_BUFFERS");
    }
    if ((v = setting("RINGSCOPE_TEST_HOST"))) snprintf(c->test_host, sizeof c->test_host, "%s", v);
    if ((v = setting("RINGSCOPE_TEST_CLOCK"))) {
        long long offset;
        if (sscanf(v, "%lld:%lf", &offset, &c->test_ppm) == 2) {
            c->test_clock = true;
            c->test_offset_ns = offset;
        } else {
            complain(c, "RINGSCOPE_TEST_CLOCK");
        }
    }
}
