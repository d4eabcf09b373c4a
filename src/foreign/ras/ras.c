#include "foreign/ras/ras.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/mix.h"
#include "base/room.h"
#include "foreign/formats.h"
#include "foreign/json_fields.h"
#include "foreign/lines.h"

enum { MOST_RANKS = 1 << 20 }; /* that a file may add by number alone */

/* ---- rows ---- */

static uint32_t add_comm(struct rs_ras *r, uint64_t hash, int64_t size)
{
    RS_ROOM(r->comms, r->n_comms, r->cap_comms);
    r->comms[r->n_comms] = (struct rs_ras_comm){.hash = hash, .size = size};
    return r->n_comms++;
}

static uint32_t add_rank(struct rs_ras *r, uint32_t comm, int64_t rank)
{
    RS_ROOM(r->ranks, r->n_ranks, r->cap_ranks);
    r->ranks[r->n_ranks] = (struct rs_ras_rank){.comm = comm, .rank = rank, .host = "", .pid = -1, .device = -1};
    return r->n_ranks++;
}

static void add_count(struct rs_ras *r, uint32_t rank, const char *func, uint64_t launched)
{
    RS_ROOM(r->counts, r->n_counts, r->cap_counts);
    r->counts[r->n_counts++] = (struct rs_ras_count){.rank = rank, .func = func, .launched = launched};
}

static const char *text_of(struct rs_ras *r, struct rs_slice s)
{
    return rs_arena_text(&r->arena, s.text, s.n);
}

/* ---- JSON ---- */

struct condition {
    int64_t init, error;
    bool finalize, destroy, abort, unresponsive, dead;
};

static void take_status(struct rs_scan *s, struct condition *c)
{
    unsigned depth = rs_json_take_into(s, RS_T_OBJECT);
    while (depth && rs_json_take_key(s, depth)) {
        if (rs_scan_is(s, "init_state"))
            rs_json_take_i64(s, &c->init);
        else if (rs_scan_is(s, "async_error"))
            rs_json_take_i64(s, &c->error);
        else if (rs_scan_is(s, "finalize_called"))
            rs_json_take_bool(s, &c->finalize);
        else if (rs_scan_is(s, "destroy_flag"))
            rs_json_take_bool(s, &c->destroy);
        else if (rs_scan_is(s, "abort_flag"))
            rs_json_take_bool(s, &c->abort);
        else if (rs_scan_is(s, "unresponsive"))
            rs_json_take_bool(s, &c->unresponsive);
        else if (rs_scan_is(s, "considered_dead"))
            rs_json_take_bool(s, &c->dead);
        else
            rs_scan_skip(s);
    }
}

static void take_counts(struct rs_ras *r, struct rs_scan *s, uint32_t rank)
{
    unsigned depth = rs_json_take_into(s, RS_T_OBJECT);
    while (depth && rs_json_take_key(s, depth)) {
        char func[64];
        uint64_t n;
        rs_scan_text(s, func, sizeof func);
        rs_json_take_u64(s, &n);
        /* Names repeat from rank to rank. */
        const char *known = NULL;
        for (uint32_t i = r->n_counts; i-- > 0 && r->n_counts - i <= 32 && !known;)
            if (!strcmp(r->counts[i].func, func)) known = r->counts[i].func;
        add_count(r, rank, known ? known : text_of(r, (struct rs_slice){func, strlen(func)}), n);
    }
}

enum { IN_PROGRESS = 7 }; /* ncclInProgress */

/* The order of the tests is RAS's own: an abort also destroys. */
static uint8_t state_of(const struct condition *c, bool missing)
{
    if (missing) return c->dead ? RS_RANK_DEAD : c->unresponsive ? RS_RANK_SILENT : RS_RANK_LEFT;
    if (c->abort) return RS_RANK_ABORT;
    if (c->finalize || c->destroy) return RS_RANK_FINALIZE;
    return c->init ? RS_RANK_INIT : RS_RANK_RUNNING;
}

