/* Any bytes, scanned from memory and unpacked from gzip in small blocks: the same tokens; skipping ends where walking
 * does; and any bytes taken as a packed file. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/packed.h"
#include "base/scan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int fine)
{
    if (!fine) abort();
}

/* What a token says: nothing of it may read or write outside. */
static void take(const struct rs_scan *s)
{
    uint64_t u;
    int64_t i;
    double d;
    char small[5], *exact = malloc(s->n * 3 + 1); /* a NUL becomes three bytes */
    rs_scan_u64(s, &u);
    rs_scan_i64(s, &i);
    rs_scan_fixed(s, 3, &i);
    rs_scan_double(s, &d);
    must(rs_scan_text(s, small, sizeof small) < sizeof small);
    if (exact) {
        size_t n = rs_scan_text(s, exact, s->n * 3 + 1);
        must(strlen(exact) == n);
    }
    free(exact);
}

/* Every token in turn must be had from both. */
static void same(struct rs_scan *a, struct rs_scan *b, size_t size)
{
    enum rs_token t, before = RS_T_CLOSE;
    for (size_t most = 2 * size + 1;; most--) {
        must(most > 0); /* never more than two for a byte: a key and the value that it lacks */
        t = rs_scan_next(a);
        must(rs_scan_next(b) == t && a->n == b->n && a->depth == b->depth && a->offset == b->offset);
        must(a->n == 0 || !memcmp(a->text, b->text, a->n));
        must(before != RS_T_KEY || t == RS_T_END || (t != RS_T_CLOSE && t != RS_T_KEY));
        if (t == RS_T_END) break;
        if (a->n <= 256) take(a);
        before = t;
    }
    must(a->cut == b->cut && a->offset == size);
}

/* The first brackets, skipped and walked through. */
static void skipped(const char *text, size_t n)
{
    struct rs_scan a, b;
    rs_scan_memory(&a, text, n);
    rs_scan_memory(&b, text, n);
    for (int tries = 0; tries < 16; tries++) {
        enum rs_token t = rs_scan_next(&a);
        must(rs_scan_next(&b) == t);
        if (t == RS_T_END) return;
        if (t != RS_T_OBJECT && t != RS_T_ARRAY) continue;
        if (tries % 2 == 0) continue; /* goes in */
        unsigned depth = a.depth;
        rs_scan_skip(&a);
        while (b.depth >= depth && rs_scan_next(&b) != RS_T_END) continue;
        must(a.depth == b.depth && a.at == b.at && a.cut == b.cut);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > 1 << 16) return 0;
    size_t block = 1 + data[0] % 64;
    data++;
    size--;
    char *copy = malloc(size + !size); /* nothing readable behind it */
    if (!copy) return 0;
    memcpy(copy, data, size);
    struct rs_scan a, b;
    struct rs_bytes *bytes;
    skipped(copy, size);
    int packing = can_pack(RS_GZIP) ? RS_GZIP : RS_ZSTD;
    if (can_pack(packing)) {
        struct packed p = {0};
        pack(&p, packing, copy, size);
        must(rs_bytes_memory(&bytes, "it", p.data, p.n, block, NULL) == RS_OK);
        rs_scan_memory(&a, copy, size);
        rs_scan_bytes(&b, bytes);
        same(&a, &b, size);
        must(b.err.code == RS_OK);
        rs_scan_free(&b);
        rs_bytes_close(bytes);
        free(p.data);
    }
    if (rs_bytes_memory(&bytes, "it", copy, size, 4096, NULL) == RS_OK) {
        rs_scan_bytes(&b, bytes);
        for (size_t most = 1 << 20; most > 0 && rs_scan_next(&b) != RS_T_END;) most--;
        rs_scan_free(&b);
        rs_bytes_close(bytes);
    }
    free(copy);
    return 0;
}
