#include "cli/explain_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cli/explain_facts.h"
#include "cli/explain_lacks.h"
#include "cli/explain_table.h"
#include "cli/model_json.h"
#include "cli/plain.h"
#include "foreign/example/example.h"
#include "foreign/formats.h"

/* ---- dumps of the example profiler, file by file ---- */

/* What one of these files has itself. */
struct dump {
    uint32_t file; /* of the explained */
    uint32_t pid;
    uint64_t comm;
    int32_t rank;
    uint64_t ops, kernels, proxy, net; /* operations and calls; KernelCh; work of the proxy thread; network steps */
    uint32_t ranks; /* whose operations it has */
};

static bool read_dump(struct dump *d, const char *path)
{
    struct rs_example x;
    struct rs_err err;
    if (rs_example_open(&x, path, &err) != RS_OK) return false;
    const uint32_t *n = x.counts;
    d->pid = x.pid;
    d->comm = x.comm;
    d->rank = x.rank;
    d->ops = (uint64_t)n[RS_EX_COLL] + n[RS_EX_P2P] + n[RS_EX_COLL_API] + n[RS_EX_P2P_API] + n[RS_EX_GROUP_API] +
             n[RS_EX_CE_COLL];
    d->kernels = n[RS_EX_KERNEL];
    d->proxy = (uint64_t)n[RS_EX_PROXY_OP] + n[RS_EX_PROXY_CTRL];
    d->net = n[RS_EX_NET];
    for (uint32_t i = 0; i < x.nranks; i++) d->ranks += x.ranks[i].colls + x.ranks[i].p2ps > 0;
    rs_example_close(&x);
    return true;
}

static enum rs_status say_dump(struct rs_explained_file *f, const struct dump *d, const char *other, struct rs_err *err)
{
    char whose[96] = "Lines of a rank that its name does not tell";
    if (d->rank >= 0)
        snprintf(whose, sizeof whose, "Lines of rank %" PRId32 " of communicator %" PRIu64, d->rank, d->comm);
    RS_TRY(rs_explain_say(&f->holds, &f->nholds, err,
                          "%s: %" PRIu64 " calls and operations, %" PRIu64 " kernel channels, %" PRIu64
                          " of the proxy thread, %" PRIu64 " of network steps.",
                          whose, d->ops, d->kernels, d->proxy, d->net));
    if (d->ops && d->ranks > 1)
        return rs_explain_say(&f->holds, &f->nholds, err,
                              "Operations of %" PRIu32 " ranks of its process: NCCL gives a group call to its first "
                              "communicator, and all that is below it. Each was given back to its rank.",
                              d->ranks);
    if (d->ops) return RS_OK;
    if (!other)
        return rs_explain_say(&f->lacks, &f->nlacks, err,
                              "Operations: only lines of the proxy thread. NCCL gives a group call to its first "
                              "communicator; the file of that rank is not among those named.");
    return rs_explain_say(&f->lacks, &f->nlacks, err,
                          "Operations: only lines of the proxy thread, because NCCL gives a group call to its first "
                          "communicator. Its operations stand in %s, and were given back to it.",
                          other);
}

/* The file of the same process that has most operations. */
static const char *richest(const struct rs_explained *e, const struct dump *dumps, uint32_t n, uint32_t pid)
{
    const struct dump *best = NULL;
    for (uint32_t i = 0; i < n; i++)
        if (dumps[i].pid == pid && dumps[i].ops && (!best || dumps[i].ops > best->ops)) best = &dumps[i];
    return best ? e->files[best->file].path : NULL;
}

static enum rs_status explain_dumps(struct rs_explained *e, struct rs_err *err)
{
    struct dump *dumps = calloc(e->n + 1, sizeof *dumps);
    if (!dumps) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    uint32_t n = 0;
    for (uint32_t i = 0; i < e->n; i++)
        if (!strcmp(e->files[i].format, "example-profiler") && read_dump(&dumps[n], e->files[i].path))
            dumps[n++].file = i;
    enum rs_status status = RS_OK;
    for (uint32_t i = 0; i < n && status == RS_OK; i++) {
        const char *other = dumps[i].ops ? NULL : richest(e, dumps, n, dumps[i].pid);
        status = say_dump(&e->files[dumps[i].file], &dumps[i], other, err);
    }
    free(dumps);
    return status;
}

/* ---- all files ---- */

