/* Real recordings with any words changed, through everything that reads them: import, join, report, hang, events,
 * timeline.
 *
 * Two recordings of tests/data are unpacked once. The input is a list of changes: which file, which word, and what
 * becomes of it. The files are written anew with right checksums, so that the changes are believed, and read as a user
 * would. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyse/hang.h"
#include "analyse/report.h"
#include "events/events.h"
#include "import/import.h"
#include "join/join.h"
#include "timeline/timeline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FILES = 2, MOST_WORDS = 1 << 16, CHANGE = 14 };

static const char *const originals[FILES] = {"tests/data/h200-mix/vm.721.rsc", "tests/data/h200-mix/vm.722.rsc"};

static struct unpacked {
    struct rs_file_header header;
    struct {
        struct rs_chunk_header header;
        uint32_t at, n; /* in words */
    } chunks[512];
    uint32_t nchunks, nwords;
    uint64_t words[MOST_WORDS], changed[MOST_WORDS];
} files[FILES];

static char folder[64], paths[FILES][96];

static void clean_up(void)
{
    for (int i = 0; i < FILES; i++) unlink(paths[i]);
    rmdir(folder);
}

static void take(struct unpacked *u, struct rs_recording *r, const struct rs_piece *pieces, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const uint64_t *words = rs_recording_words(r, &pieces[i]);
        uint32_t count = pieces[i].header.to - pieces[i].header.from;
        if (!words || u->nwords + count > MOST_WORDS || u->nchunks == 512) continue;
        u->chunks[u->nchunks].header = pieces[i].header;
        u->chunks[u->nchunks].at = u->nwords;
        u->chunks[u->nchunks++].n = count;
        memcpy(u->words + u->nwords, words, count * sizeof *words);
        u->nwords += count;
    }
}

static void set_up(void)
{
    snprintf(folder, sizeof folder, "/dev/shm/ringscope-fuzz.XXXXXX");
    if (!mkdtemp(folder)) abort();
    for (int i = 0; i < FILES; i++) {
        struct rs_recording *r;
        struct rs_err err;
        if (rs_recording_open(&r, originals[i], &err) != RS_OK) abort();
        files[i].header = r->header;
        take(&files[i], r, r->facts, r->nfacts);
        take(&files[i], r, r->events, r->nevents);
        rs_recording_close(r);
        snprintf(paths[i], sizeof paths[i], "%s/%d.rsc", folder, i);
    }
    atexit(clean_up);
}

static void write_file(const struct unpacked *u, const char *path)
{
    FILE *f = fopen(path, "wbe");
    if (!f || fwrite(&u->header, sizeof u->header, 1, f) != 1) abort();
    for (uint32_t i = 0; i < u->nchunks; i++) {
        struct rs_chunk_header h = u->chunks[i].header;
        const uint64_t *words = u->changed + u->chunks[i].at;
        h.coding = RS_CODING_RAW;
        h.stored_bytes = u->chunks[i].n * 8;
        h.checksum = rs_chunk_checksum(&h, words);
        if (fwrite(&h, sizeof h, 1, f) != 1 || fwrite(words, 8, u->chunks[i].n, f) != u->chunks[i].n) abort();
    }
    if (fclose(f)) abort();
}

/* One change: a word is set, has bits flipped, is made that of another place, or gets small differences. */
static void change(struct unpacked *u, const uint8_t *c)
{
    uint32_t at, other;
    uint64_t value;
    memcpy(&at, c + 1, sizeof at);
    memcpy(&value, c + 5, sizeof value);
    other = (uint32_t)(value % u->nwords);
    uint64_t *w = &u->changed[at % u->nwords];
    switch (c[13] % 5) {
    case 0: *w = value; break;
    case 1: *w ^= value; break;
    case 2: *w = u->changed[other]; break;
    case 3: *w += (uint64_t)(int64_t)(int8_t)value; break;
    default: *w ^= UINT64_C(1) << (value & 63);
    }
}

static void analyse(struct rs_model *m)
{
    struct rs_err err;
    struct rs_filter all = {0};
    const struct rs_report_options options = {.filter = &all, .network = true, .every_steps = 1};
    struct rs_report report;
    if (rs_report_make(&report, m, &options, &err) == RS_OK) rs_report_free(&report);
    struct rs_hang hang;
    if (rs_hang_find(m, &all, &hang, &err) != RS_OK && !err.msg[0]) abort();
    rs_hang_free(&hang);
}

static enum rs_status check_event(void *to, const struct rs_event *e, struct rs_err *err)
{
    (void)err;
    const struct rs_model *m = to;
    bool part = e->part == RS_NONE || e->part < m->parts.n, member = e->member == RS_NONE || e->member < m->nmembers;
    bool parent = e->parent == RS_NONE || e->parent < e->number;
    if (!part || !member || !parent || e->nstates > RS_EVENT_STATES) abort();
    if (e->call->handle != e->handle || strlen(e->thread) > 16) abort();
    return RS_OK;
}

/* Every event that is left, of every process. */
static void read_events(struct rs_model *m, struct rs_inputs *in)
{
    struct rs_err err = {0};
    for (uint32_t i = 0; i < in->n; i++)
        if (rs_events_read(m, in, i, UINT64_MAX, check_event, m, &err) != RS_OK && !err.msg[0]) abort();
}

/* Every row of every process: bars in order, inside of the span, without overlaps. */
static void draw(struct rs_model *m, struct rs_inputs *in)
{
    const struct rs_timeline_options options = {.rows = UINT64_MAX};
    struct rs_err err = {0};
    struct rs_timeline t;
    struct rs_bars b = {0};
    uint32_t n = 0;
    if (rs_timeline_make(&t, m, in, &options, &err) != RS_OK) {
        if (!err.msg[0]) abort();
        return;
    }
    for (uint32_t i = 0; i < t.nprocs && rs_timeline_process(&t, i, n, &b, &err) == RS_OK; i++, n += b.n)
        for (uint32_t k = 0; k < b.nlanes; k++) {
            int64_t end = 0;
            for (uint32_t bar = b.lanes[k].from; bar < b.lanes[k].from + b.lanes[k].n; bar++) {
                if (b.start[bar] < end || b.dur[bar] < 0 || b.fade[bar] < 0) abort();
                end = b.start[bar] + b.dur[bar];
                if (end + b.fade[bar] > t.span) abort();
            }
        }
    rs_bars_free(&b);
    rs_timeline_free(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!folder[0]) set_up();
    for (int i = 0; i < FILES; i++) memcpy(files[i].changed, files[i].words, files[i].nwords * sizeof(uint64_t));
    for (size_t at = 0; at + CHANGE <= size && at < 200 * CHANGE; at += CHANGE)
        change(&files[data[at] % FILES], data + at);
    char *names[FILES];
    for (int i = 0; i < FILES; i++) write_file(&files[i], names[i] = paths[i]);
    struct rs_inputs in;
    struct rs_err err = {0};
    if (rs_inputs_open(&in, names, FILES, NULL, &err) != RS_OK) return 0;
    struct rs_model m = {0};
    enum rs_status status = rs_import(&m, &in, NULL, &err);
    if (status == RS_OK) status = rs_model_link(&m, &err);
    if (status == RS_OK) status = rs_join(&m, true, &err);
    if (status == RS_OK) analyse(&m);
    if (status == RS_OK) draw(&m, &in);
    if (status == RS_OK) read_events(&m, &in);
    if (status != RS_OK && !err.msg[0]) abort(); /* says why */
    rs_model_free(&m);
    rs_inputs_close(&in);
    return 0;
}
