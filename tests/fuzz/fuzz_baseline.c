/* Any bytes as a baseline, compared with itself: figures are finite, and so is what is said of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare/baseline.h"
#include "compare/comparison.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile size_t looked_at; /* so that everything is */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rs_baseline b;
    struct rs_bytes *bytes;
    struct rs_err err;
    if (rs_bytes_memory(&bytes, "x", data, size, 64, &err) != RS_OK) return 0;
    if (rs_baseline_read(&b, bytes, &err) == RS_OK) {
        struct rs_comparison c;
        uint32_t half = (b.n + 1) / 2;
        rs_comparison_init(&c, (struct rs_side){b.runs, half}, (struct rs_side){b.runs + b.n / 2, b.n - b.n / 2});
        for (uint32_t i = 0; i < c.nrows; i++)
            if (c.rows[i].verdict > RS_NO_DIFFERENCE && isnan(c.rows[i].change)) abort();
        for (uint32_t i = 0; i < c.nconclusion; i++) looked_at += strlen(c.conclusion[i]);
        rs_comparison_free(&c);
        rs_baseline_free(&b);
    }
    rs_bytes_close(bytes);
    return 0;
}
