/* Any bytes as a file of an input format: read as its reader reads it, checked, and through the model and the join to the
 * analyses. One program, called fuzz_FORMAT after the folder of src/foreign: a new format needs nothing here. Formats
 * whose reader makes more promises than the model's have a function below. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analyse/bandwidth.h"
#include "analyse/hang.h"
#include "analyse/reference.h"
#include "analyse/statistics.h"
#include "foreign/comma/comma.h"
#include "foreign/example/model.h"
#include "foreign/flight/model.h"
#include "foreign/formats.h"
#include "foreign/inspector/inspector.h"
#include "foreign/nccl_tests/nccl_tests.h"
#include "foreign/nsys/model.h"
#include "foreign/nvprof/nvprof.h"
#include "join/join.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile size_t looked_at; /* so that everything is */

static void must(int fine)
{
    if (!fine) abort();
}

/* ---- what holds for all ---- */

static void check_model(const struct rs_model *m)
{
    const struct rs_activities *a = &m->activities;
    for (uint32_t i = 0; i < a->n; i++) {
        must(a->end[i] >= a->start[i] && a->lane[i] < m->nlanes);
        must(a->part[i] == RS_NONE || a->part[i] < m->parts.n);
        must(a->launch[i] == RS_NONE || a->launch[i] < a->n);
    }
    for (uint32_t i = 0; i < m->parts.n; i++) must(m->parts.member[i] < m->nmembers);
    for (uint32_t i = 0; i < m->nstats; i++)
        must(m->stats[i].proc < m->nprocs && (m->stats[i].total_ns >= 0 || m->stats[i].total_ns == RS_TIME_NONE));
    for (uint32_t i = 1; i < m->ntags; i++) must(m->tags[i].part > m->tags[i - 1].part);
}

/* Joins what was read, analyses it, and frees it. */
static void join(struct rs_model *m)
{
    struct rs_err err = {0};
    struct rs_filter all = {0};
    struct rs_statistics s;
    struct rs_bandwidth b;
    struct rs_view view;
    struct rs_hang h;
    check_model(m);
    rs_model_link(m);
    must(rs_join(m, true, &err) == RS_OK);
    rs_statistics_init(&s, m);
    struct rs_strbuf text = {0};
    for (unsigned next = 0; rs_statistics_say(&s, &next, &text);) looked_at += text.len;
    rs_strbuf_free(&text);
    rs_statistics_free(&s);
    rs_view_init(&view, m, &all);
    rs_bandwidth_find(&b, &view, false);
    rs_bandwidth_free(&b);
    rs_view_free(&view);
    rs_hang_find(m, &all, &h);
    must(h.nconclusion > 0 && h.nfindings > 0);
    rs_hang_free(&h);
    rs_model_free(m);
}

static int put(struct rs_other *o, char *path, size_t bytes, const uint8_t *data, size_t n)
{
    int fd = memfd_create("trace", MFD_CLOEXEC);
    must(fd >= 0 && (!n || write(fd, data, n) == (ssize_t)n));
    snprintf(path, bytes, "/proc/self/fd/%d", fd);
    *o = (struct rs_other){.path = path, .complete = true};
    return fd;
}

/* As two files: the bytes before the first 0 and those behind it, or all of them twice. */
static void fill(const struct rs_format *format, const uint8_t *data, size_t size, struct rs_model *m)
{
    const uint8_t *zero = size ? memchr(data, 0, size) : NULL;
    size_t n = zero ? (size_t)(zero - data) : size;
    struct rs_other files[2], *list[2] = {&files[0], &files[1]};
    char paths[2][64];
    int fds[2] = {put(&files[0], paths[0], sizeof paths[0], data, n)};
    fds[1] = put(&files[1], paths[1], sizeof paths[1], zero ? zero + 1 : data, zero ? size - n - 1 : n);
    struct rs_err err = {0};
    struct rs_fill both = {.model = m, .files = list, .n = 2};
    must(format->fill(&both, &err) == RS_OK);
    for (int i = 0; i < 2; i++) must(files[i].complete == !files[i].why[0]);
    for (int i = 0; i < 2; i++) close(fds[i]);
}

/* ---- formats whose reader makes promises of its own: false, what is to be read was read here ---- */

