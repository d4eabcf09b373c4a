/* The bytes of a recording: docs/format.md in C. All numbers are little-endian; every struct has a fixed size.
 *
 *   HOST.PID.rsc    file header, then chunks, each at a multiple of 8 bytes and each readable by itself
 *   *.live          while the process runs: the live header, the slots, and the buffers that threads write into
 *
 * A chunk contains the words [from, to) of one buffer, identified by (slot, generation). What a buffer of the .live
 * file contains below its `sealed`, or below the highest `to` of a chunk of its (slot, generation), is in the .rsc file
 * already, so after a kill each record is read exactly once. A thread's buffer begins with RS_K_THREAD; RS_K_LOST, if
 * any, comes next. With RINGSCOPE_KEEP=last the event chunks wrap around in [ring_begin, ring_end) of the file, and
 * facts are appended from ring_end on. No functions here; shared by the recorder, the codec and the reader. */
#ifndef RS_FORMAT_LAYOUT_H
#define RS_FORMAT_LAYOUT_H

#include <stdint.h>

#include "format/kinds.h"

#define RS_FILE_MAGIC UINT64_C(0x0a31504f43534e52) /* "RNSCOP1\n" */
#define RS_LIVE_MAGIC UINT64_C(0x0a315645564c5352) /* "RSLVEV1\n" */
#define RS_CHUNK_MAGIC UINT32_C(0x4b435352) /* "RSCK" */

/* Features that a reader must know to read the file; it reports an unknown bit. */
enum {
    RS_FEATURE_CUT = 1, /* cut out of a larger recording: no live file, RS_K_HANDLE records, RS_FACT_CUT */
    RS_FEATURE_ALL = RS_FEATURE_CUT
};

enum rs_tick_source { RS_TICK_TSC = 1, RS_TICK_CNTVCT = 2, RS_TICK_CLOCK_RAW = 3 /* CLOCK_MONOTONIC_RAW, ns */ };

enum rs_file_state {
    RS_STATE_RUNNING = 1,
    RS_STATE_IDLE = 2, /* the last communicator was finalized; another may come */
    RS_STATE_CLOSED = 3, /* the process left through its exit handlers and everything was sealed */
};

enum rs_live_place {
    RS_LIVE_TMPFS = 1, /* a file next to the recording, on a tmpfs */
    RS_LIVE_SHM = 2, /* a file in /dev/shm */
    RS_LIVE_ANONYMOUS = 3, /* private memory: a kill loses what was not sealed (crash_safe:false) */
    RS_LIVE_DISK = 4, /* a file next to the recording, on a disk: only on request, a store may wait for the disk */
};

/* What changes while the process runs; rewritten in place about every 100 ms, and kept in the live header too. There
 * `file_end`, `sealed_records` and the counts of chunks are stored after every chunk, before the buffer's `sealed`. */
struct rs_status_block {
    uint64_t heartbeat_tick;
    uint64_t heartbeat_ns; /* CLOCK_REALTIME of the same moment */
    uint64_t file_end; /* end of the last whole chunk */
    uint64_t sealed_records; /* callbacks in chunks written so far (overwritten ones included) */
    uint64_t lost[RS_LOST_COUNTS]; /* callbacks that found no room, by loss class */
    uint64_t lost_unopened; /* callbacks that came while the recording could not be (or was not yet) opened */
    uint64_t lost_facts; /* other facts that found no room */
    uint64_t sealer_cpu_ns; /* CPU time of the background thread */
    uint32_t callback_cost_ps; /* of one callback, measured at start; picoseconds */
    uint32_t state; /* enum rs_file_state */
    uint32_t write_errno; /* of the last write that failed, 0 = none pending */
    uint32_t live_left; /* 1: closed, but not everything could be sealed: the live file belongs to the recording */
    uint64_t lost_lives; /* init and finalize calls that found no room */
    uint64_t inside_at_close; /* threads that were inside a callback when the wait for them ran out: at most as many
                               * callbacks are neither kept nor counted. UINT64_MAX: those after the close are not
                               * counted, since the file's header could not be mapped */
    uint32_t event_chunks, fact_chunks; /* written so far; 0, 0: an older recorder, which did not count them */
    uint64_t lost_late; /* callbacks that came after the recording was closed; counted in place by their threads */
};
_Static_assert(sizeof(struct rs_status_block) == 256, "status block");

struct rs_file_header {
    uint64_t magic; /* RS_FILE_MAGIC */
    uint32_t header_bytes; /* sizeof(struct rs_file_header): chunks begin here */
    uint32_t features;
    uint64_t checksum; /* XXH3-64 of the bytes from `nonce` up to `status` */
    uint32_t nonce;
    uint32_t pid;
    uint64_t created_ns; /* CLOCK_REALTIME */
    uint64_t created_tick;
    uint32_t tick_source; /* enum rs_tick_source */
    uint32_t live_place; /* enum rs_live_place */
    uint64_t ring_begin, ring_end; /* 0, 0: everything is kept */
    uint64_t process_start_ns; /* the process's start, in ns since boot: with host and pid, its identity */
    char host[64];
    char boot_id[40];
    char live_name[192]; /* of the live file: a bare name = next to this file, else a path */
    uint64_t pid_namespace; /* inode of /proc/self/ns/pid, in which the pid is valid; 0 = unknown */
    uint64_t live_inode; /* of the live file when it was created: another one is a copy; 0 = unknown */
    uint64_t reserved;
    struct rs_status_block status;
    uint8_t padding[368];
};
_Static_assert(sizeof(struct rs_file_header) == 1024, "file header");

