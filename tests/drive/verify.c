/* verify: does a recording hold what the driver did, each callback exactly once and in order?
 *
 *   verify [--truth FILE [--killed]] [--churn] [--totals] [--lossless] [--dump] RECORDING
 *
 * Prints what the recording holds as key=value. With --truth each thread's callbacks are compared with the row that
 * truth.h describes; LOST records may stand for some of them, and must count them exactly. --killed allows one callback
 * a thread that is recorded but had not returned. --totals
 * compares sums alone (of threads that inherit a slot with losses). --dump prints every value instead (expect.h). Exit status 1: it does
 * not; standard error says where. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "expect.h"
#include "nccl/abi.h"
#include "trace/callbacks.h"
#include "truth.h"

struct row {
    uint64_t k; /* the next callback */
    uint64_t base; /* handle of the first step; known once a start was seen */
    bool synced, based;
    uint64_t kept, lost;
};

static struct {
    const struct truth *truth;
    struct row rows[TRUTH_THREADS];
    bool killed, lossless, churn, dump, totals;
    uint64_t kept, others, inits, finalizes, lost_records, lost_in_records;
    uint64_t lost_placed; /* by LOST records that name a thread */
    uint64_t starts, stops, states;
    uint8_t *ranks_seen;
    uint64_t errors;
} me;

#define WRONG(...) (me.errors++ < 20 ? (void)(fprintf(stderr, __VA_ARGS__), fputc('\n', stderr)) : (void)0)

static const struct truth *map_truth(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    void *map = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof(struct truth), PROT_READ, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED) {
        perror(path);
        exit(2);
    }
    close(fd);
    return map;
}

static int row_of(uint32_t tid)
{
    for (uint32_t i = 0; i < me.truth->nthreads; i++)
        if (me.truth->threads[i].tid == tid) return (int)i;
    return -1;
}

static void check_lost(struct row *r, int index, const struct rs_callback *cb)
{
    uint64_t want[RS_LOST_COUNTS] = {0}, n = 0;
    for (int i = 0; i < RS_LOST_COUNTS; i++) n += cb->args[i];
    for (uint64_t k = r->k; k < r->k + n; k++) {
        unsigned at = (unsigned)(k % PERIOD);
        want[at == 0 ? 4 : at == 5 ? RS_LOST_STOP : RS_LOST_STATE]++;
    }
    for (int i = 0; r->synced && i < RS_LOST_COUNTS; i++)
        if (want[i] != cb->args[i])
            WRONG("thread %d, at %" PRIu64 ": %" PRIu64 " lost of class %d instead of %" PRIu64, index, r->k,
                  cb->args[i], i, want[i]);
    /* A mark that the reader made for losses without one stands where they begin. */
    if (cb->lost_first > cb->lost_last || (cb->lost_last > cb->tick && cb->tick != cb->lost_first))
        WRONG("thread %d: lost from tick %" PRIu64 " to %" PRIu64 ", noted at %" PRIu64, index, cb->lost_first,
              cb->lost_last, cb->tick);
    r->k += n;
    r->lost += n;
    me.lost_placed += n;
}

/* What number a callback tells by itself; false: none. */
static bool number_of(const struct rs_callback *cb, uint64_t *k)
{
    if (cb->call == RS_CALL_START)
        *k = cb->small * PERIOD;
    else if (cb->call == RS_CALL_STATE && cb->has_arg)
        *k = cb->args[0];
    else
        return false;
    return true;
}

