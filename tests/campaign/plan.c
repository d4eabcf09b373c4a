#include "plan.h"

#include <inttypes.h>
#include <string.h>

#include "faults.h"

uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

uint32_t random_below(uint64_t *state, uint32_t n)
{
    return (uint32_t)(random_next(state) >> 32) % n;
}

static bool chance(uint64_t *r, uint32_t percent)
{
    return random_below(r, 100) < percent;
}

const struct planned *plan_has(const struct plan *p, int fault)
{
    for (int i = 0; i < p->nfaults; i++)
        if (p->faults[i].fault == fault) return &p->faults[i];
    return NULL;
}

/* Whether this one can come to those that are there. */
static bool fits(const struct plan *p, const struct fault *f, unsigned needs)
{
    unsigned both = p->flags | f->flags;
    return !(f->needs & ~needs) && (both & (LOADS | CLOSES)) != (LOADS | CLOSES) &&
           (f->flags & CLOSES ? !(p->flags & UNLOADS) : true) && (f->flags & UNLOADS ? !(p->flags & CLOSES) : true);
}

static void add(struct plan *p, int fault, uint32_t at_ms, uint32_t arg)
{
    if (p->nfaults == PLAN_FAULTS || plan_has(p, fault)) return;
    p->faults[p->nfaults++] = (struct planned){fault, at_ms, arg};
    p->flags |= faults[fault].flags;
}

/* One row of a kind, by weight. */
static void choose(struct plan *p, uint64_t *r, enum when when, unsigned needs, uint32_t at_ms)
{
    uint32_t total = 0;
    for (int pass = 0; pass < 2; pass++) {
        uint32_t at = pass && total ? random_below(r, total) : 0, sum = 0;
        for (int i = 0; i < nfaults; i++) {
            if (faults[i].when != when || !fits(p, &faults[i], needs) || plan_has(p, i)) continue;
            sum += faults[i].weight;
            if (pass && sum > at) {
                add(p, i, at_ms, (uint32_t)random_next(r));
                return;
            }
        }
        if (!(total = sum)) return;
    }
}

static void choose_threads(struct plan *p, uint64_t *r)
{
    static const uint32_t paces[] = {0, 0, 20, 100, 1000, 5000};
    int copies = chance(r, 25) ? PLAN_COPIES : 1, nccls = chance(r, 40) ? 1 + (int)random_below(r, PLAN_NCCLS) : 1;
    p->nthreads = 1 + (int)random_below(r, PLAN_THREADS);
    for (int i = 0; i < p->nthreads; i++) {
        struct planned_thread *t = &p->threads[i];
        t->copy = (int)random_below(r, (uint32_t)copies);
        t->nccl = (int)random_below(r, (uint32_t)nccls);
        /* One NCCL speaks one version: what it is follows from its number. */
        t->version = 1 + (int)((p->seed / 7 + (uint64_t)t->nccl * 3) % 7);
        if (chance(r, 50)) t->version = t->nccl ? 5 : 7;
        t->pace_us = paces[random_below(r, sizeof paces / sizeof *paces)];
        t->burst = 1 + random_below(r, t->pace_us > 100 ? 200 : 30);
        t->life = chance(r, 40) ? 10 + random_below(r, 200) : UINT32_MAX;
    }
    for (int i = 0; i < p->nthreads; i++) /* of one NCCL all alike */
        for (int k = 0; k < i; k++)
            if (p->threads[k].nccl == p->threads[i].nccl) {
                p->threads[i].version = p->threads[k].version;
                p->threads[i].copy = p->threads[k].copy; /* an NCCL loads its plugin once */
                break;
            }
}

