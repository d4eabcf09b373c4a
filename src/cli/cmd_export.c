/* ringscope export: a run in the format of another tool. */
#include "base/file.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/reading.h"
#include "export/jsonl.h"

#include <stdlib.h>
#include <string.h>

struct options {
    const char *to;
    const char *out;
    const char *run;
    bool force;
};

static const struct {
    const char *name;
    enum rs_status (*write)(struct rs_inputs *inputs, struct rs_json *json, struct rs_err *err);
} formats[] = {
    {"jsonl", rs_export_jsonl},
};
enum { NFORMATS = sizeof formats / sizeof *formats };

static enum rs_status write_to(const struct options *o, size_t format, struct rs_inputs *in, struct rs_err *err)
{
    struct rs_out out;
    RS_TRY(rs_out_open(&out, o->out, o->force, err));
    struct rs_json *j = malloc(sizeof *j); /* large: not for the stack */
    if (!j) {
        rs_out_abort(&out);
        return rs_fail(err, RS_NO_MEMORY, "out of memory");
    }
    rs_json_to_file(j, out.file, o->out ? o->out : "standard output");
    enum rs_status status = formats[format].write(in, j, err);
    if (status == RS_OK) status = rs_json_finish(j, err);
    free(j);
    if (status == RS_OK) return rs_out_commit(&out, err);
    rs_out_abort(&out);
    return status;
}

static int run(const struct rs_command *self, int argc, char **argv)
{
    struct options o = {0};
    const struct rs_opt opts[] = {
        {RS_OPT_STRING, 't', "to", &o.to, "FORMAT", "jsonl: the full log, one JSON object a callback"},
        {RS_OPT_STRING, 'o', "output", &o.out, "FILE", "write here (default: standard output)"},
        RS_RUN_OPT(o.run),
        {RS_OPT_FLAG, 'f', "force", &o.force, NULL, "overwrite FILE"},
        {RS_OPT_END, 0, NULL, NULL, NULL, NULL},
    };
    int n, done = rs_opt_parse(self, opts, argc, argv, &n);
    if (done >= 0) return done;
    if (!o.to) return rs_opt_usage(self, "which format? --to jsonl");
    if (!n) return rs_opt_usage(self, "nothing to read: name a recording or a folder of them");
    size_t format = 0;
    while (format < NFORMATS && strcmp(formats[format].name, o.to)) format++;
    if (format == NFORMATS) return rs_opt_usage(self, "unknown format '%s'; there is: jsonl", o.to);

    struct rs_inputs in;
    int bad = rs_reading_open(self, &in, argv + 1, (size_t)n, o.run);
    if (bad) return bad;
    struct rs_err err;
    int status = RS_EXIT_FINE;
    if (!in.n) {
        rs_warn(self->name,
                "%s: no recording of ringscope: jsonl holds the callbacks of recordings, which other tools' "
                "traces do not have (`ringscope ops --json` has their operations)",
                argv[1]);
        rs_inputs_close(&in);
        return RS_EXIT_FAILURE;
    }
    if (in.nothers)
        rs_warn(self->name, "%zu file%s of other tools left out: jsonl holds the callbacks of recordings", in.nothers,
                in.nothers == 1 ? "" : "s");
    if (write_to(&o, format, &in, &err) != RS_OK) status = rs_print_err(self->name, &err);
    rs_reading_complaints(self, &in);
    rs_inputs_close(&in);
    return status;
}

const struct rs_command rs_cmd_export = {
    .name = "export",
    .summary = "write recordings in another format",
    .usage = "--to FORMAT [options] RECORDING...",
    .text = "Reads ringscope's recordings, or folders of them, and writes what they hold. An existing FILE is not "
            "overwritten without\n"
            "--force, and appears only when it is complete.",
    .examples = "ringscope export --to jsonl ringscope-run -o run.jsonl       # every callback, one a line\n"
                "ringscope export --to jsonl run/n1.4711.rsc | grep '\"AllReduce\"'",
    .run = run,
};
