#include "fields/clock.h"

void rs_clocks_late_of(struct rs_model *m, const struct rs_clock_row *row, struct rs_late *late)
{
    *late = (struct rs_late){RS_TIME_NONE, RS_TIME_NONE};
    if (row->gpu != RS_NONE) rs_clocks_late(m, row->gpu, late);
}

void rs_clock_fields_make(struct rs_clock_fields *r, struct rs_model *m, const struct rs_clock_rows *rows,
                          const struct rs_clock_row *row)
{
    *r = (struct rs_clock_fields){.m = m, .rows = rows, .row = row};
    r->host = rs_clock_of_host(m, row);
    r->own = rs_clock_own(m, row);
    r->gpu = row->gpu == RS_NONE ? NULL : &m->domains[row->gpu];
    r->uuid = rs_uuid_text(r->gpu ? r->gpu->uuid : NULL, r->uuid_text);
    rs_clocks_late_of(m, row, &r->late);
}

static struct rs_value drift_of(const struct rs_model *m, uint32_t domain)
{
    bool known = domain != RS_NONE && m->domains[domain].method != RS_CLOCK_NONE;
    return known ? rs_v_double(m->domains[domain].drift_ppm) : rs_v_null();
}

static bool next_rank(const void *row, uint32_t *at, struct rs_value *item)
{
    const struct rs_clock_fields *r = row;
    if (*at >= r->row->nranks) return false;
    *item = rs_v_int(r->row->ranks[(*at)++]);
    return true;
}

static bool next_hull(const void *row, uint32_t *at, struct rs_value *item)
{
    const struct rs_clock_fields *r = row;
    *item = rs_v_time(*at ? r->own->hull_high_ns : r->own->hull_low_ns);
    return (*at)++ < 2;
}

#define PROC (&r->m->procs[r->row->proc])
#define RS_ROWS_FILE "fields/clock.inc"
#define RS_ROW struct rs_clock_fields
#define RS_GET(id) clock_##id
#define RS_FIELDS static const struct rs_out_field clock[]
#include "fields/table.inc"

const struct rs_out_table rs_out_clock = {"clock", "clocks --json", clock, sizeof clock / sizeof *clock, NULL, NULL};
