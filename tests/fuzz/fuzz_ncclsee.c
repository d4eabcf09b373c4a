/* Any bytes as the tables of ncclsee, of two processes, through the fill, the model and the join to the statistics. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analyse/statistics.h"
#include "foreign/formats.h"
#include "foreign/ncclsee/ncclsee.h"
#include "join/join.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile size_t looked_at; /* so that everything is */

static void must(int fine)
{
    if (!fine) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd = memfd_create("table", MFD_CLOEXEC);
    must(fd >= 0 && (!size || write(fd, data, size) == (ssize_t)size));
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    rs_ncclsee_is(path, (const char *)data, size);
    struct rs_other files[2] = {{.path = path, .complete = true}, {.path = path, .complete = true}};
    struct rs_other *list[2] = {&files[0], &files[1]};
    struct rs_model m = {0};
    struct rs_fill fill = {.model = &m, .files = list, .n = 2};
    struct rs_err err;
    must(rs_ncclsee_fill(&fill, &err) == RS_OK);
    for (int i = 0; i < 2; i++) must(files[i].complete == !files[i].why[0]);
    for (uint32_t i = 0; i < m.nstats; i++)
        must(m.stats[i].proc < m.nprocs && (m.stats[i].total_ns >= 0 || m.stats[i].total_ns == RS_TIME_NONE));
    must(rs_model_link(&m, &err) == RS_OK && rs_join(&m, true, &err) == RS_OK);
    struct rs_statistics s;
    must(rs_statistics_make(&s, &m, &err) == RS_OK);
    struct rs_strbuf text = {0};
    for (unsigned next = 0; rs_statistics_say(&s, &next, &text);) looked_at += text.len;
    rs_strbuf_free(&text);
    rs_statistics_free(&s);
    rs_model_free(&m);
    close(fd);
    return 0;
}
