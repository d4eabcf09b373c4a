/* Perfetto's own format (.pftrace): Protocol Buffers, without their library.
 *
 * A rank is a process, a communicator a track with a track per lane below it, a bar the begin and end of a slice
 * (perfetto/packets.h); slices of a track follow each other or nest (nests.h). Slices of an operation also have its
 * number as correlation id. */
#include <stdlib.h>

#include "base/bisect.h"
#include "base/memory.h"
#include "export/exporter.h"
#include "export/fanout_ranks.h"
#include "export/lane_numbers.h"
#include "export/nests.h"
#include "export/perfetto/fields.h"
#include "export/perfetto/packets.h"
#include "export/perfetto/wire.h"
#include "export/rank_counters.h"
#include "export/rank_rows.h"
#include "export/slice_args.h"
#include "model/model.h"
#include "timeline/timeline.h"

/* ---- tracks ----
 * Tracks of a Perfetto trace: one process per rank with its two counters, one track per communicator, and below them
 * the lanes.
 *
 * Numbers (uuid): rows of ranks from 1, then communicators (by group of the timeline), counters (two per row), and lanes
 * in the order of their first use. Lanes of a whole process are threads. */

struct pf_tracks {
    struct rs_packets *packets;
    const struct rs_timeline *t;
    const struct rs_rank_rows *rows;
    struct rs_wire track, inner; /* of the current packet */
    struct rs_strbuf name; /* for one name */
    uint64_t next; /* uuid of the next lane */
    struct rs_lane_numbers lanes; /* of the current process: uuids */
    uint32_t tid; /* the last thread id */
};

static uint64_t pf_tracks_counter(const struct pf_tracks *k, uint32_t row, enum rs_rank_counter which);

static void pf_tracks_open(struct pf_tracks *k, struct rs_packets *p, const struct rs_timeline *t,
                           const struct rs_rank_rows *rows)
{
    *k = (struct pf_tracks){.packets = p, .t = t, .rows = rows, .tid = rows->n};
    k->next = pf_tracks_counter(k, rows->n, 0);
}

static void pf_tracks_free(struct pf_tracks *k)
{
    rs_wire_free(&k->track);
    rs_wire_free(&k->inner);
    rs_strbuf_free(&k->name);
    rs_lane_numbers_free(&k->lanes);
}

static uint64_t row_uuid(uint32_t row)
{
    return (uint64_t)row + 1;
}

static uint64_t comm_uuid(const struct pf_tracks *k, uint32_t group)
{
    return (uint64_t)k->rows->n + 1 + group;
}

static uint64_t pf_tracks_counter(const struct pf_tracks *k, uint32_t row, enum rs_rank_counter which)
{
    return (uint64_t)k->rows->n + 1 + k->t->ngroups + (uint64_t)row * RS_RANK_COUNTERS + which;
}

static void end_track(struct pf_tracks *k)
{
    rs_packets_plain(k->packets, PF_PACKET_TRACK_DESCRIPTOR, &k->track, -1);
}

/* ---- clocks ---- */

static void put_clock(struct pf_tracks *k, uint32_t id, uint64_t at)
{
    rs_wire_clear(&k->inner);
    rs_wire_uint(&k->inner, PF_CLOCK_ID, id);
    rs_wire_uint(&k->inner, PF_CLOCK_TIMESTAMP, at);
    rs_wire_message(&k->track, PF_SNAPSHOT_CLOCKS, &k->inner);
}

/* The axis is wall time. */
static void put_clocks(struct pf_tracks *k)
{
    uint64_t now = k->packets->base;
    rs_wire_clear(&k->track);
    put_clock(k, PF_BOOTTIME, now);
    put_clock(k, PF_REALTIME, now);
    rs_wire_uint(&k->track, PF_SNAPSHOT_PRIMARY, PF_BOOTTIME);
    rs_packets_plain(k->packets, PF_PACKET_CLOCK_SNAPSHOT, &k->track, -1);
}

/* ---- rows ---- */