static bool comma(const uint8_t *data, size_t size)
{
    struct rs_comma p;
    struct rs_err err;
    enum rs_status status = rs_comma_read_memory(&p, "x", (const char *)data, size, &err);
    must(status == RS_OK || status == RS_BAD_INPUT);
    for (uint32_t i = 0; i < p.n_ops; i++) must(p.ops[i].start_ns >= -1 && strlen(p.ops[i].name) < 24);
    for (uint32_t i = 0; i < p.n_proxies; i++) {
        const struct rs_comma_proxy *x = &p.proxies[i];
        must((x->op == RS_COMMA_NONE || x->op < p.n_ops) && x->first_step + x->steps <= p.n_steps);
    }
    rs_comma_free(&p);
    return true;
}

static void check_dump(const struct rs_example *d, size_t size)
{
    uint64_t closed = 0, ranks = 0, kinds = 0;
    must(d->closed || d->broken.code != RS_OK);
    for (uint32_t i = 0; i < d->n; i++) {
        const struct rs_example_event *e = &d->events[i];
        must(e->kind < RS_EX_KINDS && (e->parent == RS_NONE || e->parent < i));
        must(e->op == RS_NONE || e->op <= i);
        must(e->offset < size && (e->who == RS_EX_WHO_NONE || e->rank >= 0));
        must(e->closed || e->end == RS_TIME_NONE);
        must(e->name && e->name < d->texts.n && e->cat < d->texts.n);
        closed += e->closed;
    }
    for (uint32_t i = 0; i < d->nranks; i++) ranks += d->ranks[i].colls + d->ranks[i].p2ps;
    for (int i = 0; i < RS_EX_KINDS; i++) kinds += d->counts[i];
    must(closed + d->unclosed == d->n && kinds == d->n && ranks <= d->n);
    for (uint32_t i = 0; i < d->nsleeps; i++)
        must(rs_example_sleep_after(d, d->events[d->sleeps[i]].begin) == d->events[d->sleeps[i]].begin);
    rs_example_destroyed(d);
}

/* The name of a file matters: the whole as rank 0's, and its second half as rank 1's. */
static bool example(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data, *path = size % 3 ? "d/dump_12715772615376301750_0.json" : "dump-host-77.txt";
    struct rs_example d;
    struct rs_err err = {0};
    if (size > 1 << 20) return false;
    bool is = rs_example_is(path, text, size < 4096 ? size : 4096);
    if (rs_example_parse(&d, path, text, size, &err) != RS_OK) {
        must(err.code != RS_OK && *err.msg && !d.events && !is);
        return false;
    }
    check_dump(&d, size);
    rs_example_close(&d);
    struct rs_model m = {0};
    struct rs_example_procs procs = {0};
    uint32_t proc_of[2] = {RS_NONE, RS_NONE};
    if (rs_example_parse(&d, "d/dump_12715772615376301750_0.json", text, size, &err) == RS_OK)
        rs_example_procs_add(&procs, &d);
    if (rs_example_parse(&d, "d/dump_12715772615376301750_1.json", text + size / 2, size - size / 2, &err) == RS_OK)
        rs_example_procs_add(&procs, &d);
    must(rs_example_to_model(&m, &procs, proc_of, &err) == RS_OK);
    for (uint32_t i = 0; i < procs.ndumps; i++) must(proc_of[i] < m.nprocs);
    for (uint32_t i = 0; i < m.parts.n; i++)
        must(m.parts.start_source[i] != RS_FROM_KERNEL || m.members[m.parts.member[i]].gpu < m.ndomains);
    rs_example_procs_free(&procs);
    join(&m);
    return false;
}

static void check_flight(const struct rs_flight *f)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < f->n_entries; i++) {
        const struct rs_flight_entry *e = &f->entries[i];
        sum += strlen(e->name) + strlen(e->op) + strlen(e->pg_name) + strlen(e->pg_desc);
        sum += (uint64_t)rs_flight_elements(&e->in) + (uint64_t)rs_flight_elements(&e->out);
        for (uint32_t j = 0; j < e->in.n_dtypes; j++) sum += strlen(e->in.dtypes[j]);
    }
    for (uint32_t i = 0; i < f->n_groups; i++)
        for (uint32_t j = 0; j < f->groups[i].n; j++) must(f->groups[i].ranks[j] >= 0);
    must(f->n_entries || f->n_groups || *f->version || sum == 0);
}