static void take_rank(struct rs_ras *r, struct rs_scan *s, uint32_t comm, bool missing)
{
    struct condition c = {0};
    char host[128] = "";
    uint32_t index = add_rank(r, comm, -1);
    unsigned depth = s->depth;
    while (rs_json_take_key(s, depth)) {
        struct rs_ras_rank *x = &r->ranks[index];
        if (rs_scan_is(s, "rank"))
            rs_json_take_i64(s, &x->rank);
        else if (rs_scan_is(s, "host"))
            rs_json_take_text(s, host, sizeof host);
        else if (rs_scan_is(s, "pid"))
            rs_json_take_i64(s, &x->pid);
        else if (rs_scan_is(s, "cuda_dev"))
            rs_json_take_i64(s, &x->device);
        else if (rs_scan_is(s, "status"))
            take_status(s, &c);
        else if (rs_scan_is(s, "collective_counts"))
            take_counts(r, s, index);
        else
            rs_scan_skip(s);
    }
    struct rs_ras_rank *x = &r->ranks[index];
    if (strcmp(host, "unknown") != 0) x->host = text_of(r, (struct rs_slice){host, strlen(host)});
    x->state = state_of(&c, missing);
    x->init_error = c.init == IN_PROGRESS ? 0 : c.init;
    x->async_error = c.error == IN_PROGRESS ? 0 : c.error;
}

static void take_comm(struct rs_ras *r, struct rs_scan *s)
{
    uint32_t comm = add_comm(r, 0, -1);
    unsigned depth = s->depth;
    while (rs_json_take_key(s, depth)) {
        bool missing = rs_scan_is(s, "missing_ranks");
        if (rs_scan_is(s, "hash")) {
            rs_json_take_u64(s, &r->comms[comm].hash);
        } else if (rs_scan_is(s, "size")) {
            rs_json_take_i64(s, &r->comms[comm].size);
        } else if (missing || rs_scan_is(s, "ranks")) {
            unsigned list = rs_json_take_into(s, RS_T_ARRAY);
            while (list && rs_json_take_object(s, list)) take_rank(r, s, comm, missing);
        } else {
            rs_scan_skip(s);
        }
    }
}

static int64_t seconds_of(const char *text)
{
    struct tm t = {0};
    if (sscanf(text, "%4d-%2d-%2d %2d:%2d:%2d", &t.tm_year, &t.tm_mon, &t.tm_mday, &t.tm_hour, &t.tm_min, &t.tm_sec) !=
        6)
        return -1;
    t.tm_year -= 1900;
    t.tm_mon--;
    return (int64_t)timegm(&t);
}

static void read_json(struct rs_ras *r, struct rs_scan *s, const char *path)
{
    char text[64];
    r->json = true;
    enum rs_token t;
    do t = rs_scan_next(s);
    while (t != RS_T_END && t != RS_T_OBJECT); /* answers of the protocol may be in front: OK */
    unsigned depth = s->depth;
    while (depth && rs_json_take_key(s, depth)) {
        if (rs_scan_is(s, "nccl_version")) {
            rs_json_take_text(s, text, sizeof text);
            r->version = text_of(r, (struct rs_slice){text, strlen(text)});
        } else if (rs_scan_is(s, "timestamp")) {
            rs_json_take_text(s, text, sizeof text);
            r->time = text_of(r, (struct rs_slice){text, strlen(text)});
            r->time_s = seconds_of(text);
        } else if (rs_scan_is(s, "communicators")) {
            unsigned list = rs_json_take_into(s, RS_T_ARRAY);
            while (list && rs_json_take_object(s, list)) take_comm(r, s);
        } else {
            rs_scan_skip(s);
        }
    }
    if (s->err.code != RS_OK)
        r->damage = s->err;
    else if (s->cut)
        rs_fail(&r->damage, RS_BAD_INPUT, "%s: at byte %llu: the output is cut off", path,
                (unsigned long long)s->offset);
}

/* ---- text ---- */

/* What the ranks of the current lines differ in. */
enum about { ABOUT_NOTHING, ABOUT_MISSING, ABOUT_STATUS, ABOUT_COUNTS, ABOUT_INIT_ERRORS, ABOUT_ASYNC_ERRORS };

enum list { LIST_NONE, LIST_MISSING, LIST_DEAD }; /* of processes */