static void check_callback(struct row *r, int index, const struct rs_callback *cb)
{
    static const int states[PERIOD] = {
        -1, RS_ST_STEP_SEND_GPU_WAIT, RS_ST_STEP_SEND_PEER_WAIT, RS_ST_STEP_SEND_WAIT, RS_ST_OP_IN_PROGRESS, -1};
    uint64_t k = 0;
    bool told = number_of(cb, &k);
    r->kept++;
    if (!r->synced) {
        if (!told) return; /* the first kept in a ring */
        r->synced = true;
        r->k = k;
    }
    unsigned at = (unsigned)(r->k % PERIOD);
    enum rs_call want = at == 0 ? RS_CALL_START : at == 5 ? RS_CALL_STOP : RS_CALL_STATE;
    if (cb->call != want || (told && k != r->k) || (want == RS_CALL_STATE && cb->state != states[at])) {
        WRONG("thread %d, at %" PRIu64 ": call %d, state %d, number %" PRId64, index, r->k, (int)cb->call, cb->state,
              told ? (int64_t)k : -1);
        if (told) r->k = k;
    }
    if (!r->based && cb->call == RS_CALL_START) {
        r->base = cb->handle - r->k / PERIOD;
        r->based = true;
    }
    if (r->based && cb->handle != r->base + r->k / PERIOD)
        WRONG("thread %d, at %" PRIu64 ": handle 0x%" PRIx64 " instead of 0x%" PRIx64, index, r->k, cb->handle,
              r->base + r->k / PERIOD);
    if (cb->call == RS_CALL_START &&
        (cb->rank != index || cb->type != RS_PROXY_STEP || cb->parent != (r->k ? r->base + r->k / PERIOD - 1 : 0)))
        WRONG("thread %d, at %" PRIu64 ": a start with rank %" PRId64 ", parent 0x%" PRIx64, index, r->k, cb->rank,
              cb->parent);
    r->k++;
}

static void check_churn(const struct rs_callback *cb)
{
    if (cb->call != RS_CALL_START) return;
    if (cb->rank < 0 || cb->rank >= me.truth->churned || me.ranks_seen[cb->rank]++)
        WRONG("thread %" PRId64 " of %u: not there, or twice", cb->rank, me.truth->churned);
}

static void check(const struct rs_callback *cb)
{
    if (cb->recovered) return; /* it counts as overwritten */
    if (cb->call == RS_CALL_LOST) {
        me.lost_records++;
        for (int i = 0; i < RS_LOST_COUNTS; i++) me.lost_in_records += cb->args[i];
    } else if (cb->call == RS_CALL_INIT) {
        me.inits++;
        return;
    } else if (cb->call == RS_CALL_FINALIZE) {
        me.finalizes++;
        return;
    } else {
        me.kept++;
        *(cb->call == RS_CALL_START ? &me.starts : cb->call == RS_CALL_STOP ? &me.stops : &me.states) += 1;
    }
    if (!me.truth) return;
    if (me.totals) return;
    if (me.churn) {
        check_churn(cb);
        return;
    }
    int index = row_of(cb->tid);
    if (index < 0) {
        me.others += cb->call != RS_CALL_LOST;
        return;
    }
    if (cb->call == RS_CALL_LOST)
        check_lost(&me.rows[index], index, cb);
    else
        check_callback(&me.rows[index], index, cb);
}

