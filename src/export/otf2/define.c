#ifndef RS_NO_OTF2

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "export/otf2/places.h"
#include "export/otf2/state.h"

struct work {
    struct rs_otf2 *o;
    struct rs_otf2_archive *a;
    OTF2_GlobalDefWriter *w;
    uint64_t *members; /* room for those of a group */
    uint32_t *place; /* by location that communicates: its position in the group of all of these */
};

/* ---- where ---- */

static enum rs_status define_clock(struct work *k, struct rs_err *err)
{
    const struct rs_timeline *t = k->o->t;
    const int64_t sensible = INT64_C(946684800000000000); /* the year 2000: earlier times are not wall time */
    uint64_t wall = t->begin >= sensible ? (uint64_t)t->begin : OTF2_UNDEFINED_TIMESTAMP;
    return rs_otf2_check(
        k->a,
        OTF2_GlobalDefWriter_WriteClockProperties(k->w, UINT64_C(1000000000), k->o->offset, (uint64_t)t->span, wall),
        err);
}

static enum rs_status define_error_of_host(struct work *k, uint32_t node, int64_t error, uint32_t name,
                                           struct rs_err *err)
{
    if (error < 0) return RS_OK;
    OTF2_AttributeValue value = {.uint64 = (uint64_t)error};
    return rs_otf2_check(
        k->a, OTF2_GlobalDefWriter_WriteSystemTreeNodeProperty(k->w, node, name, OTF2_TYPE_UINT64, value), err);
}

static enum rs_status define_tree(struct work *k, const uint32_t *names, uint32_t class_run, uint32_t class_host,
                                  uint32_t error_name, struct rs_err *err)
{
    const struct rs_timeline *t = k->o->t;
    RS_OTF2_TRY(k->a,
                OTF2_GlobalDefWriter_WriteSystemTreeNode(k->w, 0, names[0], class_run, OTF2_UNDEFINED_SYSTEM_TREE_NODE),
                err);
    RS_OTF2_TRY(k->a, OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(k->w, 0, OTF2_SYSTEM_TREE_DOMAIN_MACHINE), err);
    for (uint32_t g = 0, node = 1; g < t->ngroups; g++) {
        if (t->groups[g].level != RS_GROUP_HOST) continue;
        RS_OTF2_TRY(k->a, OTF2_GlobalDefWriter_WriteSystemTreeNode(k->w, node, names[node], class_host, 0), err);
        RS_OTF2_TRY(k->a,
                    OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(k->w, node, OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY),
                    err);
        RS_TRY(define_error_of_host(k, node++, t->groups[g].error_ns, error_name, err));
    }
    return RS_OK;
}

static enum rs_status define_property(struct work *k, uint32_t location, uint32_t name, int64_t value,
                                      struct rs_err *err)
{
    if (value < 0) return RS_OK; /* not known */
    OTF2_AttributeValue v = {.uint64 = (uint64_t)value};
    return rs_otf2_check(k->a, OTF2_GlobalDefWriter_WriteLocationProperty(k->w, location, name, OTF2_TYPE_UINT64, v),
                         err);
}

static enum rs_status define_locations(struct work *k, const uint32_t names[3], struct rs_err *err)
{
    const struct rs_otf2_archive *a = k->a;
    for (uint32_t i = 0; i < a->ngroups; i++) {
        const struct rs_otf2_group *g = &a->groups[i];
        RS_OTF2_TRY(k->a, OTF2_GlobalDefWriter_WriteLocationGroup(k->w, i, g->name, g->type, g->node, g->creator), err);
    }
    for (uint32_t i = 0; i < a->nlocations; i++) {
        const struct rs_otf2_location *l = &a->locations[i];
        RS_OTF2_TRY(k->a, OTF2_GlobalDefWriter_WriteLocation(k->w, i, l->name, l->type, l->events, l->group), err);
        RS_TRY(define_property(k, i, names[0], l->error_ns, err));
        RS_TRY(define_property(k, i, names[1], l->job_rank, err));
        RS_TRY(define_property(k, i, names[2], l->comm_rank, err));
    }
    return RS_OK;
}