struct text {
    struct rs_ras *r;
    struct rs_map comm_index; /* hash -> comm + 1 */
    struct rs_map rank_index; /* comm and rank -> rank + 1 */
    struct rs_map blocks; /* rank -> the last block that named it */
    int64_t *sizes; /* by group of the table: ranks per communicator */
    uint32_t n_sizes, cap_sizes;
    uint64_t listed, sections; /* communicators in the table; with a section */
    bool totals; /* the next line has the numbers of the job */
    enum list list;
    uint32_t comm; /* RS_NONE_COMM: none */
    /* A block: ranks grouped by one property. */
    enum about about;
    const char *func;
    uint64_t block; /* its number */
    struct {
        uint64_t value, n; /* ranks of the group */
        uint64_t named; /* of these, listed one by one */
    } group, rest; /* the current group; the one without a list */
    uint32_t rests; /* groups without a list */
    uint64_t inferred; /* ranks in the whole file */
};

#define NO_COMM UINT32_MAX

static bool starts(struct rs_slice *line, const char *word)
{
    size_t n = strlen(word);
    if (line->n < n || memcmp(line->text, word, n) != 0) return false;
    line->text += n;
    line->n -= n;
    return true;
}

static bool number(struct rs_slice *line, uint64_t *v)
{
    size_t n = 0;
    while (n < line->n && line->text[n] >= '0' && line->text[n] <= '9') n++;
    if (!n || !rs_slice_u64((struct rs_slice){line->text, n}, v)) return false;
    line->text += n;
    line->n -= n;
    return true;
}

/* Up to a separator, which is passed over; all of it if there is none. */
static struct rs_slice before(struct rs_slice *line, const char *separator)
{
    const char *at = memmem(line->text, line->n, separator, strlen(separator));
    struct rs_slice first = {line->text, at ? (size_t)(at - line->text) : line->n};
    size_t skip = at ? first.n + strlen(separator) : line->n;
    line->text += skip;
    line->n -= skip;
    return first;
}

static uint32_t rank_of(struct text *t, uint64_t rank)
{
    uint64_t *at;
    rs_map_at(&t->rank_index, (uint64_t)t->comm << 32 | rank, 0, &at);
    if (!*at) *at = (uint64_t)add_rank(t->r, t->comm, (int64_t)rank) + 1;
    return (uint32_t)(*at - 1);
}

static const struct {
    const char *word;
    uint8_t state;
} states[] = {
    {"NOCOMM", RS_RANK_LEFT}, {"UNKNOWN", RS_RANK_LEFT}, /* as 2.24 and 2.25 call it */
    {"INIT", RS_RANK_INIT},   {"RUNNING", RS_RANK_RUNNING}, {"FINALIZE", RS_RANK_FINALIZE}, {"ABORT", RS_RANK_ABORT},
};

static const char *const errors[] = {"",
                                     "Unhandled CUDA error",
                                     "System error",
                                     "Internal error",
                                     "Invalid argument",
                                     "Invalid usage",
                                     "Remote process error"};

static uint64_t value_of_word(struct rs_slice word, enum about about)
{
    if (about == ABOUT_STATUS) {
        for (size_t i = 0; i < sizeof states / sizeof *states; i++)
            if (rs_slice_is(word, states[i].word)) return states[i].state;
        return RS_RANK_UNKNOWN;
    }
    for (size_t i = 1; i < sizeof errors / sizeof *errors; i++)
        if (rs_slice_is(word, errors[i])) return i;
    return sizeof errors / sizeof *errors; /* another one */
}

/* A rank belongs to a group of the current block. */
static void give(struct text *t, uint32_t rank, uint64_t value)
{
    struct rs_ras_rank *x = &t->r->ranks[rank];
    rs_map_put(&t->blocks, rank, t->block);
    switch (t->about) {
    case ABOUT_NOTHING: break;
    case ABOUT_MISSING: x->state = RS_RANK_SILENT; break;
    case ABOUT_STATUS: x->state = (uint8_t)value; break;
    case ABOUT_COUNTS: add_count(t->r, rank, t->func, value); break;
    case ABOUT_INIT_ERRORS: x->init_error = (int64_t)value; break;
    case ABOUT_ASYNC_ERRORS: x->async_error = (int64_t)value; break;
    }
}

static void end_group(struct text *t)
{
    if (t->group.n && !t->group.named) {
        t->rest.value = t->group.value;
        t->rest.n = t->group.n;
        t->rests++;
    }
    t->group.n = t->group.named = 0;
}

static bool is_away(uint8_t state)
{
    return state == RS_RANK_LEFT || state == RS_RANK_SILENT || state == RS_RANK_DEAD;
}

