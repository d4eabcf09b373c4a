/* ringscope view: the timeline as one HTML file, as a picture, or in the terminal. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/print/output.h"
#include "cli/reading.h"
#include "cli/view_bundle.h"
#include "picture/picture.h"

enum { MOST_HTML = 256 << 20 };

enum kind { KIND_HTML, KIND_SVG, KIND_PNG, KIND_TEXT };

struct options {
    struct rs_view_options view;
    enum kind kind;
    const char *out;
    int relations; /* enum rs_picture_relations; -1: not asked for */
    bool text, force, dark, light, open_rows, ascii, all_gpus, no_conclusion, by_default;
    int64_t width, most;
    const char *page; /* that a bundle is put into */
    size_t page_bytes;
};

/* For messages. */
static const char *name_of(const struct options *o)
{
    return strcmp(o->out, "-") ? o->out : "standard output";
}

/* ---- a page ---- */

static enum rs_status write_page(const struct options *o, int bundle, const struct rs_bundle_sizes *sizes,
                                 struct rs_err *err)
{
    struct rs_out out;
    RS_TRY(rs_out_open(&out, o->out, o->force, err));
    enum rs_status status = rs_bundle_html(o->page, o->page_bytes, bundle, sizes, out.file, name_of(o), err);
    if (status == RS_OK) return rs_out_commit(&out, err);
    rs_out_abort(&out);
    return status;
}

/* On a terminal one line says what there is now; scripts need none. */
static void say_done(const struct options *o, const struct rs_bundle_sizes *sizes)
{
    if (!isatty(STDERR_FILENO) || !strcmp(o->out, "-")) return;
    fprintf(stderr, "%s: %s bars, %s operations, %s; open it in a browser\n", o->out, rs_text_count(sizes->bars).s,
            rs_text_count(sizes->operations).s, rs_text_bytes(rs_bundle_html_bytes(o->page_bytes, sizes)).s);
}

static int make_page(const struct rs_command *self, struct options *o, struct rs_inputs *in)
{
    struct rs_bundle_sizes sizes;
    struct rs_err err;
    o->view.most = (uint64_t)o->most;
    int bundle = rs_view_temporary(self);
    if (bundle < 0) return RS_EXIT_FAILURE;
    int status = rs_view_bundle(self, in, &o->view, bundle, &sizes);
    uint64_t bytes = status ? 0 : rs_bundle_html_bytes(o->page_bytes, &sizes);
    if (bytes > (uint64_t)o->most)
        status = rs_view_too_large(self, bytes, false);
    else if (!status && write_page(o, bundle, &sizes, &err) != RS_OK)
        status = rs_print_err(self->name, &err);
    else if (!status)
        say_done(o, &sizes);
    close(bundle);
    return status;
}

/* ---- a picture ---- */

static unsigned terminal_width(void)
{
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    int64_t n;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    if (columns && rs_opt_int(columns, &n) && n > 0 && n <= RS_PICTURE_WIDEST) return (unsigned)n;
    return 0;
}

/* A locale that cannot show block characters, by the names that programs go by. */
static bool is_ascii_locale(void)
{
    const char *names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *v = getenv(names[i]);
        if (v && *v) return !strcasestr(v, "utf");
    }
    return false;
}

static enum rs_status draw(const struct options *o, struct rs_drawing *v, const struct rs_view_conclusion *said,
                           uint64_t *bars, struct rs_err *err)
{
    static const enum rs_picture_format formats[] = {
        [KIND_SVG] = RS_PICTURE_SVG, [KIND_PNG] = RS_PICTURE_PNG, [KIND_TEXT] = RS_PICTURE_TEXT};
    const struct rs_filter *f = &o->view.common.filters.filter;
    const char *no_colour = getenv("NO_COLOR");
    bool to_terminal = o->kind == KIND_TEXT && !strcmp(o->out, "-") && isatty(STDOUT_FILENO);
    struct rs_picture_options p = {
        .format = formats[o->kind],
        .title = v->title,
        .sentences = (const char *const *)said->sentences,
        .nsentences = said->n,
        .width = o->width      ? (unsigned)o->width
                 : to_terminal ? terminal_width()
                               : 0,
        .dark = o->dark,
        .fold = !o->open_rows,
        .colour = to_terminal && !(no_colour && *no_colour),
        .ascii = o->ascii || (o->kind == KIND_TEXT && is_ascii_locale()),
        .all = o->all_gpus,
        .relations = o->relations < 0 ? RS_RELATIONS_FEW : (enum rs_picture_relations)o->relations,
        .has_span = f->has_from || f->has_to,
        .from = f->has_from ? rs_time_minus(f->from, v->timeline.begin) : v->timeline.focus_from,
        .to = f->has_to ? rs_time_minus(f->to, v->timeline.begin) : v->timeline.focus_to,
    };
    struct rs_out out;
    RS_TRY(rs_out_open(&out, o->out, o->force, err));
    enum rs_status status = rs_picture_draw(&v->timeline, &p, out.file, name_of(o), bars, err);
    if (status == RS_OK && *bars) return rs_out_commit(&out, err);
    rs_out_abort(&out);
    return status;
}