static void check_ends(const struct rs_recording *r)
{
    const struct truth *t = me.truth;
    uint64_t lives = r->header.status.lost_lives; /* init and finalize are told apart below */
    uint64_t lost = rs_recording_lost(r) - lives, pending = lost - me.lost_placed, returned = 0, reached = 0;
    for (uint32_t i = 0; i < t->nthreads && !me.churn; i++) {
        const struct row *row = &me.rows[i];
        uint64_t n = t->threads[i].returned;
        returned += n;
        if (me.totals) continue;
        reached += row->k;
        if (row->k > n + me.killed) WRONG("thread %u: %" PRIu64 " recorded, %" PRIu64 " returned", i, row->k, n);
        if (row->k + pending < n)
            WRONG("thread %u: only %" PRIu64 " recorded, %" PRIu64 " returned, %" PRIu64 " lost besides", i, row->k, n,
                  pending);
    }
    if (me.churn) returned = (uint64_t)t->churned * PERIOD;
    bool rows = !me.churn && !me.totals;
    if (rows && (reached + pending < returned ||
                 (!r->overwritten && reached + pending > returned + (me.killed ? t->nthreads : 0))))
        WRONG("%" PRIu64 " recorded or marked lost, %" PRIu64 " lost besides, %" PRIu64 " returned", reached, pending,
              returned);
    returned += t->extra;
    uint64_t sum = me.kept + r->overwritten + lost + r->damaged;
    if (sum < returned || sum > returned + (me.killed ? t->nthreads : 0))
        WRONG("%" PRIu64 " kept + %" PRIu64 " overwritten + %" PRIu64 " lost + %" PRIu64 " damaged is not %" PRIu64,
              me.kept, r->overwritten, lost, r->damaged, returned);
    uint64_t sent = t->inits + t->finalizes, seen = me.inits + me.finalizes + lives;
    if (me.inits > t->inits + me.killed || me.finalizes > t->finalizes + me.killed || seen < sent ||
        seen > sent + me.killed)
        WRONG("%" PRIu64 " inits and %" PRIu64 " finalizes kept, %" PRIu64 " lost, instead of %u and %u", me.inits,
              me.finalizes, lives, t->inits, t->finalizes);
    printf("returned=%" PRIu64 "\n", returned);
}

/* ---- --dump ---- */

static void dump_fields(unsigned n, const char *what, const struct rs_callback *cb, const struct rs_process *p)
{
    for (const struct rs_field *f = rs_callback_fields(cb); f && f->name; f++) {
        uint64_t v = rs_callback_field(cb, f);
        switch (f->format) {
        case RS_F_INT: say_int(n, what, f->name, (int64_t)v); break;
        case RS_F_POINTER:
        case RS_F_HANDLE: say_hex(n, what, f->name, v); break;
        case RS_F_STRING: say_text(n, what, f->name, rs_process_string(p, v)); break;
        default: say_uint(n, what, f->name, v); break;
        }
    }
}

static void dump(unsigned n, const struct rs_callback *cb, const struct rs_process *p)
{
    if (cb->call == RS_CALL_START) {
        say_hex(n, "start", ".type", cb->type);
        say_hex(n, "start", ".handle", cb->handle);
        say_hex(n, "start", ".parent", cb->parent);
        say_hex(n, "start", ".context", cb->context);
        say_int(n, "start", ".rank", cb->rank);
        dump_fields(n, "start.args.", cb, p);
    } else if (cb->call == RS_CALL_STOP) {
        say_hex(n, "stop", ".handle", cb->handle);
    } else {
        say_hex(n, "state", ".handle", cb->handle);
        say_int(n, "state", ".state", cb->state);
        if (rs_callback_fields(cb))
            dump_fields(n, "state.args.", cb, p);
        else if (cb->kind == RS_K_STATE_V1)
            say_int(n, "state", ".steps", (int32_t)(cb->args[0] >> 32)),
                say_uint(n, "state", ".transSize", cb->args[1]);
        else if (cb->has_arg)
            say_uint(n, "state", ".arg", cb->args[cb->kind == RS_K_STATE_RAW]);
    }
}