static void choose_settings(struct plan *p, uint64_t *r)
{
    static const uint32_t memories[] = {0, 4, 4, 8, 16}, shm[] = {16, 64, 64, 300, 1024};
    static const char *const events[] = {"", "", "ops", "net", "all", "off", "0x12"};
    static const char *const details[] = {"", "", "", "20ms:100ms", "1ms:10ms"};
    static const char *const buffers[] = {"", "", "", "shm", "disk", "memory"};
    p->memory_mib = memories[random_below(r, 5)];
    p->shm_mib = shm[random_below(r, 5)];
    if (chance(r, 35)) p->limit_kib = 1024 + random_below(r, 3000);
    p->keep_last = chance(r, 30);
    if (p->keep_last && !p->limit_kib) p->limit_kib = 1500;
    snprintf(p->detail, sizeof p->detail, "%s", details[random_below(r, 5)]);
    snprintf(p->events, sizeof p->events, "%s", events[random_below(r, 7)]);
    snprintf(p->buffers, sizeof p->buffers, "%s", buffers[random_below(r, 6)]);
    p->milliseconds = 100 + random_below(r, chance(r, 20) ? 2500 : 700);
}

void plan_make(struct plan *p, uint64_t seed, unsigned needs, int wanted)
{
    uint64_t r = seed * UINT64_C(0x2545f4914f6cdd1d);
    *p = (struct plan){.seed = seed};
    choose_settings(p, &r);
    choose_threads(p, &r);
    enum when kind = wanted < 0 ? WHEN_PLACE : faults[wanted].when;
    if (wanted >= 0 && kind == WHEN_PLACE)
        add(p, wanted, 0, (uint32_t)random_next(&r));
    else
        choose(p, &r, WHEN_PLACE, needs, 0);
    for (enum when w = WHEN_SETUP; w <= WHEN_ENDING; w++) {
        int n = w == WHEN_ENDING ? 1 : (int)random_below(&r, w == WHEN_SETUP ? 3 : 4);
        if (w == WHEN_AFTER) n = chance(&r, 25);
        if (wanted >= 0 && w != WHEN_ENDING) n = 0;
        if (wanted >= 0 && w == kind) {
            add(p, wanted, random_below(&r, p->milliseconds), (uint32_t)random_next(&r));
            continue;
        }
        for (int i = 0; i < n; i++) choose(p, &r, w, needs, random_below(&r, p->milliseconds));
    }
    for (int i = 0; i < nfaults && p->flags & NEEDS_LOOP; i++)
        if (faults[i].flags & IS_LOOP) p->faults[0].fault = i;
    /* Those with a time in its order: they lie side by side. */
    for (int i = 1; i < p->nfaults; i++)
        for (int k = i; k > 0 && faults[p->faults[k].fault].when == faults[p->faults[k - 1].fault].when &&
                        p->faults[k].at_ms < p->faults[k - 1].at_ms;
             k--) {
            struct planned swap = p->faults[k];
            p->faults[k] = p->faults[k - 1];
            p->faults[k - 1] = swap;
        }
}

void plan_print(const struct plan *p, FILE *to)
{
    fprintf(to, "seed %" PRIu64 ": %u ms", p->seed, p->milliseconds);
    for (int i = 0; i < p->nfaults; i++) {
        const struct fault *f = &faults[p->faults[i].fault];
        fprintf(to, ", %s", f->name);
        if (f->when == WHEN_INSIDE || f->when == WHEN_OUTSIDE) fprintf(to, " at %u", p->faults[i].at_ms);
    }
    fprintf(to, "; /dev/shm %u MiB", p->shm_mib);
    if (p->memory_mib) fprintf(to, ", memory %uM", p->memory_mib);
    if (p->limit_kib) fprintf(to, ", limit %uk keep %s", p->limit_kib, p->keep_last ? "last" : "first");
    if (p->events[0]) fprintf(to, ", events %s", p->events);
    if (p->detail[0]) fprintf(to, ", detail %s", p->detail);
    if (p->buffers[0]) fprintf(to, ", buffers %s", p->buffers);
    fprintf(to, "; threads (copy.nccl v pace burst life)");
    for (int i = 0; i < p->nthreads; i++) {
        const struct planned_thread *t = &p->threads[i];
        fprintf(to, " %d.%d v%d %u %u ", t->copy, t->nccl, t->version, t->pace_us, t->burst);
        if (t->life == UINT32_MAX)
            fprintf(to, "-");
        else
            fprintf(to, "%u", t->life);
    }
    fprintf(to, "\n");
}