/* The track of the whole trace says that rows are in our order. */
static void put_root(struct pf_tracks *k)
{
    rs_wire_clear(&k->track);
    rs_wire_uint(&k->track, PF_TRACK_UUID, 0);
    rs_wire_uint(&k->track, PF_TRACK_PROCESS_ORDERING, PF_ROWS_EXPLICIT);
    rs_wire_uint(&k->track, PF_TRACK_THREAD_ORDERING, PF_ROWS_EXPLICIT);
    end_track(k);
}

static void put_row(struct pf_tracks *k, uint32_t row, struct rs_strbuf *label)
{
    rs_strbuf_clear(label);
    rs_rank_row_label(k->rows, k->t, row, label);
    rs_wire_clear(&k->inner);
    rs_wire_uint(&k->inner, PF_PROCESS_PID, row + 1);
    rs_wire_uint(&k->inner, PF_PROCESS_SORT, row);
    rs_wire_string(&k->inner, PF_PROCESS_NAME, rs_rank_row_name(k->rows, k->t, row));
    rs_wire_string(&k->inner, PF_PROCESS_LABELS, rs_strbuf_borrow(label));
    rs_wire_clear(&k->track);
    rs_wire_uint(&k->track, PF_TRACK_UUID, row_uuid(row));
    rs_wire_message(&k->track, PF_TRACK_PROCESS, &k->inner);
    rs_wire_uint(&k->track, PF_TRACK_CHILD_ORDERING, PF_CHILDREN_EXPLICIT);
    rs_wire_uint(&k->track, PF_TRACK_RANK, row);
    rs_wire_string(&k->track, PF_TRACK_DESCRIPTION, rs_strbuf_borrow(label));
    end_track(k);
}

static void describe_counter(struct pf_tracks *k, uint32_t row, enum rs_rank_counter which)
{
    static const uint8_t units[RS_RANK_COUNTERS] = {
        [RS_COUNTER_BYTES] = PF_UNIT_BYTES, [RS_COUNTER_WAITING] = PF_UNIT_COUNT};
    rs_wire_clear(&k->inner);
    rs_wire_uint(&k->inner, PF_COUNTER_UNIT, units[which]);
    rs_wire_clear(&k->track);
    rs_wire_uint(&k->track, PF_TRACK_UUID, pf_tracks_counter(k, row, which));
    rs_wire_uint(&k->track, PF_TRACK_PARENT, row_uuid(row));
    rs_wire_string(&k->track, PF_TRACK_NAME, rs_rank_counter_texts[which].name);
    rs_wire_message(&k->track, PF_TRACK_COUNTER, &k->inner);
    rs_wire_uint(&k->track, PF_TRACK_RANK, which);
    rs_wire_string(&k->track, PF_TRACK_DESCRIPTION, rs_rank_counter_texts[which].text);
    end_track(k);
}

static void put_comm(struct pf_tracks *k, uint32_t group, uint32_t row)
{
    rs_wire_clear(&k->track);
    rs_wire_uint(&k->track, PF_TRACK_UUID, comm_uuid(k, group));
    rs_wire_uint(&k->track, PF_TRACK_PARENT, row_uuid(row));
    rs_wire_string(&k->track, PF_TRACK_NAME, rs_texts_at(&k->t->texts, k->t->groups[group].label));
    rs_wire_uint(&k->track, PF_TRACK_CHILD_ORDERING, PF_CHILDREN_EXPLICIT);
    rs_wire_uint(&k->track, PF_TRACK_RANK, (uint64_t)RS_RANK_COUNTERS + group);
    rs_wire_uint(&k->track, PF_TRACK_MERGE, PF_MERGE_NONE);
    end_track(k);
}

static void put_flag(struct pf_tracks *k, const struct rs_timeline_flag *flag)
{
    rs_wire_clear(&k->inner);
    rs_wire_uint(&k->inner, PF_EVENT_TYPE, PF_INSTANT);
    rs_wire_uint(&k->inner, PF_EVENT_TRACK_UUID, comm_uuid(k, flag->group));
    rs_wire_string(&k->inner, PF_EVENT_CATEGORIES, flag->destroyed ? "destroyed" : "created");
    rs_wire_string(&k->inner, PF_EVENT_NAME, rs_texts_at(&k->t->texts, flag->label));
    rs_packets_plain(k->packets, PF_PACKET_TRACK_EVENT, &k->inner, flag->at);
}