/* Its processes, and what the model has of them. */
static void find_procs(struct rs_explained_file *f, const struct rs_model *m, const struct rs_file_facts *all,
                       uint32_t proc, struct rs_file_facts *sum)
{
    f->from = f->to = RS_TIME_NONE;
    f->proc = RS_NONE;
    f->processes = 0;
    f->operations = 0;
    for (uint32_t i = 0; i < m->nprocs; i++) {
        const struct rs_proc *p = &m->procs[i];
        if (proc != RS_NONE ? i != proc : !p->path || strcmp(p->path, f->path) != 0) continue;
        f->processes++;
        f->proc = f->processes == 1 ? i : RS_NONE;
        rs_file_facts_add(sum, &all[i]);
        if (p->first != RS_TIME_NONE && (f->from == RS_TIME_NONE || p->first < f->from)) f->from = p->first;
        if (p->last != RS_TIME_NONE && (f->to == RS_TIME_NONE || p->last > f->to)) f->to = p->last;
    }
    for (int k = 0; k < 5; k++) f->operations += sum->parts[k];
}

/* A row for each file, and whose process it is of; what they hold comes behind. */
static void list_files(struct rs_explained *e, const struct rs_inputs *in, uint32_t *procs, int *tools)
{
    for (size_t i = 0; i < in->n; i++) {
        tools[e->n] = RS_TOOL_RINGSCOPE;
        procs[e->n] = RS_NONE;
        e->files[e->n++] = (struct rs_explained_file){.path = in->sources[i].recording->path,
                                                      .format = "ringscope",
                                                      .what = "recording of ringscope",
                                                      .complete = rs_source_complete(&in->sources[i])};
    }
    for (size_t i = 0; i < in->nothers; i++) {
        const struct rs_format *format = rs_format_at(in->others[i].format);
        if (!format) continue;
        tools[e->n] = (int)format->tool;
        procs[e->n] = in->others[i].proc;
        e->files[e->n++] = (struct rs_explained_file){.path = in->others[i].path,
                                                      .format = rs_tool_name((uint8_t)format->tool),
                                                      .what = format->what,
                                                      .damage = in->others[i].why,
                                                      .complete = in->others[i].complete};
    }
}

static enum rs_status explain_all(struct rs_explained *e, const struct rs_model *m, const struct rs_file_facts *all,
                                  const uint32_t *procs, const int *tools, struct rs_err *err)
{
    for (uint32_t i = 0; i < e->n; i++) { /* of a dump its own lines are told, of a table its rows */
        struct rs_file_facts sum = {0};
        find_procs(&e->files[i], m, all, procs[i], &sum);
        if (tools[i] == RS_TOOL_NCCL_TESTS)
            RS_TRY(rs_explain_table(&e->files[i], err));
        else if (tools[i] != RS_TOOL_EXAMPLE)
            RS_TRY(rs_explain_holds(&e->files[i], &sum, err));
    }
    RS_TRY(explain_dumps(e, err));
    for (uint32_t i = 0; i < e->n; i++) {
        struct rs_explained_file *f = &e->files[i];
        struct rs_file_facts sum = {0};
        if (f->damage && *f->damage)
            RS_TRY(rs_explain_say(&f->lacks, &f->nlacks, err, "What could not be read: %s.", f->damage));
        find_procs(f, m, all, procs[i], &sum);
        RS_TRY(rs_explain_lacks(f, &sum, m, tools[i], err));
    }
    return RS_OK;
}

enum rs_status rs_explain_files(struct rs_explained *e, const struct rs_inputs *in, const struct rs_model *m,
                                struct rs_err *err)
{
    size_t most = in->n + in->nothers + 1;
    *e = (struct rs_explained){.files = calloc(most, sizeof *e->files)};
    struct rs_file_facts *all = rs_file_facts_find(m);
    uint32_t *procs = calloc(most, sizeof *procs);
    int *tools = calloc(most, sizeof *tools);
    enum rs_status status;
    if (e->files && all && procs && tools) {
        list_files(e, in, procs, tools);
        status = explain_all(e, m, all, procs, tools, err);
    } else {
        status = rs_fail(err, RS_NO_MEMORY, "out of memory");
    }
    free(all);
    free(procs);
    free(tools);
    if (status != RS_OK) rs_explained_free(e);
    return status;
}

void rs_explained_free(struct rs_explained *e)
{
    for (uint32_t i = 0; i < e->n; i++) {
        for (uint32_t k = 0; k < e->files[i].nholds; k++) free(e->files[i].holds[k]);
        for (uint32_t k = 0; k < e->files[i].nlacks; k++) free(e->files[i].lacks[k]);
        free(e->files[i].holds);
        free(e->files[i].lacks);
    }
    free(e->files);
    *e = (struct rs_explained){0};
}

