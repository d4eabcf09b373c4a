/* docs/format.md against the code: every struct, every constant and every kind must stand there as they are here. Each
 * row that is expected but missing is printed, ready to be put into the document. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "format/codec.h"
#include "format/handle.h"
#include "format/layout.h"
#include "nccl/names.h"

static char doc[1 << 20]; /* the document, with a newline in front */
static int missing;

static int load(void **state)
{
    (void)state;
    struct rs_file_map map;
    struct rs_err err;
    if (rs_file_map(&map, "docs/format.md", &err) != RS_OK) {
        print_error("%s (tests run in the root of the sources)\n", err.msg);
        return -1;
    }
    bool fits = map.size + 2 < sizeof doc;
    doc[0] = '\n';
    if (fits) memcpy(doc + 1, map.data, map.size);
    rs_file_unmap(&map);
    return fits ? 0 : -1;
}

/* The section whose heading contains `heading`: from there up to the next heading. */
static const char *section(const char *heading, const char **end)
{
    for (const char *p = doc; (p = strstr(p, heading)); p++) {
        const char *line = p;
        while (line > doc && line[-1] != '\n') line--;
        if (*line != '#') continue;
        const char *next = strstr(p, "\n#");
        *end = next ? next : p + strlen(p);
        return p;
    }
    print_error("docs/format.md has no heading with: %s\n", heading);
    missing++;
    return NULL;
}