/* Clocks, processes, communicators, counters, flags. */
static void pf_tracks_head(struct pf_tracks *k)
{
    const struct rs_timeline *t = k->t;
    struct rs_strbuf label = {0};
    put_clocks(k);
    put_root(k);
    for (uint32_t row = 0; row < k->rows->n; row++) {
        put_row(k, row, &label);
        describe_counter(k, row, RS_COUNTER_BYTES);
        describe_counter(k, row, RS_COUNTER_WAITING);
    }
    rs_strbuf_free(&label);
    for (uint32_t g = 0; g < t->ngroups; g++)
        if (t->groups[g].level == RS_GROUP_COMM && k->rows->of_group[g] != RS_NONE)
            put_comm(k, g, k->rows->of_group[g]);
    for (uint32_t i = 0; i < t->nflags; i++)
        if (k->rows->of_group[t->flags[i].group] != RS_NONE) put_flag(k, &t->flags[i]);
}

/* ---- lanes ---- */

/* Before the lanes of another process. */
static void pf_tracks_process(struct pf_tracks *k)
{
    rs_lane_numbers_clear(&k->lanes);
}

/* The uuid of a lane's track, which is described at its first use. */
static void pf_tracks_lane(struct pf_tracks *k, const struct rs_bar_lane *lane, uint64_t *uuid)
{
    const struct rs_timeline *t = k->t;
    uint8_t level = t->groups[lane->group].level;
    uint32_t row = rs_rank_row_of(k->rows, lane);
    uint64_t *number;
    rs_lane_number(&k->lanes, lane, &number);
    bool known = *number != 0;
    *uuid = *number = known ? *number : k->next++;
    if (known) return;
    k->tid++;
    rs_strbuf_clear(&k->name);
    rs_rank_lane_name(t, lane, &k->name);
    const char *label = rs_strbuf_borrow(&k->name);
    rs_wire_clear(&k->track);
    rs_wire_uint(&k->track, PF_TRACK_UUID, *uuid);
    if (level != RS_GROUP_COMM) { /* a thread of the process, or of the GPU */
        rs_wire_clear(&k->inner);
        rs_wire_uint(&k->inner, PF_THREAD_PID, row + 1);
        rs_wire_uint(&k->inner, PF_THREAD_TID, k->tid);
        rs_wire_string(&k->inner, PF_THREAD_NAME, label);
        rs_wire_message(&k->track, PF_TRACK_THREAD, &k->inner);
    } else {
        rs_wire_uint(&k->track, PF_TRACK_PARENT, comm_uuid(k, lane->group));
        rs_wire_string(&k->track, PF_TRACK_NAME, label);
    }
    rs_wire_uint(&k->track, PF_TRACK_RANK, rs_rank_lane_order(t, lane, true));
    end_track(k);
}

/* ---- flows ----
 * Flows of a Perfetto trace: the ids of a slice.
 *
 * Slices with the same id are connected by arrows in the order of their begins. A path has one id: from a parent to a
 * child, from there to its first child, and so on, and finally to what that launched. Further launches, children that
 * began before their parent, and a send and its receive have an id for each pair. The ranks of an operation share an id,
 * as do a proxy operation and its steps, which follow one another. So the arrows are the relations, with few ids. If both
 * slices are in one piece it is known which is later, and the flow ends there. */

struct flows {
    const struct rs_timeline *t;
    struct rs_fanout_ranks fanouts;
    /* Of the current piece: */
    const struct rs_nests *nests; /* in which order its bars are written */
    /* Children of bar i except steps: children[child_from[i] .. child_from[i + 1]); its path continues to the first, if it
     * continues. */
    uint32_t *child_from, *children;
    uint32_t *head; /* of bar i: the first bar of its path after the parent that the path begins with */
    uint32_t *arrivals; /* edges by the bar that they lead to */
    uint8_t *marks; /* of bar i: where its path continues, which edges it has */
    uint64_t edges_before; /* of all pieces before it */
};

