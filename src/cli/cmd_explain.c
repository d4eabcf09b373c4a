/* ringscope explain: what a name in a trace means; what a file contains, what is missing, and why. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/compression.h"
#include "base/json.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/explain_terms.h"
#include "cli/json.h"
#include "cli/options/suggest.h"
#include "cli/print/output.h"
#include "cli/print/plain.h"
#include "cli/print/screen.h"
#include "cli/reading.h"
#include "foreign/contents.h"
#include "foreign/formats.h"
#include "foreign/kernel_name.h"

/* Of a line of the text: lists and sentences are wrapped in a pipe, too. */
static size_t line_width(void)
{
    enum { WIDTH = 100 };
    size_t width = rs_screen_width();
    return width < WIDTH ? width : WIDTH;
}

static void print_wrapped(const char *text, size_t indent)
{
    size_t at = indent;
    while (*text) {
        size_t word = strcspn(text, " ");
        if (at > indent && at + 1 + word > line_width()) {
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

/* ---- files: what foreign/contents.h found in each ---- */

static void print_sentences(const char *heading, const struct rs_sentences *s)
{
    for (uint32_t i = 0; i < s->n; i++) {
        printf("  %-8s  ", i ? "" : heading);
        print_wrapped(s->rows[i], 12);
    }
}

static void print_who(const struct rs_contents *f, const struct rs_model *m)
{
    if (f->proc == RS_NONE) {
        if (f->processes) printf("  of        %" PRIu32 " processes\n", f->processes);
        return;
    }
    const struct rs_proc *p = &m->procs[f->proc];
    const char *host = rs_host_name(m, p->host);
    printf("  of        process ");
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
    printf("  span      %s%s\n", rs_text_ns(rs_time_minus(f->to, f->from)).s, rs_text_when(f->from).s);
}

static bool are_same(const struct rs_sentences *a, const struct rs_sentences *b)
{
    if (a->n != b->n) return false;
    for (uint32_t i = 0; i < a->n; i++)
        if (strcmp(a->rows[i], b->rows[i]) != 0) return false;
    return true;
}

static void print_contents(const struct rs_contents *files, uint32_t n, const struct rs_model *m)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct rs_contents *f = &files[i];
        char head[1024];
        snprintf(head, sizeof head, "%.800s: %s%s", f->path, f->what, f->complete ? "" : " (not complete)");
        if (i) printf("\n");
        rs_screen_print("%s\n", head);
        print_who(f, m);
        print_span(f);
        print_sentences("contains", &f->contains);
        if (i && f->missing.n && are_same(&f->missing, &files[i - 1].missing))
            printf("  missing   The same as the file above.\n");
        else
            print_sentences("missing", &f->missing);
    }
}

static void sentences_json(struct rs_json *j, const char *key, const struct rs_sentences *s)
{
    rs_json_key(j, key);
    rs_json_array(j);
    for (uint32_t i = 0; i < s->n; i++) rs_json_str(j, s->rows[i]);
    rs_json_end(j);
}

static void contents_json(struct rs_json *j, const struct rs_contents *files, uint32_t n, const struct rs_model *m)
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

/* ---- names and formats ---- */

static void print_term(const struct rs_term_table *table, const struct rs_term *term)
{
    printf("%s: %s; %s\n    ", term->name, term->kind, table->what);
    print_wrapped(term->text, 4);
}

static void print_list(void)
{
    const struct rs_term_table *t;
    for (size_t i = 0; (t = rs_explain_table(i)); i++) {
        printf("%s%s: %s\n    ", i ? "\n" : "", t->format, t->what);
        size_t at = 4;
        for (size_t k = 0; k < t->n; k++) {
            size_t n = strlen(t->terms[k].name);
            if (at > 4 && at + n + 2 > line_width()) {
                printf("\n    ");
                at = 4;
            }
            printf("%s%s", t->terms[k].name, k + 1 < t->n ? ", " : "\n");
            at += n + 2;
        }
    }
    printf("\n`ringscope explain NAME` explains one of them; `ringscope explain FILE` what a file contains.\n");
}

static void print_formats(void)
{
    const struct rs_term_table *t;
    printf("Any command takes files and folders of these formats, mixed; plain");
    for (int i = 1; rs_compression_at(i); i++)
        printf("%s%s", rs_compression_at(i + 1) ? ", " : " or ", rs_compression_at(i)->name);
    printf(". They are recognised.\n");
    for (size_t i = 0; (t = rs_explain_table(i)); i++) {
        if (!t->holds) continue;
        printf("\n%s: %s\n    ", t->format, t->what);
        print_wrapped(t->holds, 4);
    }
    printf("\nRecognised, and not read:\n");
    const struct rs_refused *r;
    for (size_t i = 0; (r = rs_refused_at(i)); i++)
        if (!i || strcmp(r[-1].what, r->what) != 0) printf("  %s: %s\n", r->what, r->instead);
}

/* ---- JSON ---- */

static void term_json(struct rs_json *j, const struct rs_term_table *table, const struct rs_term *term)
{
    rs_json_object(j);
    rs_json_key_str(j, "name", term->name);
    rs_json_key_str(j, "format", table->format);
    rs_json_key_str(j, "kind", term->kind);
    rs_json_key_str(j, "text", term->text);
    rs_json_end(j);
    rs_json_newline(j);
}

static void formats_json(struct rs_json *j)
{
    const struct rs_term_table *t;
    for (size_t i = 0; (t = rs_explain_table(i)); i++) {
        if (!t->holds) continue;
        rs_json_object(j);
        rs_json_key_str(j, "format", t->format);
        rs_json_key_str(j, "what", t->what);
        rs_json_key_str(j, "holds", t->holds);
        rs_json_end(j);
        rs_json_newline(j);
    }
}

/* ---- terms ---- */

/* All rows that are meant by a word, or all there are (NULL). `j` NULL: as text. */
static size_t show_terms(struct rs_json *j, const char *typed)
{
    const struct rs_term_table *t;
    size_t shown = 0;
    for (size_t i = 0; (t = rs_explain_table(i)); i++)
        for (size_t k = 0; k < t->n; k++) {
            if (typed && !rs_term_is(&t->terms[k], typed)) continue;
            if (j)
                term_json(j, t, &t->terms[k]);
            else
                print_term(t, &t->terms[k]);
            shown++;
        }
    return shown;
}

/* A kernel by its whole name, as it is in a trace. */
static size_t show_kernel(struct rs_json *j, const char *typed)
{
    const struct rs_comm_kernel *kernel = rs_kernel_comm(typed, strlen(typed));
    return kernel ? show_terms(j, kernel->word) : 0;
}

/* Names that contain the word, and the nearest name. */
static void suggest(const struct rs_command *self, const char *typed)
{
    enum { MOST = 6 };
    struct rs_suggest near = {.typed = typed};
    const struct rs_term_table *t;
    const char *found[MOST] = {0};
    size_t n = 0;
    for (size_t i = 0; (t = rs_explain_table(i)); i++)
        for (size_t k = 0; k < t->n; k++) {
            const char *name = t->terms[k].name;
            bool known = false;
            rs_suggest_offer(&near, name);
            for (size_t f = 0; f < n; f++) known |= !strcasecmp(found[f], name);
            if (!known && n < MOST && strlen(typed) > 2 && strcasestr(name, typed)) found[n++] = name;
        }
    fprintf(stderr, "ringscope %s: nothing is known of '%s'", self->name, typed);
    if (near.best && !n) fprintf(stderr, "; did you mean '%s'?", near.best);
    for (size_t f = 0; f < n; f++) fprintf(stderr, "%s'%s'", f ? ", " : "; did you mean one of ", found[f]);
    fprintf(stderr, "\n`ringscope explain` lists all names; a file is explained by its path\n");
}

static int explain_words(const struct rs_command *self, struct rs_json *j, char *const *words, int n)
{
    int status = RS_EXIT_FINE;
    for (int i = 0; i < n; i++) {
        if (!strcasecmp(words[i], "formats")) {
            if (j)
                formats_json(j);
            else
                print_formats();
        } else if (!show_terms(j, words[i]) && !show_kernel(j, words[i])) {
            suggest(self, words[i]);
            status = RS_EXIT_FAILURE;
        }
    }
    return status;
}

/* ---- files ---- */

static int explain_files(const struct rs_command *self, struct rs_json *j, char *const *paths, int n,
                         const struct rs_common *how)
{
    struct rs_inputs in;
    struct rs_model m;
    struct rs_contents *files;
    uint32_t nfiles;
    struct rs_err err;
    int bad = rs_reading_open(self, &in, paths, (size_t)n, "all");
    if (bad) return bad;
    bad = rs_reading_join(self, &in, &m, how);
    if (!bad) {
        if (rs_contents_find(&files, &nfiles, &in, &m, &err) != RS_OK) {
            bad = rs_print_err(self->name, &err);
        } else {
            if (j)
                contents_json(j, files, nfiles, &m);
            else
                print_contents(files, nfiles, &m);
            rs_contents_free(files, nfiles);
        }
        rs_model_free(&m);
    }
    rs_inputs_close(&in);
    return bad;
}

static int run(const struct rs_command *self, int argc, char **argv)
{
    struct rs_common common;
    int n, done = rs_common_parse(self, &common, RS_NO_OPTIONS, argc, argv, &n);
    if (done >= 0) return done;
    /* Files to the front, words behind them. */
    int files = 0;
    for (int i = 0; i < n; i++) {
        if (access(argv[1 + i], F_OK) != 0 && !strchr(argv[1 + i], '/')) continue;
        char *path = argv[1 + i];
        memmove(&argv[2 + files], &argv[1 + files], (size_t)(i - files) * sizeof *argv);
        argv[1 + files++] = path;
    }
    struct rs_json *j = common.json ? rs_output_json() : NULL;
    struct rs_err err;
    int status = RS_EXIT_FINE;
    if (!n && j)
        show_terms(j, NULL);
    else if (!n)
        print_list();
    if (files) status = explain_files(self, j, argv + 1, files, &common);
    int words = explain_words(self, j, argv + 1 + files, n - files);
    if (status == RS_EXIT_FINE) status = words;
    if (j && rs_json_finish(j, &err) != RS_OK) status = rs_print_err(self->name, &err);
    return status;
}

const struct rs_command rs_cmd_explain = {
    .name = "explain",
    .summary = "what a name in a trace means; what a file contains, what is missing, and why",
    .usage = "[options] [NAME|FILE|formats]...",
    .text = "Explains events, states, fields and columns of the formats that ringscope reads, of its own JSON, and its "
            "terms.\n"
            "For a file: what it contains, what is missing, and why. Without a name: all names, by format.",
    .examples = "ringscope explain ProxyStepSendPeerWait   # or SendPeerWait, or sendpeerwait\n"
                "ringscope explain \"Comms Id\" tie          # several at once\n"
                "ringscope explain formats                 # what ringscope reads\n"
                "ringscope explain dump_1234_2.json        # what this file contains",
    .json = "JSON Lines: one per term, format or file",
    .run = run,
};