static int make_picture(const struct rs_command *self, struct options *o, struct rs_inputs *in)
{
    struct rs_drawing v;
    struct rs_err err;
    int bad = rs_drawing_make(self, &v, in, &o->view);
    if (!bad) bad = rs_drawing_refuse_empty(self, &v, &o->view);
    if (bad) return bad;
    uint64_t bars = 0;
    struct rs_view_conclusion said = {0};
    enum rs_status done = RS_OK;
    if (!o->no_conclusion) done = rs_view_conclude(&said, &v.model, &o->view.common.filters, &err);
    if (done == RS_OK) done = draw(o, &v, &said, &bars, &err);
    rs_view_conclusion_free(&said);
    int status = done == RS_OK ? RS_EXIT_FINE : rs_print_err(self->name, &err);
    return rs_drawing_end(self, &v, &o->view, status, bars);
}

/* Who did not say where to has seen the least of it. */
static void say_more(void)
{
    if (isatty(STDOUT_FILENO) && isatty(STDERR_FILENO))
        fprintf(stderr, "next: -o run.html writes an interactive page, `ringscope serve` shows it at once\n");
}

/* ---- the command ---- */

static bool is_called(const struct options *o, const char *ending)
{
    return o->out && rs_name_ending(o->out, strlen(o->out), ending);
}

/* What is to be made, by the options and the name of the output. -1: go on; else the exit status. */
static int choose_kind(const struct rs_command *self, struct options *o)
{
    o->by_default = !o->out && !o->text;
    if (!o->out) o->text = true; /* as other commands do; say_more() mentions the page */
    bool html = is_called(o, ".html") || is_called(o, ".htm");
    bool picture = is_called(o, ".svg") || is_called(o, ".png");
    if (o->text && (html || picture))
        return rs_opt_usage(self, "--text writes text: give another name than '%s', or none for the terminal", o->out);
    if (o->text)
        o->kind = KIND_TEXT;
    else if (html || !strcmp(o->out, "-"))
        o->kind = KIND_HTML;
    else if (picture)
        o->kind = is_called(o, ".svg") ? KIND_SVG : KIND_PNG;
    else if (is_called(o, ".txt"))
        o->kind = KIND_TEXT;
    else
        return rs_opt_usage(self, "'%s': the suffix selects the format: .html, .svg, .png or .txt", o->out);
    if (!o->out) o->out = "-";
    return -1;
}

/* Refuses what would change nothing in an output of this kind. */
static int check_used(const struct rs_command *self, const struct options *o)
{
    enum { HTML = 1 << KIND_HTML, PICTURE = 1 << KIND_SVG | 1 << KIND_PNG, TEXT = 1 << KIND_TEXT };
    const struct {
        bool given;
        const char *name;
        unsigned kinds;
        const char *what;
    } uses[] = {
        {o->most != MOST_HTML, "most", HTML, "pages (.html)"},
        {o->relations >= 0, "relations", PICTURE, "pictures (.svg, .png)"},
        {o->open_rows, "open-rows", PICTURE | TEXT, "pictures and text"},
        {o->width != 0, "width", PICTURE | TEXT, "pictures and text"},
        {o->dark, "dark", PICTURE | TEXT, "pictures and text"},
        {o->light, "light", PICTURE | TEXT, "pictures and text"},
        {o->ascii, "ascii", PICTURE | TEXT, "pictures and text"},
        {o->all_gpus, "all-gpus", TEXT, "text"},
        {o->no_conclusion, "no-conclusion", PICTURE | TEXT, "pictures and text"},
    };
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
        if (uses[i].given && !(uses[i].kinds >> o->kind & 1))
            return rs_opt_usage(self, "--%s changes nothing here: it is for %s", uses[i].name, uses[i].what);
    return -1;
}

