#include "trace/process.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Room for one more at the end of a list. The new element is zeroed. */
static void *one_more(void *list, size_t *n, size_t size)
{
    char **l = list;
    if (!(*n & (*n - 1))) {
        char *grown = rs_realloc(*l, (*n ? *n * 2 : 1) * size);
        *l = grown;
    }
    return memset(*l + size * (*n)++, 0, size);
}

/* A copy of the text at `at`, which must end within `n` bytes; NULL if it does not. */
static char *text_at(const char *at, size_t n)
{
    return memchr(at, 0, n) ? rs_strdup(at) : NULL;
}

static bool take_string(struct rs_process *p, const char *payload, size_t n)
{
    uint32_t id;
    if (n < sizeof id + 1) return false;
    memcpy(&id, payload, sizeof id);
    if (id >= RS_STRING_UNKNOWN) return false;
    if (id >= p->nstrings) {
        char **grown = rs_realloc(p->strings, (id + 1) * sizeof *grown);
        memset(grown + p->nstrings, 0, (id + 1 - p->nstrings) * sizeof *grown);
        p->strings = grown;
        p->nstrings = id + 1;
    }
    free(p->strings[id]);
    return (p->strings[id] = text_at(payload + sizeof id, n - sizeof id)) != NULL;
}

static bool take_info(struct rs_process *p, const char *payload, size_t n)
{
    const char *value = memchr(payload, 0, n);
    if (!value || !memchr(value + 1, 0, n - (size_t)(value + 1 - payload))) return false;
    struct rs_info *i = one_more(&p->infos, &p->ninfos, sizeof *i);
    if (!i) return false;
    i->key = rs_strdup(payload);
    i->value = rs_strdup(value + 1);
    return true;
}

static bool take_comm(struct rs_process *p, uint64_t tick, const char *payload, size_t n)
{
    struct rs_fact_comm fact;
    if (n < sizeof fact + 1) return false;
    struct rs_comm *c = one_more(&p->comms, &p->ncomms, sizeof *c);
    if (!c) return false;
    memcpy(&c->fact, payload, sizeof fact);
    c->fact.bus_id[sizeof c->fact.bus_id - 1] = 0;
    c->created_tick = tick;
    if (c->fact.has_name) c->name = text_at(payload + sizeof fact, n - sizeof fact);
    return true;
}

static bool take_finalize(struct rs_process *p, uint64_t tick, const char *payload, size_t n)
{
    if (n < sizeof(struct rs_fact_comm_end)) return false;
    struct rs_finalize *f = one_more(&p->finalizes, &p->nfinalizes, sizeof *f);
    if (!f) return false;
    f->tick = tick;
    memcpy(&f->fact, payload, sizeof f->fact);
    return true;
}

static bool take_captured(struct rs_process *p, const char *payload, size_t n)
{
    size_t head = 2 * sizeof(uint64_t);
    if (n < head + sizeof(uint64_t) || (n - head) / 8 > RS_RECORD_MAX) return false;
    struct rs_captured *c = one_more(&p->captured, &p->ncaptured, sizeof *c);
    if (!c) return false;
    memcpy(&c->handle, payload, sizeof c->handle);
    memcpy(&c->tick_base, payload + sizeof c->handle, sizeof c->tick_base);
    c->n = (unsigned)((n - head) / 8);
    memcpy(c->words, payload + head, c->n * sizeof *c->words);
    return true;
}

static bool take_cut(struct rs_process *p, const char *payload, size_t n)
{
    struct rs_fact_cut fact;
    if (n < sizeof fact) return false;
    memcpy(&fact, payload, sizeof fact);
    p->cut = true;
    p->left_out += fact.left_out;
    if (fact.left_out && !p->cut_until) p->cut_until = UINT64_MAX; /* unless another fact says when */
    p->ran_on = fact.running == 1;
    if (!p->cut_by) p->cut_by = text_at(payload + sizeof fact, n - sizeof fact);
    return true;
}

/* Appends rows of one size. */
static void take_rows(void *list, size_t *count, size_t size, const char *payload, size_t n)
{
    void *grown = rs_realloc(*(void **)list, (*count + n / size + 1) * size);
    *(void **)list = grown;
    memcpy((char *)grown + *count * size, payload, n / size * size);
    *count += n / size;
}

static bool take(struct rs_process *p, const struct rs_fact_head *head, const char *payload)
{
    size_t n = head->bytes;
    switch (head->type) {
    case RS_FACT_INFO: return take_info(p, payload, n);
    case RS_FACT_STRING: return take_string(p, payload, n);
    case RS_FACT_COMM: return take_comm(p, head->tick, payload, n);
    case RS_FACT_COMM_END: return take_finalize(p, head->tick, payload, n);
    case RS_FACT_CAPTURED: return take_captured(p, payload, n);
    case RS_FACT_CUT: return take_cut(p, payload, n);
    case RS_FACT_CUT_OPS: take_rows(&p->cut_ops, &p->ncut_ops, sizeof *p->cut_ops, payload, n); return true;
    case RS_FACT_CUT_STALE: take_rows(&p->cut_stale, &p->ncut_stale, sizeof *p->cut_stale, payload, n); return true;
    case RS_FACT_CUT_UNTIL: {
        if (n < sizeof p->cut_until) return false;
        memcpy(&p->cut_until, payload, sizeof p->cut_until);
        return true;
    }
    case RS_FACT_CLOCK: {
        struct rs_fact_clock *c = n < sizeof *c ? NULL : one_more(&p->clocks, &p->nclocks, sizeof *c);
        if (c) memcpy(c, payload, sizeof *c);
        return c != NULL;
    }
    case RS_FACT_MASK: {
        struct rs_mask *m = n < sizeof m->mask ? NULL : one_more(&p->masks, &p->nmasks, sizeof *m);
        if (m) memcpy(&m->mask, payload, sizeof m->mask);
        if (m) m->tick = head->tick;
        return m != NULL;
    }
    case RS_FACT_TRIGGER: {
        struct rs_trigger *t = n < sizeof t->fact ? NULL : one_more(&p->triggers, &p->ntriggers, sizeof *t);
        if (t) memcpy(&t->fact, payload, sizeof t->fact);
        if (t) t->tick = head->tick;
        return t != NULL;
    }
    case RS_FACT_NOTE: {
        struct rs_note *note = one_more(&p->notes, &p->nnotes, sizeof *note);
        if (note) note->tick = head->tick;
        return note && (note->text = text_at(payload, n));
    }
    }
    return true; /* a fact of a newer recorder: not damage */
}