/* ---- what ---- */

static enum rs_status define_events(struct work *k, struct rs_err *err)
{
    const struct rs_otf2_archive *a = k->a;
    for (uint32_t i = 0; i < a->nattributes; i++) {
        const struct rs_otf2_attribute *x = &a->attributes[i];
        RS_OTF2_TRY(k->a, OTF2_GlobalDefWriter_WriteAttribute(k->w, i, x->name, x->description, x->type), err);
    }
    for (uint32_t i = 0; i < a->nregions; i++) {
        const struct rs_otf2_region *r = &a->regions[i];
        RS_OTF2_TRY(k->a,
                    OTF2_GlobalDefWriter_WriteRegion(k->w, i, r->name, r->canonical, r->description, r->role,
                                                     r->paradigm, OTF2_REGION_FLAG_NONE, OTF2_UNDEFINED_STRING, 0, 0),
                    err);
    }
    return RS_OK;
}

/* Collectives and messages use MPI's paradigm, which readers know, under the name NCCL. */
static enum rs_status define_paradigms(struct work *k, uint32_t nccl, uint32_t cuda, struct rs_err *err)
{
    bool is_cuda = false;
    for (uint32_t i = 0; i < k->a->nregions; i++) is_cuda = is_cuda || k->a->regions[i].paradigm == OTF2_PARADIGM_CUDA;
    RS_OTF2_TRY(k->a, OTF2_GlobalDefWriter_WriteParadigm(k->w, OTF2_PARADIGM_MPI, nccl, OTF2_PARADIGM_CLASS_PROCESS),
                err);
    if (!is_cuda) return RS_OK;
    return rs_otf2_check(
        k->a, OTF2_GlobalDefWriter_WriteParadigm(k->w, OTF2_PARADIGM_CUDA, cuda, OTF2_PARADIGM_CLASS_ACCELERATOR), err);
}

/* Texts of a metric. */
struct metric {
    uint32_t name, description, unit;
};

static void name_metrics(struct work *k, struct metric texts[RS_OTF2_METRICS])
{
    for (unsigned i = 0; i < RS_OTF2_METRICS; i++) {
        rs_otf2_text(k->a, rs_otf2_metrics[i].name, &texts[i].name);
        rs_otf2_text(k->a, rs_otf2_metrics[i].description, &texts[i].description);
        rs_otf2_text(k->a, rs_otf2_metrics[i].unit, &texts[i].unit);
    }
}

/* Sums along a location: a region adds the value at its end minus the value at its begin. */
static enum rs_status define_metrics(struct work *k, const struct metric texts[RS_OTF2_METRICS], struct rs_err *err)
{
    OTF2_MetricMemberRef members[RS_OTF2_METRICS];
    for (uint32_t i = 0; i < RS_OTF2_METRICS; i++) {
        members[i] = i;
        RS_OTF2_TRY(k->a,
                    OTF2_GlobalDefWriter_WriteMetricMember(k->w, i, texts[i].name, texts[i].description,
                                                           OTF2_METRIC_TYPE_USER, OTF2_METRIC_ACCUMULATED_START,
                                                           OTF2_TYPE_UINT64, OTF2_BASE_DECIMAL, 0, texts[i].unit),
                    err);
    }
    return rs_otf2_check(k->a,
                         OTF2_GlobalDefWriter_WriteMetricClass(k->w, 0, RS_OTF2_METRICS, members,
                                                               OTF2_METRIC_SYNCHRONOUS, OTF2_RECORDER_KIND_CPU),
                         err);
}

/* ---- communicators ---- */