/* A line of [from, end) must begin with this text. */
static void expect(const char *from, const char *end, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void expect(const char *from, const char *end, const char *fmt, ...)
{
    char row[2048] = "\n";
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(row + 1, sizeof row - 1, fmt, ap);
    va_end(ap);
    const char *at = from ? strstr(from, row) : NULL;
    if (at && at < end) return;
    print_error("docs/format.md lacks: %s\n", row + 1);
    missing++;
}

/* Table rows in [from, end) that begin with a number (with `two`, with two numbers): more of them than were expected
 * means that the document describes what is not there. */
static int rows(const char *from, const char *end, bool two)
{
    int n = 0;
    for (const char *p = from; p && (p = strstr(p, "\n| ")) && p < end; p++) {
        if (p[3] < '0' || p[3] > '9') continue;
        const char *second = strstr(p + 3, " | ");
        n += !two || (second && second[3] >= '0' && second[3] <= '9');
    }
    return n;
}

/* ---- structs ---- */

struct member {
    const char *name;
    size_t offset, size;
};
#define M(s, m)                                                                                                        \
    {                                                                                                                  \
#m, offsetof(struct s, m), sizeof(((struct s *)0)->m)                                                          \
    }

static void check_struct(const char *name, size_t size, const struct member *m, size_t n)
{
    char heading[128];
    snprintf(heading, sizeof heading, "`%s`, %zu bytes", name, size);
    const char *end = NULL, *from = section(heading, &end);
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(m[i].offset, at); /* nothing left out of the list above it, and no hidden padding */
        at += m[i].size;
        expect(from, end, "| %zu | %zu | `%s` |", m[i].offset, m[i].size, m[i].name);
    }
    assert_int_equal(at, size);
    if (from && rows(from, end, true) != (int)n) {
        print_error("docs/format.md, %s: %d rows for %zu members\n", name, rows(from, end, true), n);
        missing++;
    }
}
#define CHECK(s, ...)                                                                                                  \
    do {                                                                                                               \
        static const struct member list[] = {__VA_ARGS__};                                                             \
        check_struct(#s, sizeof(struct s), list, sizeof list / sizeof *list);                                          \
    } while (0)

static void structs(void **state)
{
    (void)state;
    missing = 0;
#define H(m) M(rs_file_header, m)
    CHECK(rs_file_header, H(magic), H(header_bytes), H(features), H(checksum), H(nonce), H(pid), H(created_ns),
          H(created_tick), H(tick_source), H(live_place), H(ring_begin), H(ring_end), H(process_start_ns), H(host),
          H(boot_id), H(live_name), H(pid_namespace), H(live_inode), H(reserved), H(status), H(padding));
#define S(m) M(rs_status_block, m)
    CHECK(rs_status_block, S(heartbeat_tick), S(heartbeat_ns), S(file_end), S(sealed_records), S(lost),
          S(lost_unopened), S(lost_facts), S(sealer_cpu_ns), S(callback_cost_ps), S(state), S(write_errno),
          S(live_left), S(lost_lives), S(inside_at_close), S(event_chunks), S(fact_chunks), S(lost_late));
#define C(m) M(rs_chunk_header, m)
    CHECK(rs_chunk_header, C(magic), C(kind), C(coding), C(header_bytes), C(checksum), C(stored_bytes), C(records),
          C(sequence), C(records_before), C(nonce), C(generation), C(slot), C(reserved0), C(from), C(to), C(tid),
          C(thread_name), C(first_tick), C(last_tick), C(tick_base), C(next_handle));
#define L(m) M(rs_live_header, m)
    CHECK(rs_live_header, L(magic), L(nonce), L(pid), L(slots), L(buffers), L(slots_at), L(buffers_at),
          L(process_start_ns), L(boot_id), L(lost_overflow), L(status), L(locked), L(closing), L(lost_at_close),
          L(mount_namespace), L(recording_device), L(recording), L(lost_lives), L(lost_facts));
#define T(m) M(rs_slot, m)
    CHECK(rs_slot, T(lost), T(lost_in_records), T(lost_first_tick), T(lost_last_tick), T(next_handle), T(buffer),
          T(generation), T(tid), T(inside), T(group), T(group_context), T(group_state));
#define B(m) M(rs_buffer, m)
    CHECK(rs_buffer, B(commit), B(first_handle), B(tick_now), B(tick_base), B(limit), B(generation), B(slot), B(sealed),
          B(reserved), B(words));
#define F(m) M(rs_fact_head, m)
    CHECK(rs_fact_head, F(bytes), F(type), F(reserved), F(tick));
#define O(m) M(rs_fact_comm, m)
    CHECK(rs_fact_comm, O(context), O(comm_id), O(return_tick), O(tid), O(rank), O(nranks), O(nnodes), O(api),
          O(has_name), O(reserved), O(device), O(bus_id), O(uuid));
#define E(m) M(rs_fact_comm_end, m)
    CHECK(rs_fact_comm_end, E(context), E(tid), E(reserved));
#define K(m) M(rs_fact_clock, m)
    CHECK(rs_fact_clock, K(raw), K(real), K(rate_jump), K(reserved));
#define R(m) M(rs_clock_bracket, m)
    CHECK(rs_clock_bracket, R(before), R(after), R(ns));
#define U(m) M(rs_fact_cut, m)
    CHECK(rs_fact_cut, U(left_out), U(running));
#define P(m) M(rs_fact_cut_op, m)
    CHECK(rs_fact_cut_op, P(handle), P(id), P(seq), P(index), P(captured), P(replay), P(kind), P(confidence), P(twice),
          P(reserved));
    assert_int_equal(missing, 0);
}

/* ---- constants ---- */

static void constants(void **state)
{
    (void)state;
    missing = 0;
    const char *all = doc, *end = doc + strlen(doc);
#define V(name) expect(all, end, "| %d | `%s` |", (int)(name), #name)
    V(RS_TICK_TSC), V(RS_TICK_CNTVCT), V(RS_TICK_CLOCK_RAW);
    V(RS_STATE_RUNNING), V(RS_STATE_IDLE), V(RS_STATE_CLOSED);
    V(RS_LIVE_TMPFS), V(RS_LIVE_SHM), V(RS_LIVE_ANONYMOUS);
    V(RS_CHUNK_EVENTS), V(RS_CHUNK_FACTS);
    V(RS_CODING_RAW), V(RS_CODING_PLANES_ZSTD), V(RS_CODING_ZSTD);
    V(RS_FACT_INFO), V(RS_FACT_STRING), V(RS_FACT_COMM), V(RS_FACT_COMM_END), V(RS_FACT_CLOCK), V(RS_FACT_MASK);
    V(RS_FACT_CAPTURED), V(RS_FACT_NOTE), V(RS_FACT_CUT), V(RS_FACT_CUT_OPS), V(RS_FACT_CUT_STALE),
        V(RS_FACT_CUT_UNTIL);
    V(RS_CUT_STARTED), V(RS_CUT_CALL), V(RS_CUT_OPEN);
#define X(name) expect(all, end, "| 0x%x | `%s` |", (unsigned)(name), #name)
    X(RS_SLOT_FACTS), X(RS_SLOT_OVERFLOW), X(RS_SLOT_CONTEXT);
    X(RS_CTX_ESCAPE), X(RS_SMALL_ESCAPE), X(RS_STRING_UNKNOWN);
    expect(all, end, "| 0x%016llx | `RS_FILE_MAGIC` |", (unsigned long long)RS_FILE_MAGIC);
    expect(all, end, "| 0x%016llx | `RS_LIVE_MAGIC` |", (unsigned long long)RS_LIVE_MAGIC);
    expect(all, end, "| 0x%08lx | `RS_CHUNK_MAGIC` |", (unsigned long)RS_CHUNK_MAGIC);
    const char *from = section("Loss classes", &end);
    for (int i = 0; i < 16; i++) expect(from, end, "| %d | starts of %s |", i, rs_nccl_type_name(UINT64_C(1) << i));
    expect(from, end, "| %d | starts of an unknown type |", RS_LOST_START_RAW);
    expect(from, end, "| %d | stops |", RS_LOST_STOP);
    expect(from, end, "| %d | states |", RS_LOST_STATE);
    if (from) assert_int_equal(rows(from, end, false), RS_LOST_COUNTS);
    assert_int_equal(missing, 0);
}

/* ---- kinds ---- */

static const struct {
    unsigned kind;
    const char *name;
} names[] = {
#define N(k)                                                                                                           \
    {                                                                                                                  \
        RS_K_##k, #k                                                                                                   \
    }
    N(STOP),         N(STATE_V1), N(STATE_RAW),    N(LOST),          N(TICK_BASE), N(THREAD),   N(NET_UPDATE_IB),
    N(GROUP),        N(PROXY_OP), N(PROXY_STEP),   N(PROXY_CTRL),    N(KERNEL_CH), N(NET_IB),   N(NET_UPDATE_SOCK),
    N(KERNEL_CH_V3), N(NET_SOCK), N(KERNEL_PHASE), N(NET_PLUGIN),    N(GROUP_API), N(COLL_API), N(COLL_API_V7),
    N(P2P_API),      N(COLL_V1),  N(P2P_API_V7),   N(KERNEL_LAUNCH), N(COLL_V2),   N(COLL_V3),  N(COLL_V4),
    N(COLL),         N(COLL_V7),  N(P2P_V1),       N(P2P_V2),        N(P2P_V4),    N(P2P),      N(P2P_V7),
    N(CE_COLL),      N(CE_SYNC),  N(CE_COLL_V7),   N(CE_BATCH),      N(START_RAW), N(HANDLE),
};

static const char *name_of(unsigned kind)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].kind == kind) return names[i].name;
    fail_msg("kind 0x%02x has no name in this test", kind);
    return "";
}