static void read_piece(struct rs_process *p, struct rs_recording *r, struct rs_segment *segment)
{
    const uint64_t *words = rs_recording_words(r, segment);
    if (!words) return;
    const char *bytes = (const char *)words;
    size_t at = 0, n = (size_t)(segment->header.to - segment->header.from) * 8, skip = (size_t)segment->skip * 8;
    while (n - at >= sizeof(struct rs_fact_head)) {
        struct rs_fact_head head;
        memcpy(&head, bytes + at, sizeof head);
        size_t left = n - at - sizeof head;
        if (head.bytes > left || (at >= skip && !take(p, &head, bytes + at + sizeof head))) {
            const char *file = segment->copy ? r->live_path : r->path;
            rs_recording_damage(r, file, segment->offset, head.bytes, "a fact in this chunk is invalid");
            r->unknown |= RS_UNKNOWN_FACTS;
            if (head.bytes > left) return;
        }
        at += sizeof head + (((size_t)head.bytes + 7) & ~(size_t)7);
        if (at > n) return;
    }
}

static int clock_order(const void *a, const void *b)
{
    const struct rs_fact_clock *x = a, *y = b;
    return x->raw.before < y->raw.before ? -1 : x->raw.before > y->raw.before;
}

/* For rows that begin with a handle. */
static int handle_order(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}

void rs_process_read(struct rs_process *p, struct rs_recording *r)
{
    *p = (struct rs_process){0};
    for (size_t i = 0; i < r->nfacts; i++) read_piece(p, r, &r->facts[i]);
    if (p->nclocks) qsort(p->clocks, p->nclocks, sizeof *p->clocks, clock_order);
    if (p->ncut_ops) qsort(p->cut_ops, p->ncut_ops, sizeof *p->cut_ops, handle_order);
    if (p->ncut_stale) qsort(p->cut_stale, p->ncut_stale, sizeof *p->cut_stale, handle_order);
    /* The first finalize of a context ends it; contexts are never reused in a process. */
    for (size_t i = 0; i < p->nfinalizes; i++) {
        struct rs_comm *c = (struct rs_comm *)rs_process_comm(p, p->finalizes[i].fact.context);
        if (c && !c->destroyed_tick) c->destroyed_tick = p->finalizes[i].tick;
    }
}

void rs_process_free(struct rs_process *p)
{
    for (size_t i = 0; i < p->ninfos; i++) {
        free(p->infos[i].key);
        free(p->infos[i].value);
    }
    for (size_t i = 0; i < p->ncomms; i++) free(p->comms[i].name);
    for (size_t i = 0; i < p->nnotes; i++) free(p->notes[i].text);
    for (size_t i = 0; i < p->nstrings; i++) free(p->strings[i]);
    free(p->infos);
    free(p->comms);
    free(p->finalizes);
    free(p->masks);
    free(p->triggers);
    free(p->notes);
    free(p->clocks);
    free(p->captured);
    free(p->cut_by);
    free(p->cut_ops);
    free(p->cut_stale);
    free(p->strings);
    *p = (struct rs_process){0};
}

const char *rs_process_info(const struct rs_process *p, const char *key)
{
    for (size_t i = 0; i < p->ninfos; i++)
        if (p->infos[i].key && !strcmp(p->infos[i].key, key)) return p->infos[i].value;
    return NULL;
}

const char *rs_process_string(const struct rs_process *p, uint64_t id)
{
    if (id == RS_STRING_NULL) return NULL;
    return id < p->nstrings && p->strings[id] ? p->strings[id] : "?";
}

const struct rs_fact_cut_op *rs_process_cut_op(const struct rs_process *p, uint64_t handle)
{
    if (!p->ncut_ops) return NULL;
    return bsearch(&handle, p->cut_ops, p->ncut_ops, sizeof *p->cut_ops, handle_order);
}

bool rs_process_cut_stale(const struct rs_process *p, uint64_t handle)
{
    return p->ncut_stale && bsearch(&handle, p->cut_stale, p->ncut_stale, sizeof *p->cut_stale, handle_order);
}

const struct rs_comm *rs_process_comm(const struct rs_process *p, uint64_t context)
{
    size_t guess = (size_t)rs_handle_counter(context) - 1; /* indices are assigned in order */
    if (guess < p->ncomms && p->comms[guess].fact.context == context) return &p->comms[guess];
    for (size_t i = 0; i < p->ncomms; i++)
        if (p->comms[i].fact.context == context) return &p->comms[i];
    return NULL;
}