static int check(const struct rs_command *self, struct options *o)
{
    int done = choose_kind(self, o);
    if (done < 0) done = check_used(self, o);
    if (done >= 0) return done;
    if (o->dark && o->light) return rs_opt_usage(self, "--dark or --light, not both");
    if (o->width < 0 || o->width > RS_PICTURE_WIDEST)
        return rs_opt_usage(self, "--width takes 1 to %d", RS_PICTURE_WIDEST);
    if (o->most <= 0) return rs_opt_usage(self, "--most takes a number of bytes");
    return rs_view_options_check(self, &o->view);
}

/* What can be known before minutes of work: that there is no page, or that the output is there already. -1: go on. */
static int check_output(const struct rs_command *self, struct options *o)
{
    if (o->kind == KIND_HTML && !(o->page = rs_view_page(self, &o->page_bytes))) return RS_EXIT_FAILURE;
    struct rs_out out;
    struct rs_err err;
    struct stat st;
    if (!strcmp(o->out, "-")) return -1;
    /* A pipe is opened once: whoever reads it would take the first closing for the end. */
    if (stat(o->out, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) return -1;
    if (rs_out_open(&out, o->out, o->force, &err) != RS_OK) return rs_print_err(self->name, &err);
    rs_out_abort(&out);
    return -1;
}

static int make(const struct rs_command *self, struct rs_inputs *in, void *to)
{
    struct options *o = to;
    int status = check_output(self, o);
    if (status < 0) status = o->kind == KIND_HTML ? make_page(self, o, in) : make_picture(self, o, in);
    if (!status && o->by_default) say_more();
    return status;
}

static int run(const struct rs_command *self, int argc, char **argv)
{
    struct options o = {.most = MOST_HTML, .relations = -1};
    const struct rs_opt opts[] = {
        {RS_OPT_STRING, 'o', "output", &o.out, "FILE", "write here: .html, .svg, .png or .txt (- is a page on stdout)"},
        {RS_OPT_FLAG, 't', "text", &o.text, NULL, "a timeline in the terminal (the default without -o)"},
        {RS_OPT_FLAG, 'f', "force", &o.force, NULL, "overwrite FILE"},
        {RS_OPT_INT, 0, "most", &o.most, "BYTES", "refuse to write a larger page (256Mi)"},
        {RS_OPT_WORD, 0, "relations", &o.relations, "none|few|all",
         "lines between bars in a picture (few: what stays readable)"},
        {RS_OPT_FLAG, 0, "open-rows", &o.open_rows, NULL, "in a picture: all rows, not one per GPU"},
        {RS_OPT_INT, 0, "width", &o.width, "N", "of a picture in pixels, of text in columns"},
        {RS_OPT_FLAG, 0, "dark", &o.dark, NULL, "a picture on a dark background"},
        {RS_OPT_FLAG, 0, "light", &o.light, NULL, "a picture on a light background (the default)"},
        {RS_OPT_FLAG, 0, "ascii", &o.ascii, NULL, "text without block characters"},
        {RS_OPT_FLAG, 0, "all-gpus", &o.all_gpus, NULL, "text of all GPUs (default: 48 that waited most or came last)"},
        {RS_OPT_FLAG, 0, "no-conclusion", &o.no_conclusion, NULL, "without the report's conclusion below"},
        {.kind = RS_OPT_END},
    };
    int n, done = rs_common_parse(self, &o.view.common, opts, argc, argv, &n);
    if (done < 0) done = check(self, &o);
    if (done >= 0) return done;
    return rs_reading_inputs(self, argv + 1, n, o.view.common.run, make, &o);
}

const struct rs_command rs_cmd_view = {
    .name = "view",
    .summary = "the timeline: in the terminal, as one HTML file, or as a picture (SVG, PNG)",
    .usage = "[options] IN... [-o FILE]",
    .text =
        "Draws what happened on each GPU and when, with operations joined across ranks: in the terminal, or into a "
        "FILE\n"
        "whose suffix selects the format. An HTML file contains everything and needs no network; for larger runs use\n"
        "`ringscope serve`. --level ops draws operations, calls and launches; net (the default) also GPU channels, "
        "proxy\n"
        "operations and network steps; all also the network plugin and the proxy thread.",
    .examples = "ringscope view rec                  # in the terminal: who waits (light), and for whom (last)\n"
                "ringscope view rec -o run.html      # to zoom, search and follow relations, in a browser\n"
                "ringscope view rec -o step.svg --from 1.2s --to 1.3s --rank 0-7",
    .takes = "draw filter level reading",
    .run = run,
};