/* Whether a rank may be in the one group that is not listed. */
static bool may_be_rest(const struct text *t, int64_t rank)
{
    const uint64_t *at = rs_map_find(&t->rank_index, (uint64_t)t->comm << 32 | (uint64_t)rank);
    if (!at) return true;
    const uint64_t *block = rs_map_find(&t->blocks, *at - 1);
    return !(block && *block == t->block) && !is_away(t->r->ranks[*at - 1].state);
}

/* Ranks that the block does not list are those of its group without a list, if there is one such group and as many. */
static void end_block(struct text *t)
{
    end_group(t);
    bool grouped = t->about == ABOUT_STATUS || t->about == ABOUT_COUNTS;
    int64_t size = t->comm == NO_COMM ? -1 : t->r->comms[t->comm].size;
    if (grouped && t->rests == 1 && size > 0 && size <= MOST_RANKS && t->inferred + (uint64_t)size <= MOST_RANKS) {
        uint64_t n = 0;
        t->inferred += (uint64_t)size;
        for (int64_t i = 0; i < size; i++) n += may_be_rest(t, i);
        for (int64_t i = 0; i < size && n == t->rest.n; i++)
            if (may_be_rest(t, i)) give(t, rank_of(t, (uint64_t)i), t->rest.value);
    }
    t->about = ABOUT_NOTHING;
    t->rests = 0;
}

static void begin_block(struct text *t, enum about about, const char *func)
{
    end_block(t);
    t->about = about;
    t->func = func;
    t->block++;
}

/* "GPU 5 (NVML 7) managed by process 3487984 on node 172.16.64.213" */
static void take_place(struct text *t, uint32_t rank, struct rs_slice line)
{
    struct rs_ras_rank *x = &t->r->ranks[rank];
    uint64_t device, pid;
    if (!starts(&line, "GPU ") || !number(&line, &device)) return;
    before(&line, "managed by process ");
    if (!number(&line, &pid) || !starts(&line, " on node ")) return;
    x->device = (int64_t)device;
    x->pid = (int64_t)pid;
    if (!*x->host) x->host = text_of(t->r, line);
}

/* "Rank 3 ...": of the group before it, or a group of its own. */
static bool take_rank_line(struct text *t, struct rs_slice line)
{
    uint64_t rank, value = t->group.value;
    if (t->comm == NO_COMM || !starts(&line, "Rank ") || !number(&line, &rank) || rank > INT32_MAX) return false;
    struct rs_slice what = before(&line, " -- ");
    bool alone = what.n > 0 && what.text[0] == ' ';
    if (alone) end_group(t);
    if (starts(&what, " has launched up to operation ")) {
        if (!number(&what, &value)) return false;
    } else if (starts(&what, " has not launched any operations")) {
        value = 0;
    } else if (starts(&what, " has status ")) {
        value = value_of_word(what, ABOUT_STATUS);
    } else if (starts(&what, " reported ")) {
        value = value_of_word(what, ABOUT_ASYNC_ERRORS);
    } else if (what.n) {
        return false;
    }
    uint32_t index = rank_of(t, rank);
    take_place(t, index, line);
    give(t, index, value);
    t->group.named += !alone;
    return true;
}

/* "26 ranks have launched up to operation 6650" */
static bool take_group_line(struct text *t, struct rs_slice line)
{
    uint64_t n, value = 0;
    if (t->comm == NO_COMM || !number(&line, &n) || !starts(&line, " ranks ")) return false;
    if (starts(&line, "have launched up to operation ")) {
        if (!number(&line, &value)) return false;
    } else if (starts(&line, "have status ")) {
        value = value_of_word(line, ABOUT_STATUS);
    } else if (starts(&line, "reported ")) {
        value = value_of_word(line, ABOUT_ASYNC_ERRORS);
    } else if (!starts(&line, "have not launched any operations")) {
        return false;
    }
    end_group(t);
    t->group.value = value;
    t->group.n = n;
    return true;
}