/* The upper bits of an id are its kind, the lower ones a number. EARLY: a child that began before its parent. */
enum kind { PATH = 1, EARLY, STEPS, LAUNCH, OPERATION, MESSAGE };
/* Of a bar: its path continues to its first child, or along the first edge that leaves it; it has steps; edges leave it,
 * arrive at it. */
enum { TO_CHILD = 1, TO_LAUNCHED = 2, STEPS_BELOW = 4, LEAVES = 8, ARRIVES = 16 };

static uint64_t flow_id(enum kind kind, uint64_t number)
{
    return (uint64_t)kind << 60 | number;
}

static void flows_init(struct flows *f, const struct rs_timeline *t)
{
    *f = (struct flows){.t = t};
    rs_fanout_ranks_init(&f->fanouts, t);
}

/* What is of one process. */
static void free_process(struct flows *f)
{
    free(f->child_from);
    free(f->children);
    free(f->head);
    free(f->arrivals);
    free(f->marks);
    f->child_from = f->children = f->head = f->arrivals = NULL;
    f->marks = NULL;
}

static void flows_free(struct flows *f)
{
    rs_fanout_ranks_free(&f->fanouts);
    free_process(f);
    *f = (struct flows){0};
}

static void make_room(struct flows *f, const struct rs_bars *b)
{
    size_t n = (size_t)b->n + 2;
    free_process(f);
    f->child_from = rs_zalloc(n, sizeof *f->child_from);
    f->head = rs_alloc(n * sizeof *f->head);
    f->arrivals = rs_alloc(((size_t)b->nedges + 1) * sizeof *f->arrivals);
    f->marks = rs_zalloc(n, sizeof *f->marks);
}

/* Steps follow one another: they share one flow with the proxy operation that they are of. */
static bool is_step(const struct rs_bars *b, uint32_t i)
{
    return b->kind[i] == RS_BAR_STEP_SEND || b->kind[i] == RS_BAR_STEP_RECV;
}

static bool is_here(const struct rs_bars *b, uint32_t bar)
{
    return bar != RS_BAR_NONE && bar >= b->first && bar - b->first < b->n;
}

/* Whether bar i begins before bar k; of those that begin together the one that is written first does. */
static bool is_first(const struct flows *f, const struct rs_bars *b, uint32_t i, uint32_t k)
{
    return b->start[i] != b->start[k] ? b->start[i] < b->start[k] : f->nests->place[i] < f->nests->place[k];
}

static bool is_child(const struct rs_bars *b, uint32_t i)
{
    return is_here(b, b->parent[i]) && !is_step(b, i);
}

static void find_children(struct flows *f, const struct rs_bars *b)
{
    uint32_t *from = f->child_from;
    for (uint32_t i = 0; i < b->n; i++)
        if (is_child(b, i))
            from[b->parent[i] - b->first + 2]++;
        else if (is_here(b, b->parent[i]))
            f->marks[b->parent[i] - b->first] |= STEPS_BELOW;
    for (uint32_t i = 1; i <= b->n + 1; i++) from[i] += from[i - 1];
    f->children = rs_alloc(((size_t)from[b->n + 1] + 1) * sizeof *f->children);
    /* from[i + 1] is where the next child of bar i goes, and in the end where those of bar i + 1 begin. */
    for (uint32_t i = 0; i < b->n; i++)
        if (is_child(b, i)) f->children[from[b->parent[i] - b->first + 1]++] = i;
}

/* Whether the path of its parent continues to bar i. Begins increase along a path, so there is no cycle. */
static bool is_on_path(const struct flows *f, const struct rs_bars *b, uint32_t i)
{
    uint32_t parent = b->parent[i] - b->first;
    return is_child(b, i) && (f->marks[parent] & TO_CHILD) && f->children[f->child_from[parent]] == i;
}

