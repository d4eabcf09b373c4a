#include "plugin/strings.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "format/kinds.h"
#include "plugin/facts.h"
#include "plugin/log.h"

enum { TEXTS = 4096, TEXT_BYTES = 128 * 1024, POINTERS = 2048, BUCKETS = 1024, PROBES = 8 };

struct pointer {
    const char *pointer;
    const char *text; /* our copy */
    uint64_t id;
};

static const char *texts[TEXTS]; /* by id; 0 is NULL */
static unsigned ntexts = 1;
static uint16_t by_text[2 * TEXTS]; /* ids by hash of their text; 0 = free */
static char text_bytes[TEXT_BYTES];
static unsigned ntext_bytes;
static struct pointer pointers[POINTERS];
static unsigned npointers;
static _Atomic(struct pointer *) buckets[BUCKETS];

static unsigned bucket_of(const char *p)
{
    return (unsigned)(((uintptr_t)p * UINT64_C(0x9e3779b97f4a7c15)) >> 54);
}

/* The entry of `text` in the index, or a free one (0). The index is never more than half full. */
static uint16_t *find(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (const char *c = text; *c; c++) hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    for (unsigned i = (unsigned)(hash >> 32);; i++) {
        uint16_t *place = &by_text[i % (2 * TEXTS)];
        if (!*place || !strcmp(texts[*place], text)) return place;
    }
}

/* With the lock of facts held. `full`: no room for a new text. */
static uint64_t learn(const char *text, unsigned bucket, bool *full)
{
    uint16_t *place = find(text);
    if (!*place) {
        size_t bytes = strlen(text) + 1;
        *full = ntexts == TEXTS || ntext_bytes + bytes > TEXT_BYTES;
        if (*full || !rs_fact_string(ntexts, text)) return RS_STRING_UNKNOWN;
        *place = (uint16_t)ntexts;
        texts[ntexts++] = memcpy(text_bytes + ntext_bytes, text, bytes);
        ntext_bytes += (unsigned)bytes;
    }
    unsigned id = *place;
    /* Into the pointer's old entry, else the first free one. If there is none, each lookup takes this path. */
    for (unsigned i = 0; i < PROBES && npointers < POINTERS; i++) {
        _Atomic(struct pointer *) *to = &buckets[(bucket + i) % BUCKETS];
        struct pointer *old = atomic_load_explicit(to, memory_order_relaxed);
        if (old && old->pointer != text) continue;
        struct pointer *p = &pointers[npointers++];
        *p = (struct pointer){text, texts[id], id};
        atomic_store_explicit(to, p, memory_order_release);
        break;
    }
    return id;
}

uint64_t rs_string_id(const char *text)
{
    if (!text) return RS_STRING_NULL;
    unsigned bucket = bucket_of(text);
    for (unsigned i = 0; i < PROBES; i++) {
        const struct pointer *p = atomic_load_explicit(&buckets[(bucket + i) % BUCKETS], memory_order_acquire);
        if (!p) break;
        if (p->pointer == text && !strcmp(p->text, text)) return p->id;
    }
    bool full = false;
    if (!rs_facts_lock()) return RS_STRING_UNKNOWN; /* a signal handler in the middle of this, or of a fact */
    uint64_t id = learn(text, bucket, &full);
    rs_facts_unlock();
    if (full) rs_warn_once(RS_MESSAGE_STRINGS, "too many different strings: further ones are recorded as unknown");
    return id;
}

void rs_strings_reset(void)
{
    ntexts = 1;
    memset(by_text, 0, sizeof by_text);
    ntext_bytes = npointers = 0;
    for (unsigned i = 0; i < BUCKETS; i++) atomic_store_explicit(&buckets[i], NULL, memory_order_relaxed);
}