/* "The missing ranks: 3,5" of 2.24 and 2.25. */
static bool take_rank_list(struct text *t, struct rs_slice line)
{
    bool missing = starts(&line, "The missing rank"), unknown = !missing && starts(&line, "The unknown rank");
    if (t->comm == NO_COMM || (!missing && !unknown)) return false;
    before(&line, ": ");
    for (uint64_t rank; number(&line, &rank) && rank <= INT32_MAX;) {
        uint32_t index = rank_of(t, rank);
        if (missing)
            t->r->ranks[index].state = RS_RANK_SILENT;
        else
            give(t, index, RS_RANK_LEFT);
        t->group.named++;
        if (!starts(&line, ",")) break;
    }
    return true;
}

/* "#0-3 (27a079b828ff1a75) MISMATCH" */
static bool take_heading(struct text *t, struct rs_slice line)
{
    uint64_t group, hash = 0, *at;
    if (!starts(&line, "#") || !number(&line, &group)) return false;
    before(&line, "(");
    struct rs_slice hex = before(&line, ") ");
    char digits[24];
    snprintf(digits, sizeof digits, "0x%.*s", (int)(hex.n < 16 ? hex.n : 16), hex.text);
    if (!rs_slice_u64((struct rs_slice){digits, strlen(digits)}, &hash)) return false;
    end_block(t);
    t->list = LIST_NONE;
    rs_map_at(&t->comm_index, hash, 0, &at);
    if (!*at) {
        *at = (uint64_t)add_comm(t->r, hash, group < t->n_sizes ? t->sizes[group] : -1) + 1;
        t->sections++;
    }
    t->comm = (uint32_t)(*at - 1);
    if (starts(&line, "INCOMPLETE")) begin_block(t, ABOUT_MISSING, "");
    return true;
}

/* A row of the table of communicators: group, communicators, nodes, ranks per node, ranks per communicator, ... */
static bool take_row(struct text *t, struct rs_slice line)
{
    uint64_t v[6] = {0};
    for (int i = 0; i < 6; i++) {
        line = rs_slice_trim(line);
        if (!number(&line, &v[i])) return false;
        if (i == 3 && starts(&line, "-") && !number(&line, &v[i])) return false; /* 7-8 */
        if (!line.n || line.text[0] != ' ') return false;
    }
    if (v[0] != t->n_sizes || v[4] > INT32_MAX) return false;
    RS_ROOM(t->sizes, t->n_sizes, t->cap_sizes);
    t->sizes[t->n_sizes++] = (int64_t)v[4];
    t->listed += v[1];
    return true;
}

static void take_totals(struct text *t, struct rs_slice line)
{
    uint64_t v[5];
    int n = 0;
    while (n < 5) {
        line = rs_slice_trim(line);
        if (!number(&line, &v[n])) break;
        n++;
    }
    t->totals = false;
    uint64_t gpus = n == 5 ? v[4] : n == 3 ? v[2] : UINT64_MAX;
    if (gpus <= INT32_MAX) t->r->gpus = (int64_t)gpus;
}

/* "Process 3487984 on node 172.16.64.213 managing GPU 5" */
static bool take_process(struct text *t, struct rs_slice line)
{
    struct rs_ras *r = t->r;
    uint64_t pid;
    if (t->list == LIST_NONE || !starts(&line, "Process ") || !number(&line, &pid) || !starts(&line, " on node "))
        return false;
    struct rs_slice host = before(&line, " managing ");
    RS_ROOM(r->processes_lost, r->n_lost, r->cap_lost);
    r->processes_lost[r->n_lost++] =
        (struct rs_ras_process){.host = text_of(r, host), .pid = (int64_t)pid, .dead = t->list == LIST_DEAD};
    return true;
}

static void take_difference(struct text *t, struct rs_slice line)
{
    if (t->comm == NO_COMM) return;
    if (rs_slice_is(line, "status")) {
        begin_block(t, ABOUT_STATUS, "");
    } else {
        struct rs_slice func = before(&line, " operation counts");
        begin_block(t, ABOUT_COUNTS, rs_slice_is(func, "collective") ? "" : text_of(t->r, func));
    }
}