static uint64_t path_of(const struct flows *f, const struct rs_bars *b, uint32_t i)
{
    return flow_id(PATH, (uint64_t)b->first + f->head[i]);
}

static void find_paths(struct flows *f, const struct rs_bars *b)
{
    for (uint32_t i = 0; i < b->n; i++) {
        uint32_t *next = &f->children[f->child_from[i]];
        f->head[i] = RS_NONE;
        for (uint32_t k = f->child_from[i]; k < f->child_from[i + 1]; k++) {
            uint32_t child = f->children[k];
            if (!is_first(f, b, i, child) || ((f->marks[i] & TO_CHILD) && is_first(f, b, *next, child))) continue;
            f->children[k] = *next;
            *next = child;
            f->marks[i] |= TO_CHILD;
        }
    }
    for (uint32_t i = 0; i < b->n; i++) {
        uint32_t top = i, head;
        while (f->head[top] == RS_NONE && is_on_path(f, b, top)) top = b->parent[top] - b->first;
        head = f->head[top] == RS_NONE ? top : f->head[top];
        for (uint32_t k = i; k != top; k = b->parent[k] - b->first) f->head[k] = head;
        f->head[top] = head;
    }
}

static int by_to(const void *a, const void *b, void *edges)
{
    const struct rs_bar_edge *x = (const struct rs_bar_edge *)edges + *(const uint32_t *)a;
    const struct rs_bar_edge *y = (const struct rs_bar_edge *)edges + *(const uint32_t *)b;
    if (x->to != y->to) return x->to < y->to ? -1 : 1;
    return x->from < y->from ? -1 : x->from > y->from;
}

/* Whether an edge is the first of those that leave its bar. */
static bool leads(const struct rs_bars *b, uint32_t edge)
{
    return !edge || b->edges[edge - 1].from != b->edges[edge].from;
}

static void find_edges(struct flows *f, const struct rs_bars *b)
{
    for (uint32_t e = 0; e < b->nedges; e++) {
        uint32_t from = b->edges[e].from - b->first, to = b->edges[e].to - b->first;
        f->arrivals[e] = e;
        if (from >= b->n || to >= b->n) continue;
        f->marks[from] |= LEAVES;
        f->marks[to] |= ARRIVES;
        if (leads(b, e) && !(f->marks[from] & TO_CHILD) && is_first(f, b, from, to)) f->marks[from] |= TO_LAUNCHED;
    }
    if (b->nedges) qsort_r(f->arrivals, b->nedges, sizeof *f->arrivals, by_to, b->edges);
}

static void flows_piece(struct flows *f, const struct rs_bars *b, const struct rs_nests *nests)
{
    make_room(f, b);
    f->nests = nests;
    find_children(f, b);
    find_paths(f, b);
    find_edges(f, b);
}

/* When its bars are done; frees what was of them. */
static void flows_done(struct flows *f, const struct rs_bars *b)
{
    f->edges_before += b->nedges;
    free_process(f);
}

/* ---- writing ---- */

static void put(struct rs_wire *event, bool goes_on, uint64_t id)
{
    rs_wire_fixed64(event, goes_on ? PF_EVENT_FLOW_IDS : PF_EVENT_TERMINATING_FLOW_IDS, id);
}

static void put_edge(const struct flows *f, const struct rs_bars *b, uint32_t i, uint32_t edge, struct rs_wire *event)
{
    uint32_t from = b->edges[edge].from - b->first, to = b->edges[edge].to - b->first, other = i == from ? to : from;
    if (other >= b->n) return;
    if (!(f->marks[from] & TO_LAUNCHED) || !leads(b, edge))
        put(event, is_first(f, b, i, other), flow_id(LAUNCH, f->edges_before + edge));
    else if (i == to)
        put(event, false, path_of(f, b, from));
}

