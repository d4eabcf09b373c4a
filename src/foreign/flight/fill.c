#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foreign/flight/flight.h"
#include "foreign/flight/model.h"
#include "foreign/formats.h"

/* A file, and whose dump it is. */
struct dump {
    struct rs_other *file;
    int64_t rank; /* -1: not known */
    bool looked; /* the rest is known */
    uint32_t entries;
    int64_t first, last; /* when its first and its last operation were asked for */
};

/* What is said once, whatever the number of ranks. */
struct said {
    const struct dump *same[2], *older[2]; /* the first of each: a dump, and the one that is read in its place */
    size_t nsame, nolder, nwrapped;
    struct rs_other *wrapped;
    int64_t overwritten;
};

/* A file that cannot be used is no failure of the others. */
static enum rs_status failed(struct rs_other *file, enum rs_status status, const struct rs_err *err)
{
    rs_other_incomplete(file, err);
    return status == RS_NO_MEMORY ? status : RS_OK;
}

static void look(struct dump *d, const struct rs_flight *f)
{
    d->looked = true;
    d->rank = f->rank;
    d->entries = f->n_entries;
    d->first = d->last = RS_TIME_NONE;
    for (uint32_t i = 0; i < f->n_entries; i++) {
        if (d->first == RS_TIME_NONE) d->first = f->entries[i].created_ns;
        if (f->entries[i].created_ns > d->last) d->last = f->entries[i].created_ns;
    }
}

static int by_rank(const void *a, const void *b)
{
    const struct dump *x = a, *y = b;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return strcmp(x->file->path, y->file->path);
}

/* Reads those whose rank, or which of several of one rank it is, cannot be told by name. */
static enum rs_status look_at(struct dump *d, struct rs_err *err)
{
    struct rs_flight f;
    enum rs_status status = rs_flight_read(&f, d->file->path, err);
    if (status != RS_OK) return failed(d->file, status, err);
    look(d, &f);
    rs_flight_free(&f);
    return RS_OK;
}

/* Of several dumps of a rank the one to read: the newest; of one dump in two forms the first. */
static enum rs_status choose(struct said *said, struct dump *dumps, size_t n, size_t *chosen, struct rs_err *err)
{
    *chosen = 0;
    for (size_t i = 0; i < n && n > 1; i++)
        if (!dumps[i].looked) RS_TRY(look_at(&dumps[i], err));
    for (size_t i = 1; i < n; i++) {
        const struct dump *x = &dumps[i], *best = &dumps[*chosen];
        if (x->looked &&
            (!best->looked || x->last > best->last || (x->last == best->last && x->entries > best->entries)))
            *chosen = i;
    }
    const struct dump *best = &dumps[*chosen];
    for (size_t i = 0; i < n; i++) {
        const struct dump *x = &dumps[i];
        if (i == *chosen || !x->looked) continue;
        bool same = x->entries == best->entries && x->first == best->first && x->last == best->last;
        const struct dump **first = same ? said->same : said->older;
        if (!first[0]) first[0] = x, first[1] = best;
        said->nsame += same;
        said->nolder += !same;
    }
    return RS_OK;
}

static enum rs_status add(struct rs_model *m, struct said *said, struct dump *d, struct rs_err *err)
{
    struct rs_flight f;
    struct rs_other *file = d->file;
    enum rs_status status = rs_flight_read(&f, file->path, err);
    if (status != RS_OK) return failed(file, status, err);
    if (f.damage.code != RS_OK) rs_other_incomplete(file, &f.damage);
    status = rs_flight_to_model(m, &f, file->path, &file->proc, err);
    if (status == RS_OK && f.rank_inside >= 0 && f.rank_inside != f.rank)
        status = rs_model_note(m, err, "%s: its name says rank %" PRId64 ", its content rank %" PRId64, file->path,
                               f.rank, f.rank_inside);
    if (f.n_entries && f.entries[0].record_id > 0 && !said->nwrapped++) {
        said->wrapped = file;
        said->overwritten = f.entries[0].record_id;
    }
    rs_flight_free(&f);
    return status;
}

/* "; so it is with 3 more" */
static const char *more(size_t n, char *text, size_t size)
{
    *text = 0;
    if (n > 1) snprintf(text, size, "; so it is with %zu more", n - 1);
    return text;
}

static enum rs_status say(struct rs_model *m, const struct said *s, struct rs_err *err)
{
    char text[64];
    if (s->nsame)
        RS_TRY(rs_model_note(m, err, "%s and %s are the same dump of rank %" PRId64 ": read once%s",
                             s->same[0]->file->path, s->same[1]->file->path, s->same[1]->rank,
                             more(s->nsame, text, sizeof text)));
    if (s->nolder)
        RS_TRY(rs_model_note(m, err, "%s is not used: %s is a newer dump of rank %" PRId64 "%s",
                             s->older[0]->file->path, s->older[1]->file->path, s->older[1]->rank,
                             more(s->nolder, text, sizeof text)));
    if (!s->nwrapped) return RS_OK;
    return rs_model_note(m, err,
                         "%s: the %" PRId64 " operations before its first were overwritten, and are not recorded "
                         "(TORCH_FR_BUFFER_SIZE)%s",
                         s->wrapped->path, s->overwritten, more(s->nwrapped, text, sizeof text));
}

static enum rs_status fill_all(struct rs_fill *fill, struct dump *dumps, struct rs_err *err)
{
    for (size_t i = 0; i < fill->n; i++) {
        dumps[i] = (struct dump){.file = fill->files[i], .rank = rs_flight_rank_of_name(fill->files[i]->path)};
        if (dumps[i].rank < 0) RS_TRY(look_at(&dumps[i], err));
    }
    qsort(dumps, fill->n, sizeof *dumps, by_rank);
    struct said said = {0};
    for (size_t i = 0, n; i < fill->n; i += n) {
        size_t chosen = 0;
        for (n = 1; i + n < fill->n && dumps[i].rank >= 0 && dumps[i + n].rank == dumps[i].rank; n++) {
        }
        RS_TRY(choose(&said, dumps + i, n, &chosen, err));
        RS_TRY(add(fill->model, &said, &dumps[i + chosen], err));
        for (size_t k = 0; k < n; k++) dumps[i + k].file->proc = dumps[i + chosen].file->proc;
        if (fill->progress) fill->progress(i + n, fill->n);
    }
    return say(fill->model, &said, err);
}

enum rs_status rs_flight_fill(struct rs_fill *fill, struct rs_err *err)
{
    struct dump *dumps = calloc(fill->n + 1, sizeof *dumps);
    if (!dumps) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    enum rs_status status = fill_all(fill, dumps, err);
    free(dumps);
    return status;
}