/* ---- showing ---- */

void rs_explain_wrap(const char *text, size_t indent)
{
    enum { WIDTH = 100 };
    size_t at = indent;
    while (*text) {
        size_t word = strcspn(text, " ");
        if (at > indent && at + 1 + word > WIDTH) {
            printf("\n%*s", (int)indent, "");
            at = indent;
        } else if (at > indent) {
            putchar(' ');
            at++;
        }
        rs_plain_print(text, word, stdout);
        at += word;
        text += word + (text[word] == ' ');
    }
    putchar('\n');
}

static void print_sentences(const char *heading, char *const *list, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        printf("  %-5s  ", i ? "" : heading);
        rs_explain_wrap(list[i], 9);
    }
}

static void print_who(const struct rs_explained_file *f, const struct rs_model *m)
{
    if (f->proc == RS_NONE) {
        if (f->processes) printf("  of     %" PRIu32 " processes\n", f->processes);
        return;
    }
    const struct rs_proc *p = &m->procs[f->proc];
    const char *host = rs_host_name(m, p->host);
    printf("  of     process ");
    if (p->pid)
        printf("%" PRIu32, p->pid);
    else
        printf("?");
    if (host) printf(" on %s", host);
    if (p->launcher_rank >= 0) printf(", rank %" PRId32 " of the job", p->launcher_rank);
    if (p->nccl_version) printf(", NCCL %s", p->nccl_version);
    printf("\n");
}

static void print_span(const struct rs_explained_file *f)
{
    if (f->from == RS_TIME_NONE || f->to < f->from) return;
    printf("  span   %s%s\n", rs_text_ns(rs_time_minus(f->to, f->from)).s, rs_text_when(f->from).s);
}

static bool same_lacks(const struct rs_explained_file *a, const struct rs_explained_file *b)
{
    if (a->nlacks != b->nlacks) return false;
    for (uint32_t i = 0; i < a->nlacks; i++)
        if (strcmp(a->lacks[i], b->lacks[i]) != 0) return false;
    return true;
}

void rs_explained_print(const struct rs_explained *e, const struct rs_model *m)
{
    for (uint32_t i = 0; i < e->n; i++) {
        const struct rs_explained_file *f = &e->files[i];
        char head[1024];
        snprintf(head, sizeof head, "%.800s: %s%s", f->path, f->what, f->complete ? "" : " (not complete)");
        if (i) printf("\n");
        rs_plain_line(head, stdout);
        print_who(f, m);
        print_span(f);
        print_sentences("holds", f->holds, f->nholds);
        if (i && f->nlacks && same_lacks(f, f - 1))
            printf("  lacks  The same as the file above.\n");
        else
            print_sentences("lacks", f->lacks, f->nlacks);
    }
}

static void sentences(struct rs_json *j, const char *key, char *const *list, uint32_t n)
{
    rs_json_key(j, key);
    rs_json_array(j);
    for (uint32_t i = 0; i < n; i++) rs_json_str(j, list[i]);
    rs_json_end(j);
}

void rs_explained_json(struct rs_json *j, const struct rs_explained *e, const struct rs_model *m)
{
    for (uint32_t i = 0; i < e->n; i++) {
        const struct rs_explained_file *f = &e->files[i];
        const struct rs_proc *p = f->proc == RS_NONE ? NULL : &m->procs[f->proc];
        rs_json_object(j);
        rs_json_key_str(j, "path", f->path);
        rs_json_key_str(j, "format", f->format);
        rs_json_key_str(j, "what", f->what);
        rs_json_key_bool(j, "complete", f->complete);
        rs_json_key_u64(j, "processes", f->processes);
        rs_json_key_str(j, "host", p ? rs_host_name(m, p->host) : NULL);
        rs_pid_json(j, p ? p->pid : 0);
        rs_json_key_number_or_null(j, "rank", p ? p->launcher_rank : -1);
        rs_time_json(j, "from_ns", f->from);
        rs_time_json(j, "to_ns", f->to);
        rs_json_key_u64(j, "operations", f->operations);
        sentences(j, "holds", f->holds, f->nholds);
        sentences(j, "lacks", f->lacks, f->nlacks);
        rs_json_end(j);
        rs_json_newline(j);
    }
}
