/* Any bytes as a file of stage times. Rows name their stage and do not end before they begin. */
#include <stdlib.h>
#include <string.h>

#include "foreign/stages/stages.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile size_t looked_at; /* so that everything is */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rs_stage_file f;
    struct rs_bytes *bytes;
    struct rs_err err;
    if (rs_bytes_memory(&bytes, "x", data, size, 64, &err) != RS_OK) return 0;
    if (rs_stage_file_read(&f, bytes, &err) == RS_OK) {
        for (uint32_t i = 0; i < f.nrows; i++) {
            if (f.rows[i].name >= f.nnames || f.rows[i].end < f.rows[i].start || f.rows[i].chunk < 0) abort();
            looked_at += strlen(f.names[f.rows[i].name]);
        }
        rs_stage_file_free(&f);
    }
    rs_bytes_close(bytes);
    return 0;
}