/* "pid `a0:0-31` int; channelId `s:0-7`": s is the small field, aN the N-th argument word. */
static void describe(const struct rs_field *f, char *to, size_t bytes)
{
    static const char *const formats[] = {
        [RS_F_UINT] = "",          [RS_F_HASH] = " hash",     [RS_F_INT] = " int",       [RS_F_BOOL] = " bool",
        [RS_F_POINTER] = " ptr",   [RS_F_HANDLE] = " handle", [RS_F_STRING] = " str",    [RS_F_FUNC_V1] = " enum",
        [RS_F_DTYPE_V1] = " enum", [RS_F_ALGO_V1] = " enum",  [RS_F_PROTO_V1] = " enum",
    };
    size_t at = 0;
    to[0] = 0;
    for (bool first = true; f && f->name && at < bytes; f++, first = false) {
        char place[16], range[16] = "";
        if (f->source == RS_FROM_SMALL)
            snprintf(place, sizeof place, "s");
        else
            snprintf(place, sizeof place, "a%d", f->word);
        if (f->bits == 1)
            snprintf(range, sizeof range, ":%d", f->shift);
        else if (f->bits != 64)
            snprintf(range, sizeof range, ":%d-%d", f->shift, f->shift + f->bits - 1);
        at += (size_t)snprintf(to + at, bytes - at, "%s%s `%s%s`%s", first ? "" : "; ", f->name, place, range,
                               formats[f->format]);
    }
}

static void kinds(void **state)
{
    (void)state;
    missing = 0;
    const char *end = NULL, *from = section("Records without a start word", &end);
    char fields[1536];
    int n = 0;
    for (unsigned k = 0; k < RS_K_STATE; k++) {
        if (rs_kind_args[k] == 0xff || rs_kind_is_start(k)) continue;
        describe(rs_kind_state_fields(k), fields, sizeof fields);
        expect(from, end, "| 0x%02x | `%s` | %d | %s%s", k, name_of(k), rs_kind_args[k], fields, fields[0] ? " |" : "");
        n++;
    }
    expect(from, end, "| 0x%02x + state | `STATE` | 0 |", RS_K_STATE);
    expect(from, end, "| 0x%02x + state | `STATE_ARG` | 1 |", RS_K_STATE_ARG);
    if (from) assert_int_equal(rows(from, end, false), n + 2);
    from = section("Starts, by kind", &end);
    for (unsigned k = RS_K_START; k < RS_K_START_END; k++) {
        const struct rs_kind_info *info = rs_kind_start(k);
        const char *type = info->type ? rs_nccl_type_name(info->type) : "unknown";
        describe(info->fields, fields, sizeof fields);
        if (k == RS_K_START_RAW)
            strcpy(fields, "type `a0`; api `s:0-7`; raw0 `a1` to raw13 `a14`"); /* fourteen alike */
        expect(from, end, "| 0x%02x | `%s` | %s | %d | %s |", k, name_of(k), type, rs_kind_args[k],
               fields[0] ? fields : "none");
    }
    if (from) assert_int_equal(rows(from, end, false), RS_K_START_END - RS_K_START);
    assert_int_equal(missing, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(structs), cmocka_unit_test(constants), cmocka_unit_test(kinds)};
    return cmocka_run_group_tests(tests, load, NULL);
}