static void put_edges(const struct flows *f, const struct rs_bars *b, uint32_t i, struct rs_wire *event)
{
    uint32_t bar = b->first + i, low = 0, high = b->nedges;
    if (f->marks[i] & LEAVES) {
        RS_BISECT(low, high, mid, b->edges[mid].from < bar);
        for (; low < b->nedges && b->edges[low].from == bar; low++) put_edge(f, b, i, low, event);
    }
    if (f->marks[i] & ARRIVES) {
        low = 0, high = b->nedges;
        RS_BISECT(low, high, mid, b->edges[f->arrivals[mid]].to < bar);
        for (; low < b->nedges && b->edges[f->arrivals[low]].to == bar; low++)
            put_edge(f, b, i, f->arrivals[low], event);
    }
}

/* Between ranks: the order of their begins is known when all are read. */
static void put_part(const struct flows *f, uint32_t part, struct rs_wire *event)
{
    const struct rs_model *m = f->t->model;
    uint32_t op = m->parts.op[part], fanout = m->ops.fanout[op];
    if (m->ops.nparts[op] > 1)
        put(event, true, flow_id(m->ops.kind[op] == RS_OP_PAIR ? MESSAGE : OPERATION, f->t->op_number[op]));
    if (fanout != RS_NONE && rs_fanout_represents(&f->fanouts, part) && f->t->op_number[fanout] != RS_NONE)
        put(event, true, flow_id(OPERATION, f->t->op_number[fanout]));
}

static void put_family(const struct flows *f, const struct rs_bars *b, uint32_t i, struct rs_wire *event)
{
    bool goes_on = f->marks[i] & (TO_CHILD | TO_LAUNCHED), reached = false;
    if (is_here(b, b->parent[i])) {
        if (is_step(b, i))
            put(event, true, flow_id(STEPS, b->parent[i]));
        else if (is_first(f, b, b->parent[i] - b->first, i))
            reached = true;
        else
            put(event, true, flow_id(EARLY, (uint64_t)b->first + i));
    }
    if (reached || goes_on) put(event, goes_on, path_of(f, b, i));
    for (uint32_t k = f->child_from[i] + (f->marks[i] & TO_CHILD ? 1 : 0); k < f->child_from[i + 1]; k++) {
        uint32_t child = f->children[k];
        if (is_first(f, b, i, child))
            put(event, true, path_of(f, b, child));
        else
            put(event, false, flow_id(EARLY, (uint64_t)b->first + child));
    }
    if (f->marks[i] & STEPS_BELOW) put(event, true, flow_id(STEPS, (uint64_t)b->first + i));
}

/* The ids of bar i as fields of its TrackEvent; `part` RS_NONE: it is not an operation's. */
static void flows_put(const struct flows *f, const struct rs_bars *b, uint32_t i, uint32_t part, struct rs_wire *event)
{
    put_family(f, b, i, event);
    if (f->marks[i] & (LEAVES | ARRIVES)) put_edges(f, b, i, event);
    if (part != RS_NONE) put_part(f, part, event);
}

/* ---- the exporter ---- */

struct perfetto {
    struct rs_packets packets;
    struct rs_rank_rows rows;
    struct pf_tracks tracks;
    struct rs_slice_args args;
    struct flows flows;
    struct rs_rank_counters counters;
    struct rs_nests nests;
};

static enum rs_status begin(struct rs_export *x, struct rs_err *err)
{
    struct rs_timeline *t = x->timeline;
    struct perfetto *p = rs_zalloc(1, sizeof *p);
    x->state = p;
    rs_packets_open(&p->packets, x->file, x->name, t->begin);
    rs_rank_rows_init(&p->rows, t);
    RS_TRY(rs_slice_args_init(&p->args, t, err));
    flows_init(&p->flows, t);
    pf_tracks_open(&p->tracks, &p->packets, t, &p->rows);
    pf_tracks_head(&p->tracks);
    return RS_OK;
}

/* ---- a slice ---- */

