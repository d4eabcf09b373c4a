#include "plugin/strings.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "format/kinds.h"
#include "plugin/facts.h"

enum { TEXTS = 4096, TEXT_BYTES = 128 * 1024, POINTERS = 2048, BUCKETS = 1024, PROBES = 8 };

struct pointer {
    const char *pointer;
    const char *text; /* our copy */
    uint64_t id;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *texts[TEXTS]; /* by id; 0 is NULL's */
static unsigned ntexts = 1;
static char text_bytes[TEXT_BYTES];
static unsigned ntext_bytes;
static struct pointer pointers[POINTERS];
static unsigned npointers;
static _Atomic(struct pointer *) buckets[BUCKETS];

static unsigned bucket_of(const char *p)
{
    return (unsigned)(((uintptr_t)p * UINT64_C(0x9e3779b97f4a7c15)) >> 54);
}

static uint64_t learn(const char *text, unsigned bucket)
{
    pthread_mutex_lock(&lock);
    unsigned id = 1;
    while (id < ntexts && strcmp(texts[id], text)) id++;
    if (id == ntexts) {
        size_t bytes = strlen(text) + 1;
        if (ntexts == TEXTS || ntext_bytes + bytes > TEXT_BYTES || !rs_fact_string(id, text)) {
            pthread_mutex_unlock(&lock);
            return RS_STRING_UNKNOWN;
        }
        texts[ntexts++] = memcpy(text_bytes + ntext_bytes, text, bytes);
        ntext_bytes += (unsigned)bytes;
    }
    /* Into the pointer's old place, else the first free one. With none left the text is found by this way each time. */
    for (unsigned i = 0; i < PROBES && npointers < POINTERS; i++) {
        _Atomic(struct pointer *) *place = &buckets[(bucket + i) % BUCKETS];
        struct pointer *old = atomic_load_explicit(place, memory_order_relaxed);
        if (old && old->pointer != text) continue;
        struct pointer *p = &pointers[npointers++];
        *p = (struct pointer){text, texts[id], id};
        atomic_store_explicit(place, p, memory_order_release);
        break;
    }
    pthread_mutex_unlock(&lock);
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
    return learn(text, bucket);
}

void rs_strings_reset(void)
{
    pthread_mutex_init(&lock, NULL); /* a forked child may have inherited it locked */
    ntexts = 1;
    ntext_bytes = npointers = 0;
    for (unsigned i = 0; i < BUCKETS; i++) atomic_store_explicit(&buckets[i], NULL, memory_order_relaxed);
}