/* All locations that communicate. Readers take the n-th for rank n of the job: so one per rank comes first. */
static enum rs_status define_all_members(struct work *k, uint32_t name, struct rs_err *err)
{
    enum { MOST_RANKS = 1 << 20 }; /* damaged input may claim any */
    const struct rs_otf2_location *rows = k->a->locations;
    uint32_t ncomm = k->o->comm_locations, n = 0, ranks = 0;
    for (uint32_t i = 0; i < ncomm; i++) {
        k->place[i] = RS_NONE;
        if (rows[i].job_rank >= (int32_t)ranks && rows[i].job_rank < MOST_RANKS) ranks = (uint32_t)rows[i].job_rank + 1;
    }
    uint32_t *first = rs_alloc(((size_t)ranks + 1) * sizeof *first);
    for (uint32_t i = 0; i < ranks; i++) first[i] = RS_NONE;
    for (uint32_t i = ncomm; i-- > 0;)
        if (rows[i].job_rank >= 0 && rows[i].job_rank < (int32_t)ranks) first[rows[i].job_rank] = i;
    for (uint32_t i = 0; i < ranks; i++)
        if (first[i] != RS_NONE) k->members[k->place[first[i]] = n++] = first[i];
    for (uint32_t i = 0; i < ncomm; i++)
        if (k->place[i] == RS_NONE) k->members[k->place[i] = n++] = i;
    free(first);
    return rs_otf2_check(k->a,
                         OTF2_GlobalDefWriter_WriteGroup(k->w, 0, name, OTF2_GROUP_TYPE_COMM_LOCATIONS,
                                                         OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, n, k->members),
                         err);
}

/* Locations of a lane of a communicator, as positions in the group of all that communicate. */
static enum rs_status define_group(struct work *k, uint32_t comm, unsigned lane, uint32_t ref, uint32_t name,
                                   struct rs_err *err)
{
    const struct rs_otf2_comm *c = &k->o->plan.comms[comm];
    const struct rs_timeline *t = k->o->t;
    uint32_t n = 0;
    for (int32_t rank = 0; rank < c->size; rank++) k->members[n++] = k->place[rs_otf2_member(k->o, comm, rank, lane)];
    for (uint32_t g = 0; g < t->ngroups && !c->size; g++) /* too large: those that are recorded */
        if (k->o->plan.lanes[g] && t->model->members[t->groups[g].member].comm == comm)
            k->members[n++] = k->place[k->o->location_of[g]];
    return rs_otf2_check(k->a,
                         OTF2_GlobalDefWriter_WriteGroup(k->w, ref, name, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
                                                         OTF2_GROUP_FLAG_NONE, n, k->members),
                         err);
}

/* "0x3f2a91bc00112233 tp:0": the hash as `ringscope comms` has it. */
static void name_of(struct work *k, uint32_t comm, unsigned lane, uint32_t *name)
{
    const struct rs_model *m = k->o->t->model;
    const struct rs_comm_row *c = &m->comms[comm];
    const char *called = c->name;
    for (uint32_t view = c->view, hops = 0; !called && view < m->ncomms && hops < RS_TOOLS;
         view = m->comms[view].view, hops++)
        called = m->comms[view].name;
    char hash[32] = "communicator", life[32] = "", what[32] = "", text[512];
    if (c->hash) snprintf(hash, sizeof hash, "0x%016" PRIx64, c->hash);
    if (c->incarnation) snprintf(life, sizeof life, " (%" PRIu32 ". life)", c->incarnation + 1);
    if (lane == RS_OTF2_GROUPED) snprintf(what, sizeof what, ", grouped");
    if (lane && lane != RS_OTF2_GROUPED) snprintf(what, sizeof what, ", overlapping %u", lane);
    snprintf(text, sizeof text, "%s%s%.300s%s%s", hash, called ? " " : "", called ? called : "", life, what);
    rs_otf2_text(k->a, text, name);
}

static uint32_t parent_of(const struct rs_otf2 *o, uint32_t comm)
{
    const struct rs_model *m = o->t->model;
    uint32_t parent = m->comms[comm].parent.comm;
    for (unsigned hops = 0; parent < m->ncomms && hops < 64; hops++, parent = m->comms[parent].parent.comm)
        if (o->plan.comms[parent].lanes && o->plan.comms[parent].ref < o->plan.comms[comm].ref)
            return o->plan.comms[parent].ref;
    return OTF2_UNDEFINED_COMM;
}

