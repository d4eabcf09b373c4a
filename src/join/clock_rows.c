#include "join/clock_rows.h"

#include <stdlib.h>

#include "base/memory.h"
#include "join/totals.h"

/* ---- collecting ---- */

static uint32_t main_island(const struct rs_model *m)
{
    for (uint32_t i = 0; i < m->ndomains; i++)
        if (m->domains[i].method == RS_CLOCK_REFERENCE) return m->domains[i].island;
    return RS_NONE;
}

static void number_islands(struct rs_clock_rows *r, const struct rs_model *m)
{
    r->islands = rs_alloc((m->ndomains + 1) * sizeof *r->islands);
    for (uint32_t i = 0; i < m->ndomains; i++) r->islands[i] = RS_NONE;
    uint32_t first = main_island(m); /* an island is identified by one of its clocks */
    if (first != RS_NONE) r->islands[first] = r->nislands++;
    for (uint32_t i = 0; i < m->ndomains; i++)
        if (r->islands[m->domains[i].island] == RS_NONE) r->islands[m->domains[i].island] = r->nislands++;
    for (uint32_t i = 0; i < m->ndomains; i++) r->islands[i] = r->islands[m->domains[i].island];
}

struct device {
    uint32_t proc, gpu;
    int32_t device, rank;
};

static int by_device(const void *a, const void *b)
{
    const struct device *x = a, *y = b;
    if (x->proc != y->proc) return x->proc < y->proc ? -1 : 1;
    if (x->device != y->device) return x->device < y->device ? -1 : 1;
    if (x->gpu != y->gpu) return x->gpu < y->gpu ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static bool same_row(const struct rs_clock_row *r, const struct device *s)
{
    return r->proc == s->proc && r->device == s->device && r->gpu == s->gpu;
}

/* Rows from devices in order; the ranks are in one array after the rows. */
static void fill_rows(struct rs_clock_rows *r, const struct device *devices, uint32_t n, int32_t *ranks)
{
    for (uint32_t i = 0; i < n; i++) {
        if (!r->n || !same_row(&r->all[r->n - 1], &devices[i]))
            r->all[r->n++] = (struct rs_clock_row){
                .proc = devices[i].proc, .gpu = devices[i].gpu, .device = devices[i].device, .ranks = ranks};
        struct rs_clock_row *row = &r->all[r->n - 1];
        if (devices[i].rank < 0 || (row->nranks && row->ranks[row->nranks - 1] == devices[i].rank)) continue;
        row->ranks[row->nranks++] = devices[i].rank;
        ranks++;
    }
}

int64_t rs_clock_middle(struct rs_model *m)
{
    int64_t begin = rs_model_begin(m), end = rs_model_end(m);
    return begin == RS_TIME_NONE || end == RS_TIME_NONE ? RS_TIME_NONE : begin + rs_time_minus(end, begin) / 2;
}

void rs_clock_rows_init(struct rs_clock_rows *r, struct rs_model *m, const struct rs_filter *filter)
{
    *r = (struct rs_clock_rows){0};
    struct device *devices = rs_alloc((m->nmembers + 1) * sizeof *devices);
    r->all = rs_alloc((m->nmembers + 1) * (sizeof *r->all + sizeof(int32_t)));
    number_islands(r, m);
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->nmembers; i++) {
        const struct rs_member *x = &m->members[i];
        if (x->place == RS_NONE) continue; /* of an unknown process */
        if (!rs_filter_rank(filter, m, i) || !rs_filter_comm(filter, m, x->comm)) continue;
        devices[n++] = (struct device){x->proc, x->gpu, x->device, x->global_rank};
    }
    qsort(devices, n, sizeof *devices, by_device);
    fill_rows(r, devices, n, (int32_t *)(void *)(r->all + m->nmembers + 1));
    free(devices);
    r->at = rs_clock_middle(m);
    struct rs_totals totals;
    rs_totals_find(&totals, m, filter);
    r->compare_error_ns = totals.error_ns;
}

void rs_clock_rows_free(struct rs_clock_rows *r)
{
    free(r->all);
    free(r->islands);
}

/* ---- values of a clock ---- */

int64_t rs_clock_offset(struct rs_model *m, const struct rs_clock_rows *r, uint32_t domain)
{
    if (domain == RS_NONE || m->domains[domain].method == RS_CLOCK_NONE || r->at == RS_TIME_NONE) return RS_TIME_NONE;
    return rs_time_minus(r->at, rs_axis_local(&m->domains[domain].axis, r->at));
}

int64_t rs_clock_error(const struct rs_model *m, const struct rs_clock_rows *r, uint32_t domain)
{
    if (domain == RS_NONE || !m->aligned || r->islands[domain]) return RS_TIME_NONE;
    return m->domains[domain].error_ns;
}

const char *rs_clock_method_name(uint8_t method)
{
    static const char *const names[] = {"none", "reference", "ends", "pairs", "bounds", "wall", "overlay", "unshifted"};
    return names[method];
}

uint32_t rs_clock_of_host(const struct rs_model *m, const struct rs_clock_row *row)
{
    return m->hosts[m->procs[row->proc].host].domain;
}

const struct rs_domain *rs_clock_own(const struct rs_model *m, const struct rs_clock_row *row)
{
    bool seen = row->gpu != RS_NONE && (!m->aligned || m->domains[row->gpu].method != RS_CLOCK_NONE);
    return &m->domains[seen ? row->gpu : rs_clock_of_host(m, row)];
}

int64_t rs_clock_host_error(const struct rs_model *m, const struct rs_clock_rows *r, const struct rs_clock_row *row)
{
    int64_t error = rs_clock_error(m, r, rs_clock_of_host(m, row));
    return error == RS_TIME_NONE ? error : error + m->procs[row->proc].clock_error_ns;
}
