/* A timeline made by hand, for tests of pictures: hosts with a process, a GPU and a communicator each, and kinds.
 * Owned by the caller until made_free(). */
#ifndef RS_TESTS_PICTURED_H
#define RS_TESTS_PICTURED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "picture/picture.h"
#include "picture/rows.h"

enum { MADE_ALLREDUCE, MADE_SEND, MADE_RECV, MADE_COMPUTE, MADE_CALL, MADE_KINDS };

struct made {
    struct rs_timeline t;
    struct rs_bars bars;
    struct rs_group *groups;
    struct rs_timeline_sum *sums;
};

static inline uint32_t made_text(struct made *d, const char *text)
{
    uint32_t id;
    rs_texts_id(&d->t.texts, text, strlen(text), &id);
    return id;
}

/* `gpus` of them; labels "host 0", "process 1", "rank 1", "world". Group 4 i + level is the i-th GPU's. */
static inline void made_make(struct made *d, uint32_t gpus)
{
    static const struct rs_bar_kind kinds[MADE_KINDS] = {
        [MADE_ALLREDUCE] = {.id = "AllReduce",
                            .label = "AllReduce",
                            .row = RS_ROW_OPERATIONS,
                            .colour = "AllReduce",
                            .args = {RS_EVENT_ARG_bytes, RS_EVENT_ARG_algorithm}},
        [MADE_SEND] = {.id = "Send", .label = "Send", .row = RS_ROW_OPERATIONS, .colour = "Send"},
        [MADE_RECV] = {.id = "Recv", .label = "Recv", .row = RS_ROW_OPERATIONS, .colour = "Recv"},
        [MADE_COMPUTE] = {.id = "kernel", .label = "kernel", .row = RS_ROW_COMPUTE, .colour = "compute"},
        [MADE_CALL] = {.id = "GroupApi", .label = "group call", .row = RS_ROW_CALLS, .colour = "group"},
    };
    static const char *const names[] = {"host", "process", "rank"};
    *d = (struct made){0};
    memcpy(d->t.kinds.rows, kinds, sizeof(kinds));
    d->t.kinds.n = MADE_KINDS;
    d->t.totals.error_ns = 6000;
    d->groups = calloc(4 * (size_t)gpus, sizeof(*d->groups));
    assert_non_null(d->groups);
    for (uint32_t i = 0; i < 4 * gpus; i++) {
        char text[32] = "world";
        if (i % 4 < 3) snprintf(text, sizeof(text), "%s %u", names[i % 4], i / 4);
        d->groups[i] = (struct rs_group){.parent = i % 4 ? i - 1 : RS_NONE,
                                         .level = (uint8_t)(i % 4),
                                         .label = made_text(d, text),
                                         .error_ns = 6000};
    }
    d->t.groups = d->groups;
    d->t.ngroups = 4 * gpus;
    d->t.focus_to = d->t.span = 1000;
}

static inline void made_free(struct made *d)
{
    rs_texts_free(&d->t.texts);
    rs_bars_free(&d->bars);
    free(d->groups);
    free(d->sums);
}

/* As if each bar were an operation. */
static inline const struct rs_timeline_sum *made_sums(struct made *d)
{
    free(d->sums);
    d->sums = calloc(d->t.ngroups + 1, sizeof(*d->sums));
    assert_non_null(d->sums);
    for (uint32_t i = 0; i < d->bars.nlanes; i++) {
        const struct rs_bar_lane *lane = &d->bars.lanes[i];
        struct rs_timeline_sum *sum = &d->sums[lane->group / 4 * 4 + RS_GROUP_RANK];
        for (uint32_t k = lane->from; k < lane->from + lane->n && lane->row == RS_ROW_OPERATIONS; k++) {
            sum->wait += d->bars.wait[k];
            sum->last += (d->bars.flags[k] & RS_BAR_LAST) != 0;
        }
    }
    return d->sums;
}

/* A lane of a GPU; bars that follow are on it. Level of the group: 1 process, 2 rank, 3 communicator. */
static inline void made_lane(struct made *d, uint32_t gpu, unsigned level, enum rs_row row, const char *label)
{
    void *rows = d->bars.lanes;
    rs_room(&rows, d->bars.nlanes, &d->bars.cap_lanes, sizeof(*d->bars.lanes));
    d->bars.lanes = rows;
    d->bars.lanes[d->bars.nlanes++] = (struct rs_bar_lane){
        .group = 4 * gpu + level, .row = (uint8_t)row, .label = made_text(d, label), .from = d->bars.n};
}

/* Returns its place. */
static inline uint32_t made_bar(struct made *d, unsigned kind, int64_t start, int64_t dur)
{
    uint32_t i;
    rs_bars_add(&d->bars, &i);
    d->bars.start[i] = start;
    d->bars.dur[i] = dur;
    d->bars.kind[i] = (uint8_t)kind;
    d->bars.lanes[d->bars.nlanes - 1].n++;
    return i;
}

#endif
