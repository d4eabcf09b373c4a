#include "trace/differences.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Expected to differ. */
static const char *const expected_to_differ[] = {"env.CUDA_VISIBLE_DEVICES", "env.NCCL_HOSTID", "env.NCCL_ID_FILE"};

static bool comparable(const char *key)
{
    static const char *const prefixes[] = {"env.NCCL_", "env.CUDA_", "env.TORCH_", "env.RINGSCOPE_"};
    if (!strncmp(key, "env.RINGSCOPE_TEST_", 19)) return false;
    for (size_t i = 0; i < sizeof expected_to_differ / sizeof *expected_to_differ; i++)
        if (!strcmp(key, expected_to_differ[i])) return false;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (!strncmp(key, prefixes[i], strlen(prefixes[i]))) return true;
    return !strcmp(key, "nccl.version") || !strcmp(key, "ringscope.version");
}

/* "NCCL_ALGO" */
static const char *name_of(const char *key)
{
    return strncmp(key, "env.", 4) ? key : key + 4;
}

void rs_settings_each(const struct rs_inputs *in, void (*take)(void *to, const char *name, const char *value), void *to)
{
    static const char *const places[] = {"env.RINGSCOPE_DIR",         "env.NCCL_DEBUG_FILE",
                                         "env.NCCL_PROFILER_PLUGIN",  "env.TORCH_NCCL_DEBUG_INFO_TEMP_FILE",
                                         "env.NCCL_COMM_ID",          "env.CUDA_MPS_PIPE_DIRECTORY",
                                         "env.CUDA_MPS_LOG_DIRECTORY"};
    for (size_t i = 0; i < in->n; i++) {
        const struct rs_process *p = &in->sources[i].process;
        for (size_t k = 0; k < p->ninfos; k++) {
            bool place = false;
            for (size_t x = 0; x < sizeof places / sizeof *places; x++) place |= !strcmp(places[x], p->infos[k].key);
            if (!place && comparable(p->infos[k].key) && p->infos[k].value)
                take(to, name_of(p->infos[k].key), p->infos[k].value);
        }
    }
}

static int by_count(const void *a, const void *b)
{
    const struct rs_setting_value *x = a, *y = b;
    return x->processes > y->processes ? -1 : x->processes < y->processes;
}

static bool same(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

/* The values of a key in all sources. */
static void values_of(const struct rs_inputs *in, const char *key, struct rs_setting *s)
{
    for (size_t i = 0; i < in->n; i++) {
        const char *value = rs_process_info(&in->sources[i].process, key);
        size_t k = 0;
        while (k < s->nvalues && !same(s->values[k].value, value)) k++;
        if (k == s->nvalues) {
            struct rs_setting_value *grown = rs_realloc(s->values, (k + 1) * sizeof *grown);
            s->values = grown;
            s->values[s->nvalues++] = (struct rs_setting_value){.value = value, .example = &in->sources[i]};
        }
        s->values[k].processes++;
    }
    qsort(s->values, s->nvalues, sizeof *s->values, by_count);
}

static void compare(struct rs_differences *d, const struct rs_inputs *in)
{
    for (size_t i = 0; i < in->n; i++) {
        const struct rs_process *p = &in->sources[i].process;
        if (!p->ninfos) continue; /* unknown: not a difference */
        for (size_t k = 0; k < p->ninfos; k++) {
            const char *key = p->infos[k].key;
            bool seen = !comparable(key);
            for (size_t e = 0; e < i && !seen; e++) seen = rs_process_info(&in->sources[e].process, key) != NULL;
            if (seen) continue;
            struct rs_setting s = {.name = name_of(key)};
            values_of(in, key, &s);
            struct rs_setting *grown = NULL;
            if (s.nvalues > 1) {
                grown = rs_realloc(d->settings, (d->n + 1) * sizeof *grown);
            }
            if (!grown) {
                free(s.values);
                continue;
            }
            d->settings = grown;
            d->settings[d->n++] = s;
        }
    }
}

void rs_differences_find(struct rs_differences *d, const struct rs_inputs *in)
{
    *d = (struct rs_differences){0};
    compare(d, in);
}

void rs_differences_free(struct rs_differences *d)
{
    for (size_t i = 0; i < d->n; i++) free(d->settings[i].values);
    free(d->settings);
    *d = (struct rs_differences){0};
}