/* Keys of categories: by row; after these, losses, and what was not recorded. */
static uint32_t category_of(struct rs_packets *p, const struct rs_timeline *t, const struct rs_bars *b, uint32_t i)
{
    uint8_t kind = b->kind[i];
    uint32_t key = kind == RS_BAR_LOSS ? RS_ROWS : kind == RS_BAR_BLANK ? RS_ROWS + 1 : t->kinds.rows[kind].row;
    return rs_packets_intern(p, RS_INTERNED_CATEGORIES, key, rs_slice_category(t, b, i));
}

/* Keys of names: by kind, and after these by text. */
static uint32_t name_of(struct rs_packets *p, const struct rs_timeline *t, const struct rs_bars *b, uint32_t i)
{
    uint32_t text = b->name[i], key = text ? RS_BAR_KINDS + text : b->kind[i];
    return rs_packets_intern(p, RS_INTERNED_NAMES, key,
                             text ? rs_texts_at(&t->texts, text) : t->kinds.rows[b->kind[i]].label);
}

/* An annotation is at most 18 bytes, so that its length is one byte that can be filled in afterwards; with that and its
 * tag it is ARGUMENT. The rest of what begins a slice, except its flows, is HEAD at most. */
enum { ARGUMENT = 20, HEAD = 14 };

static uint8_t *put_argument(struct rs_packets *p, const struct rs_slice_args *args, const struct rs_slice_arg *a,
                             uint8_t *to)
{
    static const uint8_t fields[] = {
        [RS_SLICE_INT] = PF_NOTE_INT,     [RS_SLICE_UINT] = PF_NOTE_UINT,   [RS_SLICE_BOOL] = PF_NOTE_BOOL,
        [RS_SLICE_HEX] = PF_NOTE_POINTER, [RS_SLICE_DIGITS] = PF_NOTE_UINT, [RS_SLICE_TEXT] = PF_NOTE_STRING_IID,
    };
    uint8_t *length = to + 1;
    uint64_t value = a->value;
    uint32_t key = rs_packets_intern(p, RS_INTERNED_KEYS, a->key, args->keys[a->key]);
    if (a->type == RS_SLICE_TEXT)
        value = rs_packets_intern(p, RS_INTERNED_TEXTS, (uint32_t)value, rs_texts_at(&args->t->texts, (uint32_t)value));
    *to = PF_EVENT_DEBUG_ANNOTATIONS << 3 | 2;
    to += 2;
    *to++ = PF_NOTE_NAME_IID << 3;
    to = rs_wire_put(to, key);
    to = rs_wire_put(to, (uint64_t)fields[a->type] << 3);
    to = rs_wire_put(to, value);
    *length = (uint8_t)(to - length - 1);
    return to;
}

static void begin_slice(struct perfetto *p, const struct rs_timeline *t, const struct rs_bars *b, uint32_t i)
{
    struct rs_packets *out = &p->packets;
    const struct rs_slice_args *args = &p->args;
    uint32_t part = args->part_of_bar[i];
    rs_slice_args_of(&p->args, b, i, true);
    rs_packets_begin(out, HEAD + RS_SLICE_MOST * ARGUMENT);
    uint8_t *to = out->event.data;
    *to++ = PF_EVENT_TYPE << 3;
    *to++ = PF_SLICE_BEGIN;
    *to++ = PF_EVENT_CATEGORY_IIDS << 3;
    to = rs_wire_put(to, category_of(out, t, b, i));
    *to++ = PF_EVENT_NAME_IID << 3;
    to = rs_wire_put(to, name_of(out, t, b, i));
    for (unsigned k = 0; k < args->n; k++)
        if (args->args[k].type != RS_SLICE_NULL) to = put_argument(out, args, &args->args[k], to);
    out->event.n = (size_t)(to - out->event.data);
    flows_put(&p->flows, b, i, part, &out->event);
    if (part != RS_NONE && b->op[i] != RS_BAR_NONE)
        rs_wire_uint(&out->event, PF_EVENT_CORRELATION_ID, (uint64_t)b->op[i] + 1);
    rs_packets_event(out, b->start[i], true);
}

