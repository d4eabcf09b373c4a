#include "foreign/ncclsee/ncclsee.h"

#include <stdlib.h>
#include <string.h>

#include "base/room.h"
#include "foreign/formats.h"
#include "foreign/lines.h"

enum column { FUNC, LABEL, MIN, MAX, CALLS, BYTES, TIME, COLUMNS, MOST = 16 };

static const char *const names[COLUMNS] = {"CollectiveType", "BucketLabel",      "BucketMin",   "BucketMax",
                                           "Calls",          "BytesTransferred", "TotalTime_us"};

/* The position of each column; false when the line is no header. */
static bool header(const char *text, size_t n, unsigned place[COLUMNS])
{
    struct rs_slice f[MOST];
    unsigned count = rs_csv_split(text, n, f, MOST);
    for (unsigned c = 0; c < COLUMNS; c++) {
        place[c] = 0;
        while (place[c] < count && !rs_slice_is(f[place[c]], names[c])) place[c]++;
        if (place[c] == count) return false;
    }
    return true;
}

static void copy(char to[32], struct rs_slice f)
{
    size_t n = f.n < 31 ? f.n : 31;
    memcpy(to, f.text, n);
    to[n] = 0;
}

static bool take_row(const struct rs_lines *l, const unsigned place[COLUMNS], struct rs_ncclsee_row *row)
{
    struct rs_slice f[MOST];
    unsigned count = rs_csv_split(l->text, l->n, f, MOST);
    for (unsigned c = 0; c < COLUMNS; c++)
        if (place[c] >= count) return false;
    *row = (struct rs_ncclsee_row){.min_bytes = -1};
    copy(row->func, f[place[FUNC]]);
    copy(row->label, f[place[LABEL]]);
    if (!rs_slice_fixed(f[place[MIN]], 0, &row->min_bytes)) row->min_bytes = -1; /* N/A in the row of groups */
    if (!rs_slice_fixed(f[place[MAX]], 0, &row->max_bytes)) row->max_bytes = -1;
    if (!rs_slice_fixed(f[place[BYTES]], 0, &row->bytes)) row->bytes = -1;
    if (!rs_slice_fixed(f[place[TIME]], 3, &row->time_ns)) row->time_ns = -1;
    return row->func[0] && rs_slice_u64(f[place[CALLS]], &row->calls);
}

static enum rs_status read_lines(struct rs_ncclsee *p, struct rs_lines *l, const char *path, struct rs_err *err)
{
    unsigned place[COLUMNS];
    if (!rs_lines_next(l) || !header(l->text, l->n, place))
        return rs_fail(err, RS_BAD_INPUT, "%s: at byte 0: the header of ncclsee is missing", path);
    while (rs_lines_next(l)) {
        struct rs_ncclsee_row row;
        if (!l->n) continue;
        /* A last line without an end may have lost digits of its time. */
        if (l->unended || !take_row(l, place, &row)) {
            if (!p->bad_lines++)
                rs_fail(&p->damage, RS_BAD_INPUT, "%s: at byte %llu: %s", path, (unsigned long long)l->offset,
                        l->unended ? "the last line has no end" : "not a row of ncclsee");
            continue;
        }
        RS_ROOM(p->rows, p->n, p->cap);
        p->rows[p->n++] = row;
    }
    if (l->err.code != RS_OK && p->damage.code == RS_OK) p->damage = l->err;
    return RS_OK;
}

enum rs_status rs_ncclsee_read(struct rs_ncclsee *p, const char *path, struct rs_err *err)
{
    struct rs_bytes *bytes;
    struct rs_lines lines;
    *p = (struct rs_ncclsee){0};
    RS_TRY(rs_bytes_open(&bytes, path, err));
    rs_lines_bytes(&lines, bytes);
    enum rs_status status = read_lines(p, &lines, path, err);
    rs_lines_free(&lines);
    rs_bytes_close(bytes);
    return status;
}

void rs_ncclsee_free(struct rs_ncclsee *p)
{
    free(p->rows);
    *p = (struct rs_ncclsee){0};
}

bool rs_ncclsee_is(const char *path, const char *head, size_t n)
{
    (void)path;
    static const char first[] = "CollectiveType,BucketLabel,";
    return n >= sizeof first - 1 && !memcmp(head, first, sizeof first - 1);
}