/* A lane above the lowest is a duplicate of the communicator, which is its parent. */
static enum rs_status define_comm(struct work *k, uint32_t comm, const uint32_t *names, struct rs_err *err)
{
    const struct rs_otf2_comm *c = &k->o->plan.comms[comm];
    uint32_t ref = c->ref;
    for (unsigned lane = 0; lane <= RS_OTF2_GROUPED; lane++) {
        if (!(c->lanes >> lane & 1)) continue;
        RS_TRY(define_group(k, comm, lane, ref + 1, names[ref], err)); /* group 0 is that of all */
        uint32_t parent = ref == c->ref ? parent_of(k->o, comm) : c->ref;
        RS_OTF2_TRY(k->a, OTF2_GlobalDefWriter_WriteComm(k->w, ref, names[ref], ref + 1, parent, OTF2_COMM_FLAG_NONE),
                    err);
        ref++;
    }
    return RS_OK;
}

static enum rs_status define_comms(struct work *k, const uint32_t *names, uint32_t all_name, struct rs_err *err)
{
    const struct rs_otf2 *o = k->o;
    uint64_t most = o->comm_locations;
    for (uint32_t i = 0; i < o->plan.ncomms; i++)
        if ((uint64_t)o->plan.comms[o->plan.order[i]].size > most)
            most = (uint64_t)o->plan.comms[o->plan.order[i]].size;
    k->members = rs_alloc((most + 1) * sizeof *k->members);
    k->place = rs_alloc(((size_t)o->comm_locations + 1) * sizeof *k->place);
    enum rs_status status = define_all_members(k, all_name, err);
    for (uint32_t i = 0; i < o->plan.ncomms && status == RS_OK; i++)
        status = define_comm(k, o->plan.order[i], names, err);
    free(k->members);
    free(k->place);
    return status;
}

/* ---- properties ---- */

static int64_t largest_error(const struct rs_otf2 *o)
{
    int64_t most = -1;
    for (uint32_t i = 0; i < o->archive.nlocations; i++)
        if (o->archive.locations[i].error_ns > most) most = o->archive.locations[i].error_ns;
    return most;
}

/* The title, and the host if there is only one. */
static enum rs_status describe(struct rs_otf2 *o, struct rs_err *err)
{
    const struct rs_timeline *t = o->t;
    const char *host = NULL;
    uint32_t hosts = 0;
    for (uint32_t g = 0; g < t->ngroups; g++)
        if (t->groups[g].level == RS_GROUP_HOST && !hosts++) host = rs_texts_at(&t->texts, t->groups[g].label);
    if (hosts == 1) RS_OTF2_TRY(&o->archive, OTF2_Archive_SetMachineName(o->archive.archive, host), err);
    if (!o->title) return RS_OK;
    return rs_otf2_check(&o->archive, OTF2_Archive_SetDescription(o->archive.archive, o->title), err);
}

/* Rows of the timeline that are never written, as --rows calls them. */
static enum rs_status name_what_is_left_out(struct rs_otf2 *o, struct rs_err *err)
{
    char list[256] = "";
    size_t n = 0;
    for (unsigned row = 0; row < RS_ROWS; row++) {
        if (rs_exporter_otf2.rows >> row & 1) continue;
        int wrote = snprintf(list + n, sizeof list - n, "%s%s", n ? "," : "", rs_row_kinds[row].id);
        if (wrote > 0 && (size_t)wrote < sizeof list - n) n += (size_t)wrote;
    }
    return rs_otf2_check(&o->archive,
                         OTF2_Archive_SetProperty(o->archive.archive, "RINGSCOPE::ROWS_LEFT_OUT", list, true), err);
}

static enum rs_status set_properties(struct rs_otf2 *o, struct rs_err *err)
{
    const struct rs_otf2_counts *n = &o->plan.counts;
    int64_t error = largest_error(o);
    const struct {
        const char *name;
        uint64_t value;
    } rows[] = {
#define PROPERTY(name, member, description) {"RINGSCOPE::" #name, n->member},
#include "export/otf2/properties.inc"
#undef PROPERTY
    };
    char text[32];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(text, sizeof text, "%" PRIu64, rows[i].value);
        RS_OTF2_TRY(&o->archive, OTF2_Archive_SetProperty(o->archive.archive, rows[i].name, text, true), err);
    }
    if (error < 0)
        snprintf(text, sizeof text, "unknown");
    else
        snprintf(text, sizeof text, "%" PRId64, error);
    return rs_otf2_check(&o->archive,
                         OTF2_Archive_SetProperty(o->archive.archive, "RINGSCOPE::CLOCK_ERROR_NS", text, true), err);
}

