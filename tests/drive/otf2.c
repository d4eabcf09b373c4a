/* Holds an OTF2 archive against what its readers rely on, with OTF2's own reader and nothing of ringscope: `otf2 FILE`.
 *
 * On every location times rise, regions nest, and records lie inside of their region. Who makes a record is a member of
 * its communicator; the n-th collective of a communicator is the same on all members, and what ranks put in and get out
 * fits it; every send has its receive, with the same communicator, tag, length and operation. Names and paradigms are
 * defined before they are used, and what refers to something finds it.
 * Prints lines of JSON: communicators ("comm", "parent", "members"), parts of operations ("op", "start_ns", "end_ns",
 * "location"...), messages ("message": the operation, "from", "to": ranks of the job), ranks of collectives
 * ("collective": the operation, "rank") and all other regions ("region", "start_ns", "end_ns"); then an object of counts.
 * Complaints go to stderr, and make the exit status 1. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "otf2_seen.h"

struct seen all = {.attribute_op = UINT32_MAX,
                   .attribute_start = UINT32_MAX,
                   .attribute_end = UINT32_MAX,
                   .attribute_open = UINT32_MAX,
                   .attribute_before = UINT32_MAX,
                   .attribute_after = UINT32_MAX,
                   .all = UINT32_MAX};

void *reach(void *rows, uint64_t *n, uint64_t i, size_t bytes)
{
    if (i < *n) return rows;
    uint64_t most = (i + 1) * 2;
    rows = realloc(rows, most * bytes);
    if (!rows) abort();
    memset((char *)rows + *n * bytes, 0, (most - *n) * bytes);
    *n = most;
    return rows;
}

static int by_rank(const void *a, const void *b)
{
    const struct collective *x = a, *y = b;
    if (x->comm != y->comm) return x->comm < y->comm ? -1 : 1;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return x->nth < y->nth ? -1 : x->nth > y->nth;
}

/* All members of a communicator that recorded anything took part in its n-th collective, and it is the same one. */
static void check_collectives(void)
{
    struct collective *c = all.collectives;
    for (uint64_t i = 0; i < all.ncollectives; i++)
        printf("{\"collective\":\"0x%016" PRIx64 "\",\"rank\":%" PRId64 "}\n", c[i].id,
               (int64_t)all.locations[c[i].location].job_rank - 1);
    if (all.ncollectives) qsort(c, all.ncollectives, sizeof *c, by_rank);
    for (uint64_t from = 0, to; from < all.ncollectives; from = to) {
        const struct group *g = &all.groups[all.comms[c[from].comm].group];
        uint64_t n = 0, ranks = 0, alive = 0;
        for (uint32_t i = 0; i < g->n; i++)
            alive += all.locations[all.groups[all.all].members[g->members[i]]].events > 0;
        while (from + n < all.ncollectives && c[from + n].comm == c[from].comm && c[from + n].rank == c[from].rank) n++;
        for (to = from; to < all.ncollectives && c[to].comm == c[from].comm; to += n, ranks++)
            for (uint64_t i = 0; i < n; i++) {
                const struct collective *x = &c[from + i], *y = &c[to + i];
                bool same = to + i < all.ncollectives && y->comm == x->comm && y->rank == c[to].rank;
                if (!same || x->op != y->op || x->root != y->root || x->id != y->id) {
                    COMPLAIN("communicator %u: collective %" PRIu64 " is not the same everywhere", x->comm, i);
                    return;
                }
            }
        if (ranks != alive) COMPLAIN("communicator %u: %" PRIu64 " of %" PRIu64 " ranks", c[from].comm, ranks, alive);
    }
}

static int by_ends(const void *a, const void *b)
{
    const struct message *x = a, *y = b;
    if (x->comm != y->comm) return x->comm < y->comm ? -1 : 1;
    if (x->src != y->src) return x->src < y->src ? -1 : 1;
    if (x->dst != y->dst) return x->dst < y->dst ? -1 : 1;
    if (x->tag != y->tag) return x->tag < y->tag ? -1 : 1;
    if (x->id != y->id) return x->id < y->id ? -1 : 1;
    return x->sent < y->sent ? 1 : x->sent > y->sent ? -1 : 0;
}

static uint64_t check_messages(void)
{
    struct message *m = all.messages;
    uint64_t bytes = 0;
    if (all.nmessages) qsort(m, all.nmessages, sizeof *m, by_ends);
    for (uint64_t i = 0; i < all.nmessages; i += 2) {
        const struct message *x = &m[i], *y = &m[i + 1];
        bool pair = i + 1 < all.nmessages && x->sent && !y->sent && x->comm == y->comm && x->src == y->src &&
                    x->dst == y->dst && x->tag == y->tag && x->length == y->length && x->id == y->id;
        if (!pair) {
            COMPLAIN("communicator %u: a message from %u to %u, tag %u, is not matched", x->comm, x->src, x->dst,
                     x->tag);
            return bytes;
        }
        bytes += x->length;
        printf("{\"message\":\"0x%016" PRIx64 "\",\"from\":%" PRId64 ",\"to\":%" PRId64 "}\n", x->id,
               (int64_t)all.locations[x->location].job_rank - 1, (int64_t)all.locations[y->location].job_rank - 1);
    }
    return bytes;
}

int main(int argc, char **argv)
{
    OTF2_Reader *reader = argc == 2 ? OTF2_Reader_Open(argv[1]) : NULL;
    if (!reader) return fprintf(stderr, "otf2: usage: otf2 FILE.otf2\n"), 2;
    OTF2_Reader_SetSerialCollectiveCallbacks(reader);
    if (!read_definitions(reader)) COMPLAIN("the definitions cannot be read");
    if (all.resolution != 1000000000) COMPLAIN("%" PRIu64 " ticks a second", all.resolution);
    if (!all.complaints && !read_events(reader)) COMPLAIN("the events cannot be read");
    uint64_t wait = 0, bytes = 0, events = 0, n = 0;
    for (uint64_t i = 0; i < all.nlocations; i++) {
        const struct location *l = &all.locations[i];
        if (l->defined && (l->seen != l->events || l->depth)) COMPLAIN("location %" PRIu64 " is not complete", i);
        wait += l->wait, bytes += l->bytes, events += l->seen, n += l->defined;
    }
    check_collectives();
    uint64_t sent = check_messages();
    printf("{\"locations\":%" PRIu64 ",\"events\":%" PRIu64 ",\"regions_entered\":%" PRIu64 ",\"parts\":%" PRIu64
           ",\"collectives\":%" PRIu64 ",\"messages\":%" PRIu64 ",\"message_bytes\":%" PRIu64 ",\"metrics\":%" PRIu64
           ",\"wait_ns\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"start_unknown\":%" PRIu64 ",\"end_bounded\":%" PRIu64
           ",\"clock_error_ns\":%" PRIu64 ",\"realtime\":%" PRIu64 "}\n",
           n, events, all.enters, all.parts, all.ncollectives, all.nmessages / 2, sent, all.metrics, wait, bytes,
           all.start_unknown, all.end_bounded, all.max_error, all.realtime);
    OTF2_Reader_Close(reader);
    return all.complaints > 0;
}