/* The same bytes are the dump of two ranks, so that there is something to join; the second is one operation behind. */
static bool flight(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"fr_rank0", "fr_rank1"};
    struct rs_err err = {0};
    struct rs_model m = {0};
    for (int i = 0; i < 2; i++) {
        struct rs_flight f;
        uint32_t proc;
        if (rs_flight_parse(&f, data, size, names[i], &err) != RS_OK) {
            must(err.msg[0] != 0);
            rs_model_free(&m);
            return false;
        }
        check_flight(&f);
        if (i) f.n_entries -= f.n_entries > 1;
        must(rs_flight_to_model(&m, &f, names[i], &proc, &err) == RS_OK);
        must(proc < m.nprocs && m.procs[proc].end >= m.procs[proc].begin);
        rs_flight_free(&f);
    }
    for (uint32_t i = 0; i < m.parts.n; i++) must(m.parts.end[i] == RS_TIME_NONE);
    join(&m);
    return false;
}

/* Every line is an operation, another one, or bad. */
static bool inspector(const uint8_t *data, size_t size)
{
    struct rs_inspector p;
    struct rs_err err;
    enum rs_status status = rs_inspector_read_memory(&p, "x", (const char *)data, size, &err);
    must(status == RS_OK || status == RS_BAD_INPUT);
    must(p.lines == p.n_ops + p.other_lines + p.bad_lines && !p.bad_lines == (p.damage.code == RS_OK));
    uint64_t ops = 0;
    for (uint32_t i = 0; i < p.n_members; i++) {
        const struct rs_inspector_member *m = &p.members[i];
        looked_at += strlen(m->comm_name) + strlen(m->host) + strlen(m->version) + strlen(m->git_rev);
        ops += m->ops;
    }
    must(ops == p.n_ops);
    for (uint32_t i = 0; i < p.n_ops; i++) {
        const struct rs_inspector_op *op = &p.ops[i];
        must(op->member < p.n_members && op->first_kernel + op->n_kernels <= p.n_kernels && op->offset < size);
        must(op->exec_ns >= -1 && op->start_us >= -1 && op->stop_us >= -1 && op->peer >= -1);
        looked_at += strlen(op->func);
    }
    for (uint32_t i = 0; i < p.n_kernels; i++) must(p.kernels[i].start_us >= -1 && p.kernels[i].channel >= -1);
    rs_inspector_free(&p);
    return true;
}

static void ask(const struct rs_reference *r, const struct rs_reference_point *p, uint64_t bytes)
{
    enum rs_reference_lack lack;
    double gbs = rs_reference_find(r, p->func, p->dtype ? p->dtype : "", p->nranks, bytes, &lack);
    must(isnan(gbs) ? lack != RS_LACKS_NOTHING : gbs > 0 && lack == RS_LACKS_NOTHING);
}

/* The curves that are made of its rows. */
static void check_table(const struct rs_nccl_tests *t)
{
    struct rs_reference r = {0};
    for (uint32_t i = 0; i < t->n; i++) {
        const struct rs_nccl_tests_row *row = &t->rows[i];
        double best = rs_nccl_tests_best(row);
        must(best >= 0 && isfinite(best) && row->nranks >= -1);
        struct rs_reference_point p = {row->func, row->dtype, row->nranks, row->bytes, best};
        if (row->func) rs_reference_add(&r, &p);
    }
    rs_reference_sort(&r);
    for (uint32_t i = 0; i < r.n; i++) {
        ask(&r, &r.points[i], r.points[i].bytes);
        ask(&r, &r.points[i], r.points[i].bytes + 1);
        if (i) ask(&r, &r.points[i], r.points[i - 1].bytes);
    }
    rs_reference_free(&r);
}

static bool nccl_tests(const uint8_t *data, size_t size)
{
    struct rs_other file;
    char path[64];
    int fd = put(&file, path, sizeof path, data, size);
    struct rs_nccl_tests t;
    struct rs_err err;
    if (rs_nccl_tests_read(&t, path, &err) == RS_OK) check_table(&t);
    rs_nccl_tests_free(&t);
    close(fd);
    return true;
}

