#include "cli/explain_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "cli/model_json.h"
#include "cli/plain.h"

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

static void print_sentences(const char *heading, const struct rs_sentences *s)
{
    for (uint32_t i = 0; i < s->n; i++) {
        printf("  %-5s  ", i ? "" : heading);
        rs_explain_wrap(s->rows[i], 9);
    }
}

static void print_who(const struct rs_contents *f, const struct rs_model *m)
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

static void print_span(const struct rs_contents *f)
{
    if (f->from == RS_TIME_NONE || f->to < f->from) return;
    printf("  span   %s%s\n", rs_text_ns(rs_time_minus(f->to, f->from)).s, rs_text_when(f->from).s);
}

static bool are_same(const struct rs_sentences *a, const struct rs_sentences *b)
{
    if (a->n != b->n) return false;
    for (uint32_t i = 0; i < a->n; i++)
        if (strcmp(a->rows[i], b->rows[i]) != 0) return false;
    return true;
}

void rs_contents_print(const struct rs_contents *files, uint32_t n, const struct rs_model *m)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct rs_contents *f = &files[i];
        char head[1024];
        snprintf(head, sizeof head, "%.800s: %s%s", f->path, f->what, f->complete ? "" : " (not complete)");
        if (i) printf("\n");
        rs_plain_line(head, stdout);
        print_who(f, m);
        print_span(f);
        print_sentences("holds", &f->contains);
        if (i && f->missing.n && are_same(&f->missing, &files[i - 1].missing))
            printf("  lacks  The same as the file above.\n");
        else
            print_sentences("lacks", &f->missing);
    }
}

static void sentences_json(struct rs_json *j, const char *key, const struct rs_sentences *s)
{
    rs_json_key(j, key);
    rs_json_array(j);
    for (uint32_t i = 0; i < s->n; i++) rs_json_str(j, s->rows[i]);
    rs_json_end(j);
}

void rs_contents_json(struct rs_json *j, const struct rs_contents *files, uint32_t n, const struct rs_model *m)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct rs_contents *f = &files[i];
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
        sentences_json(j, "holds", &f->contains);
        sentences_json(j, "lacks", &f->missing);
        rs_json_end(j);
        rs_json_newline(j);
    }
}
