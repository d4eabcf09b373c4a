/* Any bytes as Kineto traces of two ranks, through the model and the join: no crash, no hang, and what is kept is
 * sound. The two are parted by the first 0 byte. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "foreign/formats.h"
#include "join/join.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int fine)
{
    if (!fine) abort();
}

static int put(struct rs_other *o, char *path, size_t bytes, const uint8_t *data, size_t n)
{
    int fd = memfd_create("trace", MFD_CLOEXEC);
    must(fd >= 0 && (!n || write(fd, data, n) == (ssize_t)n));
    snprintf(path, bytes, "/proc/self/fd/%d", fd);
    *o = (struct rs_other){.path = path, .complete = true};
    return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *zero = size ? memchr(data, 0, size) : NULL;
    size_t n = zero ? (size_t)(zero - data) : size;
    rs_kineto_is("trace", (const char *)data, size);
    struct rs_other files[2], *list[2] = {&files[0], &files[1]};
    char paths[2][64];
    int fds[2] = {put(&files[0], paths[0], sizeof paths[0], data, n)};
    fds[1] = put(&files[1], paths[1], sizeof paths[1], zero ? zero + 1 : data, zero ? size - n - 1 : n);
    struct rs_model m = {0};
    struct rs_err err = {0};
    struct rs_fill fill = {.model = &m, .files = list, .n = 2};
    must(rs_kineto_fill(&fill, &err) == RS_OK);
    for (int i = 0; i < 2; i++) must(files[i].complete == !files[i].why[0]);
    for (uint32_t i = 0; i < m.activities.n; i++) {
        must(m.activities.end[i] >= m.activities.start[i] && m.activities.lane[i] < m.nlanes);
        must(m.activities.part[i] == RS_NONE || m.activities.part[i] < m.parts.n);
        must(m.activities.launch[i] == RS_NONE || m.activities.launch[i] < m.activities.n);
    }
    for (uint32_t i = 0; i < m.parts.n; i++)
        must(m.parts.member[i] < m.nmembers && *rs_model_text(&m, m.parts.func[i]));
    must(m.ntags == m.parts.n);
    must(rs_model_link(&m, &err) == RS_OK);
    must(rs_join(&m, true, &err) == RS_OK);
    rs_model_free(&m);
    for (int i = 0; i < 2; i++) close(fds[i]);
    return 0;
}
