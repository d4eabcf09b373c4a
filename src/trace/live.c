#include "trace/live.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

char *rs_live_path_of(const char *path)
{
    size_t n = strlen(path);
    char *to = rs_alloc(n + 6);
    memcpy(to, path, n + 1);
    if (n > 4 && !strcmp(to + n - 4, ".rsc")) to[n - 4] = 0;
    return strcat(to, ".live");
}

static bool is_of(const struct rs_file_map *map, const struct rs_file_header *h)
{
    const struct rs_live_header *l = (const void *)map->data;
    return map->size >= sizeof *l && l->magic == RS_LIVE_MAGIC && l->nonce == h->nonce && l->pid == h->pid &&
           !strncmp(l->boot_id, h->boot_id, sizeof l->boot_id);
}

/* Maps the live file of this process from the first of the two places that has it, and checks whether the process is
 * running. */
static void find(struct rs_live *live, struct rs_file_map *map, const char *recording_path,
                 const struct rs_file_header *h, struct rs_err *err)
{
    char *paths[2] = {rs_live_path_of(recording_path), h->live_name[0] == '/' ? rs_strdup(h->live_name) : NULL};
    if (!paths[0]) rs_memory_out();
    for (int i = 0; i < 2 && !live->path; i++) {
        int fd = paths[i] ? open(paths[i], O_RDONLY | O_CLOEXEC | O_NONBLOCK | (i ? O_NOFOLLOW : 0)) : -1;
        struct stat st;
        if (fd < 0) continue; /* not there, or not readable: the same */
        if (!fstat(fd, &st) && S_ISREG(st.st_mode) && rs_file_map_fd(map, fd, paths[i], err) == RS_OK) {
            if (is_of(map, h)) {
                live->alive = rs_process_alive(h, fd, ((const struct rs_live_header *)map->data)->locked);
                live->path = paths[i];
                paths[i] = NULL;
            } else {
                rs_file_unmap(map);
            }
        }
        close(fd);
    }
    if (!live->path) live->alive = rs_process_alive(h, -1, 0);
    free(paths[0]);
    free(paths[1]);
}

static void damage(struct rs_live *live, uint64_t offset, uint64_t bytes, const char *why)
{
    if (live->ndamages == sizeof live->damages / sizeof *live->damages) return;
    struct rs_damage *d = &live->damages[live->ndamages++];
    d->offset = offset;
    d->bytes = bytes;
    snprintf(d->why, sizeof d->why, "%s", why);
}

/* Copies the contents of `b`, if it is in use and was not reused meanwhile. */
static void copy_buffer(struct rs_live *live, const struct rs_buffer *b, uint64_t offset, uint32_t nonce)
{
    uint32_t generation = __atomic_load_n(&b->generation, __ATOMIC_ACQUIRE);
    uint64_t commit = __atomic_load_n(&b->commit, __ATOMIC_ACQUIRE);
    uint32_t words = (uint32_t)commit;
    if (!generation || !words) return;
    if (words > sizeof b->words / 8) {
        damage(live, offset, RS_BUFFER_BYTES, "a buffer has more words than fit");
        return;
    }
    struct rs_segment p = {.offset = offset, .skip = __atomic_load_n(&b->sealed, __ATOMIC_RELAXED)};
    p.header = (struct rs_chunk_header){.kind = b->slot == RS_SLOT_FACTS ? RS_CHUNK_FACTS : RS_CHUNK_EVENTS,
                                        .coding = RS_CODING_RAW,
                                        .stored_bytes = words * 8,
                                        .nonce = nonce,
                                        .generation = generation,
                                        .slot = (uint16_t)b->slot,
                                        .to = words,
                                        .tick_base = b->tick_base,
                                        .next_handle = b->first_handle};
    p.copy = rs_alloc(p.header.stored_bytes);
    memcpy(p.copy, b->words, p.header.stored_bytes);
    p.stored = p.copy;
    __atomic_thread_fence(__ATOMIC_ACQUIRE); /* the words are read before `generation` is checked */
    if (__atomic_load_n(&b->generation, __ATOMIC_ACQUIRE) != generation) { /* sealed and reused: it is in a chunk */
        free(p.copy);
        return;
    }
    live->segments[live->nsegments++] = p;
}

