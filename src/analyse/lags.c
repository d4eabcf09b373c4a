#include "analyse/lags.h"

#include <math.h>
#include <stdlib.h>

#include "analyse/quantile.h"
#include "model/model.h"

enum {
    FEWEST = 3, /* steps that make a pattern */
    MOST_LAG = 512,
    WINDOW = 4096, /* operations looked at: those in the middle */
    SOME = 8, /* one of so many distances may be unusual in a regular sequence... */
    LONG = 32, /* ...of so many; in a shorter one none */
    RAREST = 64, /* what comes less often is no part of the pattern: a checkpoint */
    FEW = 8, /* steps: the pauses between so few must be longer than everything else */
};

static bool alike(int64_t a, int64_t b)
{
    int64_t more = a > b ? a : b, less = a > b ? b : a;
    return (uint64_t)more - (uint64_t)less < 20000 || (double)more < 1.5 * (double)less;
}

/* Whether they come at regular intervals; a checkpoint now and then changes nothing. */
static bool is_regular(const int64_t *distance, uint32_t n, int64_t *scratch)
{
    uint32_t unusual = 0;
    for (uint32_t i = 0; i < n; i++) scratch[i] = distance[i];
    int64_t median = rs_median(scratch, n);
    for (uint32_t i = 0; i < n; i++) unusual += !alike(distance[i], median);
    return unusual <= (n < LONG ? 0 : n / SOME) && (unusual <= 2 * FEWEST || unusual < n / RAREST);
}

/* Where in `lag` distances the longest is, most often. *wins: how often; *of: of so many. */
static uint32_t find_phase(const int64_t *distance, uint32_t n, uint32_t lag, uint32_t *wins, uint32_t *of)
{
    uint32_t at[MOST_LAG] = {0}, best = 0;
    *of = n / lag;
    for (uint32_t i = 0; i < *of; i++) {
        uint32_t longest = 0;
        for (uint32_t k = 1; k < lag; k++)
            if (distance[i * lag + k] > distance[i * lag + longest]) longest = k;
        at[longest]++;
    }
    for (uint32_t k = 1; k < lag; k++)
        if (at[k] > at[best]) best = k;
    *wins = at[best];
    return best;
}

/* Whether it is no chance that the longest of `lag` distances is the same one so often: of 100,000 random sequences less
 * than one would have it (Chernoff's bound, over all places). */
static bool is_no_chance(uint32_t lag, uint32_t wins, uint32_t of)
{
    double share = (double)wins / of, d = share * log(share * lag);
    if (share < 1) d += (1 - share) * log((1 - share) * lag / (lag - 1.0));
    return of * d - log(lag) >= log(1e5 * MOST_LAG);
}

/* Whether the distances at `phase` are those between steps: longer than the others, and far longer where that they are
 * may be chance; where there are few of them, longer than all the others. */
static bool stand_out(const int64_t *distance, uint32_t n, uint32_t lag, uint32_t phase, bool chance, int64_t *scratch)
{
    uint32_t nbetween = 0, nrest = 0;
    int64_t shortest = INT64_MAX, longest = 0;
    for (uint32_t i = 0; i < n; i++) {
        bool between = i % lag == phase;
        if (between && distance[i] < shortest) shortest = distance[i];
        if (!between && distance[i] > longest) longest = distance[i];
        scratch[between ? n - ++nbetween : nrest++] = distance[i];
    }
    if (nbetween + 1 < FEWEST || (chance && nbetween < FEW && (double)shortest < 1.2 * (double)longest)) return false;
    return (double)rs_median(scratch + nrest, nbetween) >= (chance ? 1.5 : 1.05) * (double)rs_median(scratch, nrest);
}

/* So many that the longest of their distances is nearly always the same one. It is not so for a multiple (two of them are
 * longest), nor for a part. */
static uint32_t best_lag(const int64_t *distance, uint32_t n, int64_t *scratch)
{
    uint32_t best = 0;
    double most = 0;
    for (uint32_t lag = 2; lag <= MOST_LAG && lag <= (n + 1) / FEWEST; lag++) {
        uint32_t wins, of, phase = find_phase(distance, n, lag, &wins, &of);
        double share = of ? (double)wins / of : 0;
        if (share < 0.8 || share <= most) continue;
        if (!stand_out(distance, n, lag, phase, !is_no_chance(lag, wins, of), scratch)) continue;
        most = share;
        best = lag;
    }
    return best;
}

/* Whether every `lag`-th distance may be longer than the others after all, for some lag: its median is. */
static bool is_doubtful(const int64_t *distance, uint32_t n, int64_t *scratch)
{
    for (uint32_t lag = 2; lag <= MOST_LAG && lag <= n / 4; lag++) {
        int64_t first = 0, second = 0;
        for (uint32_t phase = 0; phase < lag; phase++) {
            uint32_t count = 0;
            for (uint32_t i = phase; i < n; i += lag) scratch[count++] = distance[i];
            int64_t median = rs_median(scratch, count);
            if (median > first) {
                second = first;
                first = median;
            } else if (median > second) {
                second = median;
            }
        }
        if ((double)first > 1.05 * (double)second) return true;
    }
    return false;
}

enum rs_status rs_lag_find(const struct rs_item *items, const uint32_t *list, uint32_t n, uint32_t *lag,
                           struct rs_err *err)
{
    *lag = 0;
    if (n < FEWEST) return RS_OK;
    uint32_t skip = n - 1 > WINDOW ? (n - 1 - WINDOW) / 2 : 0, distances = n - 1 > WINDOW ? WINDOW : n - 1;
    int64_t *distance = malloc(2 * (size_t)distances * sizeof *distance);
    enum rs_status status = distance ? RS_OK : rs_fail(err, RS_NO_MEMORY, "out of memory");
    bool timed = true;
    for (uint32_t i = 0; i < distances && status == RS_OK; i++) {
        const struct rs_item *a = &items[list[skip + i]], *b = &items[list[skip + i + 1]];
        timed &= a->over != RS_TIME_NONE && b->over != RS_TIME_NONE;
        distance[i] = rs_time_minus(b->over, a->over);
    }
    if (status == RS_OK && timed) {
        *lag = best_lag(distance, distances, distance + distances);
        if (!*lag && !is_doubtful(distance, distances, distance + distances))
            *lag = is_regular(distance, distances, distance + distances);
    }
    free(distance);
    return status;
}
