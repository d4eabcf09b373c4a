#include "foreign/example/args.h"

#include <stddef.h>
#include <string.h>

#include "model/model.h"
#include "nccl/names.h"

enum { LONGEST_TEXT = 256 };

static enum rs_status take_text(const struct rs_scan *s, struct rs_texts *t, uint16_t *id, struct rs_err *err)
{
    char text[LONGEST_TEXT];
    rs_scan_text(s, text, sizeof text);
    return rs_texts_small_id(t, text, strlen(text), id, err);
}

/* 2.23 wrote ncclDataType_t as a number. */
static enum rs_status take_dtype(const struct rs_scan *s, struct rs_texts *t, uint16_t *id, struct rs_err *err)
{
    uint64_t number;
    const char *name = rs_scan_u64(s, &number) && number < 256 ? rs_nccl_datatype_v1((unsigned)number) : NULL;
    if (name) return rs_texts_small_id(t, name, strlen(name), id, err);
    return take_text(s, t, id, err);
}

const struct rs_example_args rs_example_no_args = {.seq = UINT64_MAX,
                                                   .cpu_begin = RS_TIME_NONE,
                                                   .cpu_end = RS_TIME_NONE,
                                                   .cpu_ns = RS_TIME_NONE,
                                                   .at = {RS_TIME_NONE, RS_TIME_NONE, RS_TIME_NONE, RS_TIME_NONE},
                                                   .done = {-1, -1, -1, -1},
                                                   .group = -1,
                                                   .depth = -1,
                                                   .root = -1,
                                                   .captured = -1,
                                                   .rank = -1,
                                                   .peer = -1,
                                                   .nchannels = -1,
                                                   .channel = -1,
                                                   .steps = -1,
                                                   .chunk = -1,
                                                   .appended = -1,
                                                   .step = -1,
                                                   .device = -1,
                                                   .qp = -1,
                                                   .opcode = -1,
                                                   .sock = -1,
                                                   .op = -1,
                                                   .nranks = -1,
                                                   .nops = -1};

enum take { U64, I32, NS, TEXT, DTYPE };

static const struct {
    const char *key;
    enum take take;
    size_t at;
} fields[] = {
    {"CommHash", U64, offsetof(struct rs_example_args, comm)},
    {"SeqNum", U64, offsetof(struct rs_example_args, seq)},
    {"Rank", I32, offsetof(struct rs_example_args, rank)},
    {"Peer", I32, offsetof(struct rs_example_args, peer)},
    {"Count", U64, offsetof(struct rs_example_args, count)},
    {"count", U64, offsetof(struct rs_example_args, count)},
    {"Datatype", DTYPE, offsetof(struct rs_example_args, dtype)},
    {"datatype", DTYPE, offsetof(struct rs_example_args, dtype)},
    {"Algorithm", TEXT, offsetof(struct rs_example_args, algo)},
    {"Protocol", TEXT, offsetof(struct rs_example_args, proto)},
    {"nChannels", I32, offsetof(struct rs_example_args, nchannels)},
    {"nMaxChannels", I32, offsetof(struct rs_example_args, nchannels)},
    {"Step", I32, offsetof(struct rs_example_args, step)},
    {"Channel", I32, offsetof(struct rs_example_args, channel)},
    {"StartGpuClk", U64, offsetof(struct rs_example_args, start_clock)},
    {"StopGpuClk", U64, offsetof(struct rs_example_args, stop_clock)},
    {"Steps", I32, offsetof(struct rs_example_args, steps)},
    {"ChunkSize", I32, offsetof(struct rs_example_args, chunk)},
    {"transSize", U64, offsetof(struct rs_example_args, bytes)},
    {"appended", I32, offsetof(struct rs_example_args, appended)},
    {"groupApiId", I32, offsetof(struct rs_example_args, group)},
    {"groupId", I32, offsetof(struct rs_example_args, group)},
    {"groupDepth", I32, offsetof(struct rs_example_args, depth)},
    {"root", I32, offsetof(struct rs_example_args, root)},
    {"GraphCaptured", I32, offsetof(struct rs_example_args, captured)},
    {"Stream", U64, offsetof(struct rs_example_args, stream)},
    {"device", I32, offsetof(struct rs_example_args, device)},
    {"qp_num", I32, offsetof(struct rs_example_args, qp)},
    {"opcode", I32, offsetof(struct rs_example_args, opcode)},
    {"wr_id", U64, offsetof(struct rs_example_args, wr_id)},
    {"size", U64, offsetof(struct rs_example_args, bytes)},
    {"sock", I32, offsetof(struct rs_example_args, sock)},
    {"op", I32, offsetof(struct rs_example_args, op)},
    {"eventId", U64, offsetof(struct rs_example_args, event_id)},
    {"strategy", TEXT, offsetof(struct rs_example_args, strategy)},
    {"type", TEXT, offsetof(struct rs_example_args, type)},
    {"nRanks", I32, offsetof(struct rs_example_args, nranks)},
    {"numOps", I32, offsetof(struct rs_example_args, nops)},
    {"totalBytes", U64, offsetof(struct rs_example_args, bytes)},
    {"start_ts_cpu", NS, offsetof(struct rs_example_args, cpu_begin)},
    {"stop_ts_cpu", NS, offsetof(struct rs_example_args, cpu_end)},
    {"duration_cpu_us", NS, offsetof(struct rs_example_args, cpu_ns)},
    {"duration_gpu_us", U64, offsetof(struct rs_example_args, gpu_us)},
};

