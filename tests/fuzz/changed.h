/* Real recordings with any words changed: what fuzzers of everything behind the reading begin with.
 *
 * Two recordings of tests/data are unpacked once. An input is a list of changes: which file, which word, and what becomes
 * of it. The files are written anew with right checksums, so that the changes are believed, and read as a user would. */
#ifndef RS_TESTS_FUZZ_CHANGED_H
#define RS_TESTS_FUZZ_CHANGED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "import/import.h"
#include "join/join.h"

enum { FILES = 2, MOST_WORDS = 1 << 16, CHANGE = 14 };

static const char *const originals[FILES]; /* the recordings: whoever includes this names them */

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

static void take(struct unpacked *u, struct rs_recording *r, struct rs_segment *pieces, size_t n)
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

static void write_changed(const struct unpacked *u, const char *path)
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

/* Reads and joins what the changes make of the recordings. False: nothing is left, and nothing is to be freed. */
static bool read_changed(struct rs_inputs *in, struct rs_model *m, const uint8_t *data, size_t size)
{
    if (!folder[0]) set_up();
    for (int i = 0; i < FILES; i++) memcpy(files[i].changed, files[i].words, files[i].nwords * sizeof(uint64_t));
    for (size_t at = 0; at + CHANGE <= size && at < 200 * CHANGE; at += CHANGE)
        change(&files[data[at] % FILES], data + at);
    char *names[FILES];
    for (int i = 0; i < FILES; i++) write_changed(&files[i], names[i] = paths[i]);
    struct rs_err err = {0};
    if (rs_inputs_open(in, names, FILES, NULL, &err) != RS_OK) return false;
    *m = (struct rs_model){0};
    enum rs_status status = rs_import(m, in, NULL, &err);
    if (status == RS_OK) rs_model_link(m);
    if (status == RS_OK) status = rs_join(m, true, &err);
    if (status == RS_OK) return true;
    if (!err.msg[0]) abort(); /* says why */
    rs_model_free(m);
    rs_inputs_close(in);
    return false;
}

#endif
