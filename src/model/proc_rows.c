#include "model/proc_rows.h"

#include "base/bisect.h"

/* The first row of a process >= `proc`; `of` returns the process of a row. */
static uint32_t first_of(const struct rs_model *m, uint32_t n, uint32_t (*of)(const struct rs_model *m, uint32_t row),
                         uint64_t proc)
{
    uint32_t low = 0, high = n;
    RS_BISECT(low, high, mid, of(m, mid) < proc);
    return low;
}

static uint32_t proc_of_member(const struct rs_model *m, uint32_t member)
{
    return m->members[member].proc;
}

static uint32_t proc_of_part(const struct rs_model *m, uint32_t part)
{
    return m->members[m->parts.member[part]].proc;
}

struct rs_proc_rows rs_parts_of(const struct rs_model *m, uint32_t proc)
{
    return (struct rs_proc_rows){first_of(m, m->parts.n, proc_of_part, proc),
                                 first_of(m, m->parts.n, proc_of_part, (uint64_t)proc + 1)};
}

struct rs_proc_rows rs_members_of(const struct rs_model *m, uint32_t proc)
{
    return (struct rs_proc_rows){first_of(m, m->nmembers, proc_of_member, proc),
                                 first_of(m, m->nmembers, proc_of_member, (uint64_t)proc + 1)};
}

void rs_parts_index(struct rs_map *index, const struct rs_model *m, uint32_t proc)
{
    struct rs_proc_rows span = rs_parts_of(m, proc);
    rs_map_reserve(index, span.end - span.first);
    for (uint32_t i = span.first; i < span.end; i++) rs_map_put(index, m->parts.handle[i], i);
}