/* Microseconds with a point into ns; what is 0 was not stamped. */
int64_t rs_example_time(const struct rs_scan *s)
{
    int64_t ns;
    return rs_scan_fixed(s, 3, &ns) && ns ? ns : RS_TIME_NONE;
}

static int32_t take_i32(const struct rs_scan *s)
{
    int64_t v;
    return rs_scan_i64(s, &v) && v >= INT32_MIN && v <= INT32_MAX ? (int32_t)v : -1;
}

static enum rs_status take_field(const struct rs_scan *s, size_t i, struct rs_texts *texts, struct rs_example_args *a,
                                 struct rs_err *err)
{
    void *to = (char *)a + fields[i].at;
    uint64_t v;
    switch (fields[i].take) {
    case U64:
        if (!rs_scan_u64(s, &v)) break;
        memcpy(to, &v, sizeof v);
        a->has_comm |= fields[i].at == offsetof(struct rs_example_args, comm);
        break;
    case I32: *(int32_t *)to = take_i32(s); break;
    case NS: *(int64_t *)to = rs_example_time(s); break;
    case TEXT: return take_text(s, texts, to, err);
    case DTYPE: return take_dtype(s, texts, to, err);
    }
    return RS_OK;
}

/* Before 2.27 a proxy operation said in its arguments when it reached each state: {"step": 3, "ts": 1.5}. */
static int state_of(const struct rs_scan *s)
{
    static const char *const names[] = {"POSTED", "REM_FIFO_WAIT", "RECEIVED", "TRANSMITTED", "DONE"};
    static const int states[] = {RS_EX_POSTED, RS_EX_WAITED, RS_EX_WAITED, RS_EX_TRANSMITTED, RS_EX_DONE};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (rs_scan_is(s, names[i])) return states[i];
    return -1;
}

/* What the key that came last is: an index of fields[], or -1. */
static int field_of(const struct rs_scan *s)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (rs_scan_is(s, fields[i].key)) return (int)i;
    return -1;
}

enum rs_status rs_example_args_read(struct rs_scan *s, struct rs_texts *texts, struct rs_example_args *args, bool *fine,
                                    bool *again, struct rs_err *err)
{
    unsigned depth = s->depth;
    int state = -1;
    for (*fine = false;;) {
        enum rs_token token = rs_scan_next(s);
        if (token == RS_T_END) return RS_OK;
        if (token == RS_T_CLOSE) {
            if (s->depth >= depth) state = -1; /* of a state */
            if (s->depth < depth) break;
            continue;
        }
        if (token == RS_T_OBJECT) {
            *again = true; /* no key was before it */
            return RS_OK;
        }
        if (token != RS_T_KEY) continue;
        int field = state < 0 ? field_of(s) : -1, next = state < 0 ? state_of(s) : -1;
        bool step = state >= 0 && rs_scan_is(s, "step"), ts = state >= 0 && rs_scan_is(s, "ts");
        token = rs_scan_next(s);
        if (token == RS_T_END) return RS_OK;
        if (token == RS_T_OBJECT || token == RS_T_ARRAY) {
            if (next >= 0 && token == RS_T_OBJECT)
                state = next;
            else
                rs_scan_leave(s, s->depth);
        } else if (token == RS_T_CLOSE) {
            if (s->depth < depth) break;
        } else if (step) {
            args->done[state] = take_i32(s);
        } else if (ts) {
            args->at[state] = rs_example_time(s);
        } else if (field >= 0) {
            RS_TRY(take_field(s, (size_t)field, texts, args, err));
        }
    }
    *fine = true;
    return RS_OK;
}
