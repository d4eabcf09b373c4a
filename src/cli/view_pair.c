#include "cli/view_pair.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "bundle/container.h"
#include "bundle/page.h"

struct rs_bundle_step *rs_view_steps(const struct rs_steps *steps, uint32_t *n)
{
    struct rs_bundle_step *list = rs_alloc(((size_t)steps->n + 1) * sizeof *list);
    *n = 0;
    for (uint32_t i = 0; i < steps->n; i++)
        if (steps->rows[i].start != RS_TIME_NONE) list[(*n)++] = (struct rs_bundle_step){i, steps->rows[i].start};
    return list;
}

/* ---- where they are aligned ---- */

static const struct rs_bundle_step *step_of(const struct rs_view_run *run, uint32_t number)
{
    for (uint32_t i = 0; i < run->nsteps; i++)
        if (run->steps[i].number == number) return &run->steps[i];
    return NULL;
}

/* The first operation; without one the begin. */
static int64_t first_of(const struct rs_timeline *t)
{
    int64_t first = t->nops ? t->model->ops.first[t->ops[0]] : RS_TIME_NONE;
    return first == RS_TIME_NONE ? t->begin : first;
}

static void align(const struct rs_view_pair *pair, struct rs_bundle_pair *drawn)
{
    const struct rs_view_run *a = &pair->runs[0], *b = &pair->runs[1];
    const struct rs_bundle_step *common = NULL, *other = NULL;
    for (uint32_t i = 0; i < a->nsteps && !other; i++) {
        common = &a->steps[i];
        other = step_of(b, common->number);
    }
    drawn->runs[0].zero = a->zero != RS_TIME_NONE ? a->zero : other ? common->at : first_of(drawn->runs[0].timeline);
    drawn->runs[1].zero = b->zero != RS_TIME_NONE ? b->zero : other ? other->at : first_of(drawn->runs[1].timeline);
}

/* ---- the page ---- */

static enum rs_status write_page(const struct rs_bundle_pair *drawn, const char *path, bool force, struct rs_err *err)
{
    size_t page_bytes;
    const char *page = rs_page(&page_bytes), *folder = rs_view_temporary_folder();
    struct rs_bundle_sizes sizes;
    struct rs_out out;
    if (!page)
        return rs_fail(err, RS_FAILED, "this ringscope was built without the page of the timeline (it needs Node 18)");
    RS_TRY(rs_out_open(&out, path, force, err));
    int fd = rs_spool_descriptor(folder, err);
    enum rs_status status = fd < 0 ? RS_FAILED : RS_OK;
    const struct rs_bundle_place place = {fd, "the bundle (a temporary file)", folder, 0};
    if (status == RS_OK) status = rs_bundle_write_pair(drawn, &place, rs_reading_progress, &sizes, err);
    if (status == RS_OK) status = rs_bundle_html(page, page_bytes, fd, &sizes, out.file, path, err);
    if (fd >= 0) close(fd);
    if (status == RS_OK) return rs_out_commit(&out, err);
    rs_out_abort(&out);
    return status;
}

enum rs_status rs_view_pair_write(const struct rs_view_pair *pair, const char *out, bool force, struct rs_err *err)
{
    struct rs_timeline timelines[2];
    struct rs_view_texts texts[2] = {{0}};
    struct rs_bundle_pair drawn = {.title = pair->title, .sentences = pair->sentences, .nsentences = pair->nsentences};
    enum rs_status status = RS_OK;
    for (int i = 0; i < 2; i++) {
        const struct rs_view_run *x = &pair->runs[i];
        const struct rs_timeline_options options = {.filter = x->filters ? &x->filters->filter : NULL,
                                                    .rows = x->rows,
                                                    .piece = rs_reading_piece(),
                                                    .beside = i ? &timelines[0] : NULL};
        if (status == RS_OK) status = rs_view_texts_init(&texts[i], x->model, x->inputs, x->filters, err);
        rs_timeline_init(&timelines[i], x->model, x->inputs, &options);
        drawn.runs[i] = (struct rs_bundle_run){.timeline = &timelines[i],
                                               .texts = {x->title, texts[i].comms, texts[i].clocks, texts[i].report},
                                               .steps = x->steps,
                                               .nsteps = x->nsteps};
    }
    align(pair, &drawn);
    if (status == RS_OK) status = write_page(&drawn, out, force, err);
    for (int i = 0; i < 2; i++) {
        rs_view_texts_free(&texts[i]);
        rs_timeline_free(&timelines[i]);
    }
    return status;
}