/* ---- all ---- */

/* Names of communicators by their number in the archive. */
static void name_comms(struct work *k, uint32_t *names)
{
    const struct rs_otf2_plan *p = &k->o->plan;
    for (uint32_t i = 0, ref = 0; i < p->ncomms; i++)
        for (unsigned lane = 0; lane <= RS_OTF2_GROUPED; lane++)
            if (p->comms[p->order[i]].lanes >> lane & 1) name_of(k, p->order[i], lane, &names[ref++]);
}

static void name_tree(struct work *k, uint32_t *names)
{
    const struct rs_timeline *t = k->o->t;
    uint32_t node = 0;
    rs_otf2_text(k->a, k->o->title ? k->o->title : "run", &names[node++]);
    for (uint32_t g = 0; g < t->ngroups; g++)
        if (t->groups[g].level == RS_GROUP_HOST)
            rs_otf2_text(k->a, rs_texts_at(&t->texts, t->groups[g].label), &names[node++]);
}

enum { T_NCCL, T_CUDA, T_ALL, T_RUN, T_HOST, T_ERROR, T_RANK, T_COMM_RANK, TEXTS };

/* Strings come first: names must be registered before they are written. */
static enum rs_status define_all(struct work *k, uint32_t *tree, uint32_t *comms, struct rs_err *err)
{
    static const char *const texts[TEXTS] = {
        "NCCL",
        "CUDA",
        "all ranks of all communicators",
        "run",
        "host",
        "clock error (ns)",
        "rank of the job",
        "rank of the communicator",
    };
    uint32_t ids[TEXTS];
    struct metric metrics[RS_OTF2_METRICS];
    for (unsigned i = 0; i < TEXTS; i++) rs_otf2_text(k->a, texts[i], &ids[i]);
    name_metrics(k, metrics);
    name_tree(k, tree);
    name_comms(k, comms);
    RS_TRY(define_clock(k, err));
    for (uint32_t i = 0; i < k->a->texts.n; i++)
        RS_OTF2_TRY(k->a, OTF2_GlobalDefWriter_WriteString(k->w, i, rs_texts_at(&k->a->texts, i)), err);
    RS_TRY(define_paradigms(k, ids[T_NCCL], ids[T_CUDA], err));
    RS_TRY(define_tree(k, tree, ids[T_RUN], ids[T_HOST], ids[T_ERROR], err));
    RS_TRY(define_locations(k, ids + T_ERROR, err));
    RS_TRY(define_events(k, err));
    RS_TRY(define_metrics(k, metrics, err));
    return define_comms(k, comms, ids[T_ALL], err);
}

enum rs_status rs_otf2_define(struct rs_otf2 *o, struct rs_err *err)
{
    const struct rs_otf2_plan *p = &o->plan;
    struct work k = {.o = o, .a = &o->archive};
    RS_TRY(describe(o, err));
    RS_TRY(set_properties(o, err));
    RS_TRY(name_what_is_left_out(o, err));
    k.w = OTF2_Archive_GetGlobalDefWriter(o->archive.archive);
    if (!k.w) return rs_otf2_check(&o->archive, OTF2_ERROR_MEM_ALLOC_FAILED, err);
    uint32_t *tree = rs_alloc(((size_t)o->t->ngroups + 1) * sizeof *tree);
    uint32_t *comms = rs_alloc(((size_t)p->ncomms + 1) * (RS_OTF2_GROUPED + 1) * sizeof *comms);
    enum rs_status status = define_all(&k, tree, comms, err);
    free(tree);
    free(comms);
    return status == RS_OK ? rs_otf2_check(&o->archive, OTF2_Archive_CloseGlobalDefWriter(o->archive.archive, k.w), err)
                           : status;
}

#endif
