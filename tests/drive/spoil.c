/* spoil: whatever is cut off or flipped in a recording, is the rest read, and what is missing counted or said?
 *
 *   spoil --truth FILE [--tries N] [--seed N] RECORDING
 *
 * Compares the recording with the driver's own count (truth.h), then spoils copies of it, with its live file beside it:
 * one bit flipped, or the end cut off, before it is opened or between that and reading, anywhere behind the header. Of
 * each either
 *
 *   kept + overwritten + lost + damaged = what the whole recording says was emitted
 *
 * or the reader says that it does not know. One bit costs one chunk, no more. Exit status 1: it is not so; standard
 * error says where. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trace/live.h"
#include "trace/summary.h"
#include "truth.h"

enum { CHUNK_RECORDS = RS_BUFFER_BYTES / 8 };

struct seen {
    uint64_t kept, overwritten, lost, damaged;
    unsigned unknown;
    bool complete;
};

static const char copy[] = "spoilt.rsc", live_copy[] = "spoilt.live";

static void die(const char *what)
{
    perror(what);
    exit(2);
}

/* Reads it; `shrink`: cut off there once it is open. */
static struct seen look(const char *path, uint64_t shrink)
{
    struct rs_inputs in;
    struct rs_summary sum;
    struct rs_err err;
    char *paths[] = {(char *)(uintptr_t)path};
    if (rs_inputs_open(&in, paths, 1, NULL, &err) != RS_OK || !in.n || (shrink && truncate(path, (off_t)shrink)) ||
        (rs_summary_init(&sum, &in.sources[0]), false)) {
        fprintf(stderr, "%s\n", err.msg);
        exit(2);
    }
    const struct rs_recording *r = in.sources[0].recording;
    struct seen s = {sum.callbacks, r->overwritten, rs_recording_lost(r),
                     r->damaged,    r->unknown,     rs_source_complete(&in.sources[0])};
    rs_summary_free(&sum);
    rs_inputs_close(&in);
    return s;
}

static uint64_t emitted(const struct seen *s)
{
    return s->kept + s->overwritten + s->lost + s->damaged;
}

/* What the driver counted, and how much more may have been recorded when it was killed. */
static uint64_t returned(const char *path, uint64_t *more)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    const struct truth *t = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *t, PROT_READ, MAP_SHARED, fd, 0);
    if (t == MAP_FAILED) die(path);
    uint64_t n = (uint64_t)t->inits + t->finalizes + t->extra;
    for (uint32_t i = 0; i < t->nthreads; i++) n += t->threads[i].returned;
    *more = (uint64_t)t->nthreads + 1;
    return n;
}

static uint64_t state = 1;
static uint64_t random_below(uint64_t n)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (state >> 20) % n;
}

enum { CUT, FLIPPED, SHRUNK, WAYS };

static int check(const struct seen *s, const struct seen *whole, unsigned how, uint64_t at)
{
    static const char *const ways[WAYS] = {"cut off at byte", "a bit flipped in byte", "open, then cut off at byte"};
    const char *wrong = NULL;
    bool missing = s->kept != whole->kept || s->lost != whole->lost;
    if (!s->unknown && emitted(s) != emitted(whole)) wrong = "does not add up, and no word of it";
    if (s->complete && missing) wrong = "is called complete";
    if (how == FLIPPED && s->kept + CHUNK_RECORDS < whole->kept) wrong = "lost more than a chunk";
    if (!whole->overwritten && s->overwritten) wrong = "was overwritten, though its ring never went round";
    if (s->kept > whole->kept) wrong = "has more than was there";
    if (!wrong) return 0;
    fprintf(stderr,
            "%s %" PRIu64 ": %s: %" PRIu64 " kept + %" PRIu64 " overwritten + %" PRIu64 " lost + %" PRIu64
            " damaged (unknown 0x%x) of %" PRIu64 " (%" PRIu64 " kept, %" PRIu64 " overwritten)\n",
            ways[how], at, wrong, s->kept, s->overwritten, s->lost, s->damaged, s->unknown, emitted(whole), whole->kept,
            whole->overwritten);
    return 1;
}

int main(int argc, char **argv)
{
    const char *truth = NULL, *path = NULL;
    uint64_t tries = 100, more;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--truth") && i + 1 < argc)
            truth = argv[++i];
        else if (!strcmp(argv[i], "--tries") && i + 1 < argc)
            tries = strtoull(argv[++i], NULL, 10);
        else if (!strcmp(argv[i], "--seed") && i + 1 < argc)
            state = strtoull(argv[++i], NULL, 10);
        else
            path = argv[i];
    }
    if (!truth || !path) return fprintf(stderr, "spoil --truth FILE RECORDING\n"), 2;
    struct seen whole = look(path, 0);
    uint64_t sent = returned(truth, &more);
    if (whole.unknown || whole.damaged || emitted(&whole) < sent || emitted(&whole) > sent + more)
        return fprintf(stderr, "%" PRIu64 " emitted, %" PRIu64 " damaged, unknown 0x%x instead of %" PRIu64 "\n",
                       emitted(&whole), whole.damaged, whole.unknown, sent),
               1;

    struct rs_file_map file;
    struct rs_err err;
    char *live = rs_live_path_of(path);
    unlink(live_copy);
    if (rs_file_map(&file, path, &err) != RS_OK || !live || (!access(live, F_OK) && link(live, live_copy))) die(path);
    uint64_t header = sizeof(struct rs_file_header), unknown = 0;
    if (file.size <= header) return printf("nothing is written yet\n"), 0;
    int fd = open(copy, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), bad = 0;
    if (fd < 0 || pwrite(fd, file.data, file.size, 0) != (ssize_t)file.size) die(copy);
    for (uint64_t i = 0; i < tries; i++) {
        uint64_t at = header + random_below(file.size - header);
        uint8_t flip = file.data[at] ^ (uint8_t)(1u << random_below(8));
        unsigned how = (unsigned)(i % WAYS);
        if (how == FLIPPED ? pwrite(fd, &flip, 1, (off_t)at) != 1 : how == CUT && ftruncate(fd, (off_t)at)) die(copy);
        struct seen s = look(copy, how == SHRUNK ? at : 0);
        bad += check(&s, &whole, how, at);
        unknown += s.unknown != 0;
        ssize_t gone = how == FLIPPED ? 1 : (ssize_t)(file.size - at);
        if (pwrite(fd, file.data + at, (size_t)gone, (off_t)at) != gone) die(copy);
    }
    printf("%" PRIu64 " emitted, %" PRIu64 " overwritten, %" PRIu64 " lost; %" PRIu64 " spoilt, %" PRIu64
           " of them not known\n",
           emitted(&whole), whole.overwritten, whole.lost, tries, unknown);
    close(fd);
    unlink(copy);
    unlink(live_copy);
    rs_file_unmap(&file);
    free(live);
    return bad != 0;
}