static void take_line(struct text *t, struct rs_slice line)
{
    struct rs_ras *r = t->r;
    line = rs_slice_trim(line);
    if (!line.n) return;
    if (t->totals)
        take_totals(t, line);
    else if (take_heading(t, line) || take_process(t, line) || take_rank_line(t, line) || take_group_line(t, line) ||
             take_rank_list(t, line) || take_row(t, line))
        return;
    else if (starts(&line, "NCCL version "))
        r->version = text_of(r, before(&line, " "));
    else if (starts(&line, "(total)"))
        t->totals = true;
    else if (rs_slice_is(line, "INCOMPLETE"))
        t->list = LIST_MISSING;
    else if (rs_slice_is(line, "DEAD"))
        t->list = LIST_DEAD;
    else if (starts(&line, "Communicator ranks have different "))
        take_difference(t, line);
    else if (starts(&line, "Initialization error"))
        begin_block(t, ABOUT_INIT_ERRORS, "");
    else if (starts(&line, "Asynchronous error"))
        begin_block(t, ABOUT_ASYNC_ERRORS, "");
}

/* Missing ranks of processes that RAS has given up. NCCL 2.24 and 2.25 do not name the process of a missing rank: it is
 * the only one that does not answer, or dead if all of these are. */
static void find_dead(struct rs_ras *r)
{
    struct rs_map dead = {0};
    bool all = r->n_lost > 0;
    for (uint32_t i = 0; i < r->n_lost; i++) {
        const struct rs_ras_process *p = &r->processes_lost[i];
        all &= p->dead;
        if (p->dead) rs_map_put(&dead, rs_mix_text((uint64_t)p->pid, p->host), 1);
    }
    for (uint32_t i = 0; i < r->n_ranks; i++) {
        struct rs_ras_rank *x = &r->ranks[i];
        if (x->state != RS_RANK_SILENT) continue;
        if (x->pid < 0 && r->n_lost == 1) {
            x->host = r->processes_lost[0].host;
            x->pid = r->processes_lost[0].pid;
        }
        bool known = x->pid >= 0 && rs_map_find(&dead, rs_mix_text((uint64_t)x->pid, x->host));
        if (known || (all && x->pid < 0)) x->state = RS_RANK_DEAD;
    }
    rs_map_free(&dead);
}

static void read_text(struct rs_ras *r, struct rs_lines *l, const char *path)
{
    struct text t = {.r = r, .comm = NO_COMM, .func = ""};
    bool whole = false;
    while (rs_lines_next(l)) {
        struct rs_slice line = {l->text, l->n};
        take_line(&t, line);
        whole |= starts(&line, "Warnings"); /* the last part, also where there are none */
    }
    end_block(&t);
    find_dead(r);
    r->unnamed = t.listed > t.sections && t.listed - t.sections < UINT32_MAX ? (uint32_t)(t.listed - t.sections) : 0;
    if (l->err.code != RS_OK)
        r->damage = l->err;
    else if (!whole)
        rs_fail(&r->damage, RS_BAD_INPUT, "%s: at byte %llu: the output is cut off", path,
                (unsigned long long)l->at_offset);
    rs_map_free(&t.comm_index);
    rs_map_free(&t.rank_index);
    rs_map_free(&t.blocks);
    free(t.sizes);
}

/* ---- files ---- */

static bool is_json(const char *head, size_t n)
{
    return memmem(head, n, "\"nccl_version\"", 14) && memmem(head, n, "\"communicators_count\"", 21);
}

bool rs_ras_is(const char *path, const char *head, size_t n)
{
    (void)path;
    return is_json(head, n) || (memmem(head, n, "Job summary", 11) && memmem(head, n, "Communicators...", 16));
}

enum rs_status rs_ras_read(struct rs_ras *r, const char *path, struct rs_err *err)
{
    struct rs_bytes *bytes;
    *r = (struct rs_ras){.version = "", .time = "", .time_s = -1, .gpus = -1};
    RS_TRY(rs_bytes_open(&bytes, path, err));
    char head[4096];
    size_t n = rs_bytes_peek(bytes, head, sizeof head);
    if (is_json(head, n)) {
        struct rs_scan s;
        rs_scan_bytes(&s, bytes);
        read_json(r, &s, path);
        rs_scan_free(&s);
    } else {
        struct rs_lines lines;
        rs_lines_bytes(&lines, bytes);
        read_text(r, &lines, path);
        rs_lines_free(&lines);
    }
    rs_bytes_close(bytes);
    return RS_OK;
}

void rs_ras_free(struct rs_ras *r)
{
    free(r->comms);
    free(r->ranks);
    free(r->counts);
    free(r->processes_lost);
    rs_arena_free(&r->arena);
    *r = (struct rs_ras){0};
}