static void print(const struct rs_recording *r, const struct rs_process *p)
{
    const struct rs_status_block *st = &r->header.status;
    printf("kept=%" PRIu64 "\nlost=%" PRIu64 "\noverwritten=%" PRIu64 "\ndamaged=%" PRIu64 "\n", me.kept,
           rs_recording_lost(r), r->overwritten, r->damaged);
    printf("lost_records=%" PRIu64 "\nlost_in_records=%" PRIu64 "\nlost_facts=%" PRIu64 "\nlost_unopened=%" PRIu64 "\n",
           me.lost_records, me.lost_in_records, st->lost_facts, st->lost_unopened);
    printf("starts=%" PRIu64 "\nstops=%" PRIu64 "\nstates=%" PRIu64 "\nothers=%" PRIu64 "\n", me.starts, me.stops,
           me.states, me.others);
    printf("inits=%" PRIu64 "\nfinalizes=%" PRIu64 "\nstate=%u\nlive_left=%u\nplace=%u\nlive_missing=%d\n", me.inits,
           me.finalizes, st->state, st->live_left, r->header.live_place, r->live_missing);
    printf("host=%s\nbytes=%zu\ndamages=%zu\n", r->header.host, r->file.size, r->ndamages);
    for (size_t i = 0; i < r->ndamages; i++)
        printf("damage=%s %" PRIu64 " %" PRIu64 " %s\n", r->damages[i].path, r->damages[i].offset, r->damages[i].bytes,
               r->damages[i].why);
    for (size_t i = 0; i < p->nclocks; i++) printf("clock_real=%" PRIu64 "\n", p->clocks[i].real.ns);
    for (size_t i = 0; i < p->nmasks; i++) printf("mask=0x%" PRIx64 "\n", p->masks[i].mask);
    for (size_t i = 0; i < p->nnotes; i++) printf("note=%s\n", p->notes[i].text);
    for (size_t i = 0; i < p->ninfos; i++) printf("info.%s=%s\n", p->infos[i].key, p->infos[i].value);
    for (size_t i = 0; i < p->ncaptured; i++) printf("captured=0x%" PRIx64 "\n", p->captured[i].handle);
    for (size_t i = 0; i < p->ncomms; i++)
        printf("comm=%d 0x%" PRIx64 " %d/%d on %d %s%s\n", p->comms[i].fact.api, p->comms[i].fact.comm_id,
               p->comms[i].fact.rank, p->comms[i].fact.nranks, p->comms[i].fact.nnodes,
               p->comms[i].name ? "named " : "nameless", p->comms[i].name ? p->comms[i].name : "");
}

int main(int argc, char **argv)
{
    const char *path = NULL;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--truth") && i + 1 < argc)
            me.truth = map_truth(argv[++i]);
        else if (!strcmp(argv[i], "--killed"))
            me.killed = true;
        else if (!strcmp(argv[i], "--lossless"))
            me.lossless = true;
        else if (!strcmp(argv[i], "--churn"))
            me.churn = true;
        else if (!strcmp(argv[i], "--totals"))
            me.totals = true;
        else if (!strcmp(argv[i], "--dump"))
            me.dump = true;
        else
            path = argv[i];
    }
    if (me.truth) me.ranks_seen = calloc(me.truth->churned + 1u, 1);
    struct rs_err err = {0};
    struct rs_recording *r;
    struct rs_process p;
    struct rs_cursor *cursor;
    if (!path || rs_recording_open(&r, path, &err) != RS_OK) {
        fprintf(stderr, "%s\n", path ? err.msg : "verify [--truth FILE [--killed]] [--churn] RECORDING");
        return 2;
    }
    rs_process_read(&p, r);
    rs_cursor_open(&cursor, r, &p);
    /* Without a ring every row begins with its first callback. */
    for (int i = 0; i < TRUTH_THREADS; i++) me.rows[i].synced = !r->header.ring_end;
    struct rs_callback cb;
    unsigned n = 0;
    for (uint64_t tick = 0; rs_cursor_next(cursor, &cb); tick = cb.tick) {
        bool record = cb.call != RS_CALL_INIT && cb.call != RS_CALL_FINALIZE && cb.call != RS_CALL_LOST;
        if (me.dump && record) dump(n++, &cb, &p);
        if (cb.tick < tick) WRONG("time goes back from tick %" PRIu64 " to %" PRIu64, tick, cb.tick);
        check(&cb);
    }
    if (me.truth) check_ends(r);
    if (me.lossless &&
        (rs_recording_lost(r) || r->overwritten || r->damaged || r->ndamages || r->header.status.lost_facts))
        WRONG("something is missing");
    if (!me.dump) print(r, &p);
    rs_cursor_close(cursor);
    rs_process_free(&p);
    rs_recording_close(r);
    free(me.ranks_seen);
    return me.errors != 0;
}