/* Losses that no LOST record reports: as the LOST record that the slot would have written next. */
static void add_unmarked(struct rs_live *live, const struct rs_slot *s, uint16_t slot, uint32_t nonce)
{
    enum { WORDS = 3 + RS_LOST_COUNTS };
    uint64_t w[WORDS] = {RS_K_LOST, s->lost_first_tick, s->lost_last_tick}, sum = 0;
    for (int c = 0; c < RS_LOST_COUNTS; c++) sum += w[3 + c] = s->lost[c] - s->lost_in_records[c];
    if (!sum) return;
    struct rs_segment p = {.copy = rs_alloc(sizeof w)};
    p.stored = memcpy(p.copy, w, sizeof w);
    p.header = (struct rs_chunk_header){.kind = RS_CHUNK_EVENTS,
                                        .coding = RS_CODING_RAW,
                                        .stored_bytes = sizeof w,
                                        .nonce = nonce,
                                        .generation = UINT32_MAX, /* after all of the slot's buffers */
                                        .slot = slot,
                                        .to = WORDS,
                                        .tid = s->tid,
                                        .tick_base = s->lost_first_tick};
    live->segments[live->nsegments++] = p;
}

/* What is in no chunk was discarded when the recording closed: it is in the losses. */
static void drop_events(struct rs_live *live, const struct rs_live_header *l)
{
    size_t kept = 0;
    live->closing = true;
    for (size_t i = 0; i < live->nsegments; i++) {
        if (live->segments[i].header.kind == RS_CHUNK_FACTS)
            live->segments[kept++] = live->segments[i];
        else
            free(live->segments[i].copy);
    }
    live->nsegments = kept;
    for (int c = 0; c < RS_LOST_COUNTS; c++) live->lost[c] = l->lost_at_close[c];
}

void rs_live_open(struct rs_live *live, const char *recording_path, const struct rs_file_header *header,
                  struct rs_err *err)
{
    struct rs_file_map map = {0};
    find(live, &map, recording_path, header, err);
    if (!live->path) return;
    const struct rs_live_header *l = (const void *)map.data;
    live->status = l->status;
    if (l->lost_lives > live->status.lost_lives) live->status.lost_lives = l->lost_lives;
    if (l->lost_facts > live->status.lost_facts) live->status.lost_facts = l->lost_facts;
    uint64_t slots_end = l->slots_at + (uint64_t)l->slots * sizeof(struct rs_slot);
    if (l->slots_at > map.size || slots_end > map.size || l->slots > RS_SLOT_LIMIT || l->slots_at % 8 ||
        l->buffers_at > map.size || l->buffers_at % 8) {
        damage(live, 0, sizeof *l, "the live file's header is invalid, or the file is truncated");
        rs_file_unmap(&map);
        return;
    }
    const struct rs_slot *slots = (const void *)(map.data + l->slots_at);
    uint64_t fit = (map.size - l->buffers_at) / RS_BUFFER_BYTES;
    if (fit < l->buffers) damage(live, map.size, (l->buffers - fit) * RS_BUFFER_BYTES, "the live file is truncated");
    uint32_t n = fit < l->buffers ? (uint32_t)fit : l->buffers;
    live->nslots = l->slots;
    live->generations = rs_zalloc((size_t)l->slots + 1, sizeof *live->generations);
    live->segments = rs_zalloc((size_t)n + l->slots + 1, sizeof *live->segments);
    for (uint32_t i = 0; i < l->slots; i++) {
        live->generations[i] = __atomic_load_n(&slots[i].generation, __ATOMIC_ACQUIRE);
        add_unmarked(live, &slots[i], (uint16_t)i, header->nonce);
    }
    for (uint32_t i = 0; i < n; i++) {
        uint64_t at = l->buffers_at + (uint64_t)i * RS_BUFFER_BYTES;
        copy_buffer(live, (const void *)(map.data + at), at, header->nonce);
    }
    /* Last: until the recording closes, what is counted as lost is in no buffer. */
    for (int c = 0; c < RS_LOST_COUNTS; c++) {
        live->lost[c] = l->lost_overflow[c];
        for (uint32_t i = 0; i < l->slots; i++) live->lost[c] += __atomic_load_n(&slots[i].lost[c], __ATOMIC_RELAXED);
    }
    if (__atomic_load_n(&l->closing, __ATOMIC_ACQUIRE)) drop_events(live, l);
    if (rs_file_trouble(&map)) damage(live, 0, map.size, rs_file_trouble(&map));
    rs_file_unmap(&map);
}

void rs_live_close(struct rs_live *live)
{
    for (size_t i = 0; i < live->nsegments; i++) free(live->segments[i].copy);
    free(live->segments);
    free(live->generations);
    free(live->path);
    *live = (struct rs_live){0};
}