enum rs_chunk_kind { RS_CHUNK_EVENTS = 1, RS_CHUNK_FACTS = 2 };
enum rs_chunk_coding {
    RS_CODING_RAW = 0, /* the words as they are */
    RS_CODING_PLANES_ZSTD = 1, /* codec.h, then one zstd frame */
    RS_CODING_ZSTD = 2, /* the words, in one zstd frame (facts) */
};

struct rs_chunk_header {
    uint32_t magic; /* RS_CHUNK_MAGIC */
    uint8_t kind; /* enum rs_chunk_kind */
    uint8_t coding; /* enum rs_chunk_coding */
    uint16_t header_bytes; /* sizeof(struct rs_chunk_header) */
    uint64_t checksum; /* XXH3-64 of the rest of the header, then of the stored bytes */
    uint32_t stored_bytes; /* after the header; the next chunk begins at the next multiple of 8 */
    uint32_t records; /* callbacks in it (events), or facts */
    uint64_t sequence; /* of chunks of this kind in this file, from 0 */
    uint64_t records_before; /* callbacks in all event chunks before this one */
    uint32_t nonce;
    uint32_t generation;
    uint16_t slot;
    uint16_t reserved0;
    uint32_t from, to; /* words of the buffer */
    uint32_t tid; /* of the thread that owned the slot at `from` */
    char thread_name[16];
    uint64_t first_tick, last_tick;
    uint64_t tick_base; /* at `from` */
    uint64_t next_handle; /* at `from`: the handle of the first start in it */
};
_Static_assert(sizeof(struct rs_chunk_header) == 112, "chunk header");

/* ---- the live file ---- */

enum { RS_BUFFER_BYTES = 64 * 1024, RS_LIVE_PAGE = 4096 };

struct rs_live_header {
    uint64_t magic; /* RS_LIVE_MAGIC */
    uint32_t nonce;
    uint32_t pid;
    uint32_t slots, buffers; /* counts */
    uint64_t slots_at, buffers_at; /* byte offsets */
    uint64_t process_start_ns;
    char boot_id[40];
    uint64_t lost_overflow[RS_LOST_COUNTS]; /* callbacks of threads that found no slot */
    struct rs_status_block status;
    uint32_t locked; /* 1: the process holds flock(LOCK_EX) on this file as long as it maps it: whoever gets the lock
                      * has proof that it ended, or called execve. 2: a copy, made with that proof */
    uint32_t closing; /* 1: what is in no chunk is lost, and `lost_at_close` counts it; stored after the counts */
    uint64_t lost_at_close[RS_LOST_COUNTS]; /* all losses of the recording by class, except `lost_late` */
    uint64_t mount_namespace; /* inode of /proc/self/ns/mnt, in which `recording` is valid; 0 = unknown */
    uint64_t recording_device; /* st_dev of the recording */
    char recording[3072]; /* its absolute path; "" = unknown */
    uint64_t lost_lives, lost_facts; /* as in the status, which may wait for a disk; counted at once */
};
_Static_assert(sizeof(struct rs_live_header) <= RS_LIVE_PAGE, "live header");

/* A writer slot: owned by one thread at a time. Only the owner writes; the background thread and the reader read. */
struct rs_slot {
    uint64_t lost[RS_LOST_COUNTS]; /* since the slot was created, by loss class */
    uint64_t lost_in_records[RS_LOST_COUNTS]; /* those reported by LOST records */
    uint64_t lost_first_tick, lost_last_tick; /* of the losses that no LOST record reports yet */
    uint64_t next_handle; /* of the next start, while the slot has no buffer */
    uint32_t buffer; /* index + 1 of the buffer in use, 0 = none */
    uint32_t generation; /* of the newest buffer of this slot */
    uint32_t tid; /* of the owner, 0 = free */
    uint32_t inside; /* 1: the owner is in a callback, between checking whether it may write and its commit */
    uint64_t group; /* handle of the GroupApi event that the owner has open, 0 = none */
    uint32_t group_context; /* index of its context */
    uint32_t group_state; /* bits: 1 = no more operations can come in this group call, 2 = the event was stopped */
};
_Static_assert(sizeof(struct rs_slot) == 360, "slot");

/* A buffer: 64 bytes of header, then words. `commit` is the one word that makes a record part of the recording.
 *
 *   commit   bits 0-31 words committed, bits 32-63 starts among them */