/* In memory: SQLite's own files are slow. */
static bool nsys(const uint8_t *data, size_t size)
{
    struct rs_model m = {0};
    struct rs_err err;
    for (int i = 0; i < 2; i++) {
        struct rs_nsys n = {.m = &m, .path = i ? "b" : "a"};
        enum rs_status status = rs_nsys_open_memory(&n.db, n.path, data, size, &err);
        if (status == RS_OK) status = rs_nsys_to_model(&n, &err);
        rs_nsys_free(&n);
    }
    check_model(&m);
    for (uint32_t i = 0; i < m.parts.n; i++)
        must(m.parts.start[i] == RS_TIME_NONE || m.members[m.parts.member[i]].gpu < m.ndomains);
    join(&m);
    return false;
}

static bool nvprof(const uint8_t *data, size_t size)
{
    struct rs_nvprof p;
    struct rs_err err;
    enum rs_status status = rs_nvprof_read_memory(&p, "x", (const char *)data, size, &err);
    must(status == RS_OK || status == RS_BAD_INPUT);
    for (uint32_t i = 0; i < p.n_processes; i++) looked_at += strlen(p.processes[i].command);
    for (uint32_t i = 0; i < p.n_rows; i++) {
        const struct rs_nvprof_row *r = &p.rows[i];
        must(r->process < p.n_processes && (r->range == RS_NVPROF_NONE || r->range < p.n_ranges));
        must(r->time_ns >= 0 && r->avg_ns >= 0 && r->min_ns >= 0 && r->max_ns >= 0 && r->offset < size);
        looked_at += strlen(r->type) + strlen(r->name);
    }
    for (uint32_t i = 0; i < p.n_ranges; i++) {
        const struct rs_nvprof_range *g = &p.ranges[i];
        must(g->process < p.n_processes && g->time_ns >= 0 && g->gpu_ns >= 0 && g->api_ns >= 0);
        looked_at += strlen(g->thread_name) + strlen(g->domain) + strlen(g->name);
    }
    for (uint32_t i = 0; i < p.n_traces; i++) {
        const struct rs_nvprof_trace *t = &p.traces[i];
        must(t->process < p.n_processes && t->start_ns >= 0 && t->duration_ns >= 0 && t->bytes >= -1);
        looked_at += strlen(t->device_name) + strlen(t->stream_name) + strlen(t->name);
    }
    for (uint32_t i = 0; i < p.n_notes; i++) {
        must(p.notes[i].process == RS_NVPROF_NONE || p.notes[i].process < p.n_processes);
        looked_at += strlen(p.notes[i].text);
    }
    rs_nvprof_free(&p);
    return true;
}

/* ---- formats that fill the model in a way of their own ---- */

static void kineto(const struct rs_model *m)
{
    must(m->ntags == m->parts.n);
    for (uint32_t i = 0; i < m->parts.n; i++) must(*rs_model_text(m, m->parts.func[i]));
}

/* ---- the program ---- */

static const struct rs_format *format;
static const struct own {
    const char *folder;
    bool (*reader)(const uint8_t *data, size_t size);
    void (*model)(const struct rs_model *m);
} * own;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const struct {
        const char *folder;
        const struct rs_format *format;
    } formats[] = {
#define X(id, folder, name, reading, caps) {#folder, &rs_##folder##_format},
        RS_EACH_FORMAT(X)
#undef X
    };
    static const struct own owns[] = {{"comma", comma, NULL},         {"example", example, NULL},
                                      {"flight", flight, NULL},       {"kineto", NULL, kineto},
                                      {"inspector", inspector, NULL}, {"nsys", nsys, NULL},
                                      {"nvprof", nvprof, NULL},       {"nccl_tests", nccl_tests, NULL}};
    const char *name = strstr((*argv)[0], "fuzz_"), *next;
    while (name && (next = strstr(name + 5, "fuzz_"))) name = next;
    for (size_t i = 0; name && i < sizeof formats / sizeof *formats; i++)
        if (!strcmp(name + 5, formats[i].folder)) format = formats[i].format;
    for (size_t i = 0; name && i < sizeof owns / sizeof *owns; i++)
        if (!strcmp(name + 5, owns[i].folder)) own = &owns[i];
    if (!format) fprintf(stderr, "%s: no format of that name\n", (*argv)[0]);
    (void)argc;
    return format ? 0 : 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rs_model m = {0};
    looked_at += format->is("", (const char *)data, size < RS_FORMAT_HEAD ? size : RS_FORMAT_HEAD);
    if (own && own->reader && !own->reader(data, size)) return 0;
    fill(format, data, size, &m);
    if (own && own->model) own->model(&m);
    join(&m);
    return 0;
}
