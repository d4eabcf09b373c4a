#include "analyse/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/room.h"

void rs_reference_add(struct rs_reference *r, const struct rs_reference_point *point)
{
    if (!isfinite(point->busbw) || point->busbw <= 0 || !point->bytes) return;
    RS_ROOM(r->points, r->n, r->cap);
    r->points[r->n++] = *point;
}

static bool reduces(const char *func)
{
    return strstr(func, "Reduce") != NULL;
}

static const char *type_of(const struct rs_reference_point *p)
{
    return reduces(p->func) && p->dtype ? p->dtype : "";
}

/* By curve (function, ranks, type where it matters), then size, the best first. */
static int by_curve(const struct rs_reference_point *a, const struct rs_reference_point *b)
{
    int c = strcmp(a->func, b->func);
    if (!c && a->nranks != b->nranks) c = a->nranks < b->nranks ? -1 : 1;
    return c ? c : strcmp(type_of(a), type_of(b));
}

static int by_point(const void *a, const void *b)
{
    const struct rs_reference_point *x = a, *y = b;
    int c = by_curve(x, y);
    if (c) return c;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? -1 : 1;
    return x->busbw > y->busbw ? -1 : x->busbw < y->busbw;
}

void rs_reference_sort(struct rs_reference *r)
{
    uint32_t kept = 0;
    if (r->n) qsort(r->points, r->n, sizeof *r->points, by_point);
    for (uint32_t i = 0; i < r->n; i++)
        if (!kept || by_curve(&r->points[i], &r->points[kept - 1]) || r->points[i].bytes != r->points[kept - 1].bytes)
            r->points[kept++] = r->points[i];
    r->n = kept;
}

void rs_reference_free(struct rs_reference *r)
{
    free(r->points);
    *r = (struct rs_reference){0};
}

const char *rs_reference_lack_text(enum rs_reference_lack lack)
{
    static const char *const texts[RS_LACKS] = {NULL, "likeness", "function", "ranks", "type", "size"};
    return lack < RS_LACKS ? texts[lack] : NULL;
}

/* On the curve points[from, to), by size. NAN: beyond its ends. */
static double on_curve(const struct rs_reference_point *p, uint32_t from, uint32_t to, uint64_t bytes)
{
    if (bytes < p[from].bytes || bytes > p[to - 1].bytes) return NAN;
    uint32_t low = from, high = to - 1; /* p[low].bytes <= bytes <= p[high].bytes */
    while (high - low > 1) {
        uint32_t mid = low + (high - low) / 2;
        if (p[mid].bytes <= bytes)
            low = mid;
        else
            high = mid;
    }
    if (bytes == p[low].bytes) return p[low].busbw;
    if (bytes == p[high].bytes) return p[high].busbw;
    double share = log((double)bytes / (double)p[low].bytes) / log((double)p[high].bytes / (double)p[low].bytes);
    return p[low].busbw + share * (p[high].busbw - p[low].busbw);
}

static void at_least(enum rs_reference_lack *lack, enum rs_reference_lack next)
{
    if (next > *lack) *lack = next;
}

double rs_reference_find(const struct rs_reference *r, const char *func, const char *dtype, int32_t nranks,
                         uint64_t bytes, enum rs_reference_lack *lack)
{
    double best = NAN;
    *lack = RS_LACKS_FUNC;
    if (!strcmp(dtype, "Unknown")) dtype = "ncclUint8"; /* NCCL's name */
    for (uint32_t i = 0, next; i < r->n; i = next) { /* there are few curves */
        const struct rs_reference_point *p = &r->points[i];
        for (next = i + 1; next < r->n && !by_curve(p, &r->points[next]);) next++;
        if (strcmp(p->func, func) != 0) continue;
        at_least(lack, RS_LACKS_RANKS);
        if (p->nranks >= 0 && p->nranks != nranks) continue;
        at_least(lack, RS_LACKS_TYPE);
        if (reduces(func) && (!*dtype || strcmp(type_of(p), dtype) != 0)) continue;
        at_least(lack, RS_LACKS_SIZE);
        double gbs = on_curve(r->points, i, next, bytes);
        if (!isnan(gbs) && !(gbs <= best)) best = gbs;
    }
    if (!isnan(best)) *lack = RS_LACKS_NOTHING;
    return best;
}