/* Ends slices from bar `open` outwards, up to but not including `until`. */
static void end_slices(struct perfetto *p, const struct rs_bars *b, uint32_t open, uint32_t until)
{
    for (; open != until; open = p->nests.within[open])
        rs_packets_slice_end(&p->packets, b->start[open] + b->dur[open]);
}

static enum rs_status put_track(struct perfetto *p, const struct rs_timeline *t, const struct rs_bars *b, uint32_t l,
                                struct rs_err *err)
{
    const struct rs_nests *nests = &p->nests;
    uint32_t row = p->rows.of_group[b->lanes[l].group], open = RS_NONE;
    uint64_t track;
    pf_tracks_lane(&p->tracks, &b->lanes[l], &track);
    rs_packets_track(&p->packets, track);
    rs_slice_args_track(&p->args, &b->lanes[l]);
    for (uint32_t k = nests->from[l]; k < nests->from[l + 1]; k++) {
        uint32_t i = nests->order[k];
        end_slices(p, b, open, nests->within[i]);
        begin_slice(p, t, b, i);
        open = i;
        if (p->args.part_of_bar[i] != RS_NONE && row != RS_NONE) rs_rank_counters_add(&p->counters, b, i, row);
    }
    end_slices(p, b, open, RS_NONE);
    return rs_packets_check(&p->packets, err);
}

static void put_counter(void *to, uint32_t row, enum rs_rank_counter counter, bool first, int64_t at, uint64_t value)
{
    struct perfetto *p = to;
    struct rs_packets *out = &p->packets;
    if (first) rs_packets_track(out, pf_tracks_counter(&p->tracks, row, counter));
    rs_packets_begin(out, 0);
    rs_wire_uint(&out->event, PF_EVENT_TYPE, PF_COUNTER);
    rs_wire_uint(&out->event, PF_EVENT_COUNTER_VALUE, value);
    rs_packets_event(out, at, false);
}

/* ---- the exporter ---- */

static enum rs_status piece(struct rs_export *x, uint32_t proc, const struct rs_bars *b, struct rs_err *err)
{
    struct perfetto *p = x->state;
    const struct rs_timeline *t = x->timeline;
    rs_slice_args_piece(&p->args, proc, b);
    rs_nests_piece(&p->nests, b);
    flows_piece(&p->flows, b, &p->nests);
    if (!b->piece) {
        pf_tracks_process(&p->tracks);
        rs_packets_sequence(&p->packets);
    }
    for (uint32_t l = 0; l < b->nlanes; l++)
        if (p->nests.from[l] < p->nests.from[l + 1]) RS_TRY(put_track(p, t, b, l, err));
    if (b->last) rs_rank_counters_put(&p->counters, put_counter, p);
    flows_done(&p->flows, b);
    rs_nests_free(&p->nests);
    rs_slice_args_done(&p->args);
    return rs_packets_check(&p->packets, err);
}

static enum rs_status end(struct rs_export *x, struct rs_err *err)
{
    struct perfetto *p = x->state;
    rs_packets_flush(&p->packets);
    RS_TRY(rs_packets_check(&p->packets, err));
    return fflush(x->file) == 0 ? RS_OK : rs_fail_errno(err, "%s: cannot write", x->name);
}

static void free_state(struct rs_export *x)
{
    struct perfetto *p = x->state;
    if (!p) return;
    pf_tracks_free(&p->tracks);
    rs_packets_free(&p->packets);
    rs_rank_rows_free(&p->rows);
    rs_slice_args_free(&p->args);
    flows_free(&p->flows);
    rs_rank_counters_free(&p->counters);
    rs_nests_free(&p->nests);
    free(p);
    x->state = NULL;
}

const struct rs_exporter rs_exporter_perfetto = {
    .name = "perfetto",
    .what = "the same for ui.perfetto.dev, smaller and quicker",
    .suffixes = ".pftrace .perfetto-trace",
    .output = RS_EXPORT_STREAM,
    .binary = true,
    .to_bound = true,
    .rows = (1ull << RS_ROWS) - 1,
    .begin = begin,
    .piece = piece,
    .end = end,
    .free = free_state,
};