struct rs_buffer {
    uint64_t commit;
    uint64_t first_handle; /* of the first start in this buffer */
    uint64_t tick_now; /* the tick base that the next record's head counts from */
    uint64_t tick_base; /* the same, at the buffer's first word */
    uint32_t limit; /* a record may begin below this word; 0 sends the owner to the slow path */
    uint32_t generation; /* of (slot, generation); 0 = not in use */
    uint32_t slot;
    uint32_t sealed; /* words that are in chunks of the recording; written by the background thread */
    uint64_t reserved[2];
    uint64_t words[(RS_BUFFER_BYTES - 64) / 8];
};
_Static_assert(sizeof(struct rs_buffer) == RS_BUFFER_BYTES, "buffer");

/* ---- facts: what is recorded once. A facts chunk is a sequence of them, each padded to 8 bytes ---- */

enum rs_fact_type {
    RS_FACT_INFO = 1, /* key '\0' value '\0': about the process */
    RS_FACT_STRING = 2, /* u32 id, text '\0' */
    RS_FACT_COMM = 3, /* struct rs_fact_comm, name '\0': ncclProfiler init */
    RS_FACT_COMM_END = 4, /* struct rs_fact_comm_end: finalize */
    RS_FACT_CLOCK = 5, /* struct rs_fact_clock */
    RS_FACT_MASK = 6, /* u64 mask: the events requested from here on */
    RS_FACT_CAPTURED = 7, /* u64 handle, u64 tick base, the words of a start: a captured parent, never overwritten */
    RS_FACT_NOTE = 8, /* text '\0': for the user */
    RS_FACT_CUT = 9, /* struct rs_fact_cut, text '\0': what was left out, and by which filters */
    RS_FACT_CUT_OPS = 10, /* rows of struct rs_fact_cut_op: the operations as numbered in the whole recording */
    RS_FACT_CUT_STALE = 11, /* u64 handles: KernelCh events with timers of other operations, found in the whole */
    RS_FACT_CUT_UNTIL = 12, /* u64 tick: of the last callback that was left out; after it the cut is complete */
    RS_FACT_TRIGGER = 13, /* struct rs_fact_trigger: an unusual interval between calls opened a window of detail */
};

struct rs_fact_head {
    uint32_t bytes; /* of the payload after this head, without padding */
    uint16_t type;
    uint16_t reserved;
    uint64_t tick;
};
_Static_assert(sizeof(struct rs_fact_head) == 16, "fact head");

struct rs_fact_comm {
    uint64_t context;
    uint64_t comm_id; /* commHash; 0 with v1 to v3 */
    uint64_t return_tick; /* when init returned; the fact's tick is when it was called */
    uint32_t tid;
    int32_t rank, nranks, nnodes; /* -1 with v1 to v3 */
    uint8_t api; /* 1 to 7 */
    uint8_t has_name;
    uint16_t reserved;
    int32_t device; /* CUDA device, -1 = unknown */
    char bus_id[32];
    uint8_t uuid[16]; /* zeros = unknown */
};
_Static_assert(sizeof(struct rs_fact_comm) == 96, "comm fact");

struct rs_fact_trigger {
    uint64_t interval, usual; /* ticks */
};
_Static_assert(sizeof(struct rs_fact_trigger) == 16, "trigger fact");

struct rs_fact_comm_end {
    uint64_t context;
    uint32_t tid;
    uint32_t reserved;
};

/* In a recording that was cut out of another. */
struct rs_fact_cut {
    uint64_t left_out; /* callbacks of the whole recording that are not in this one; they are not losses */
    uint64_t running; /* 1: the process was still running when this was cut; else 0 */
};
enum rs_cut_kind {
    RS_CUT_STARTED = 1, /* Coll, P2p, CeColl */
    RS_CUT_CALL = 2, /* a call of which NCCL reports nothing more */
    RS_CUT_OPEN = 3, /* a call whose operation had not been started when the recording ended */
};
/* Operations are numbered by counting from the beginning, which a cut does not have: the numbers of the whole
 * recording. */
struct rs_fact_cut_op {
    uint64_t handle; /* of Coll, P2p, CeColl, or of the call if NCCL reports nothing more */
    uint64_t id; /* of the operation that it is part of */
    uint64_t seq; /* UINT64_MAX: none */
    uint32_t index; /* of a pair: in its direction */
    uint32_t captured, replay; /* of a captured call: its number, and the number of the replay; captured 0: none */
    uint8_t kind; /* enum rs_cut_kind */
    uint8_t confidence; /* percent */
    uint8_t twice; /* 1: its rank has more than one operation of this number */
    uint8_t reserved;
};
_Static_assert(sizeof(struct rs_fact_cut_op) == 40, "cut operation");

/* A bracket tick-clock-tick, the narrowest of five: the clock was read between `before` and `after`. */
struct rs_clock_bracket {
    uint64_t before, after; /* ticks */
    uint64_t ns;
};
struct rs_fact_clock {
    struct rs_clock_bracket raw; /* CLOCK_MONOTONIC_RAW */
    struct rs_clock_bracket real; /* CLOCK_REALTIME */
    uint32_t rate_jump; /* 1: ticks against RAW changed by over 100 ppm since the sample before */
    uint32_t reserved;
};
_Static_assert(sizeof(struct rs_fact_clock) == 56, "clock fact");

#endif
