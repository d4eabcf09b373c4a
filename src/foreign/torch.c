#include "foreign/torch.h"

#include <stdlib.h>
#include <string.h>

#include "base/mix.h"

struct word {
    const char *torch, *nccl;
};

/* What a name begins with, once "nccl:", underscores at its front and case are gone; longer ones before their
 * beginnings. */
static const struct word funcs[] = {
    {"allreduce", "AllReduce"}, {"allgather", "AllGather"},
    {"alltoall", "AlltoAll"},   {"reducescatter", "ReduceScatter"},
    {"reduce", "Reduce"},       {"broadcast", "Broadcast"},
    {"barrier", "AllReduce"},   {"gather", "Gather"},
    {"scatter", "Scatter"},     {"send", "Send"},
    {"recv", "Recv"},
};

static const struct word types[] = {
    {"float", "ncclFloat32"},
    {"half", "ncclFloat16"},
    {"bfloat16", "ncclBfloat16"},
    {"double", "ncclFloat64"},
    {"int", "ncclInt32"},
    {"long", "ncclInt64"},
    {"short", "ncclInt16"},
    {"byte", "ncclUint8"},
    {"char", "ncclInt8"},
    {"bool", "ncclUint8"},
    {"float32", "ncclFloat32"},
    {"float16", "ncclFloat16"},
    {"float64", "ncclFloat64"},
    {"int32", "ncclInt32"},
    {"int64", "ncclInt64"},
    {"int8", "ncclInt8"},
    {"uint8", "ncclUint8"},
    {"uint32", "ncclUint32"},
    {"uint64", "ncclUint64"},
    {"float8e4m3fn", "ncclFloat8e4m3"},
    {"float8e5m2", "ncclFloat8e5m2"},
};

/* Small letters and digits of `name` alone, after the last ':'. */
static size_t bare(const char *name, size_t n, char *to, size_t bytes)
{
    size_t k = 0;
    for (size_t i = 0; i < n && k + 1 < bytes; i++) {
        char c = name[i];
        if (c == ':') k = 0;
        if (c == ' ') break; /* "send 1->2" */
        if (c >= 'A' && c <= 'Z') c = (char)(c - 'A' + 'a');
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) to[k++] = c;
    }
    to[k] = 0;
    return k;
}

const char *rs_torch_func(const char *name, size_t n)
{
    char text[64];
    bare(name, n, text, sizeof text);
    for (size_t i = 0; i < sizeof funcs / sizeof *funcs; i++)
        if (!strncmp(text, funcs[i].torch, strlen(funcs[i].torch))) return funcs[i].nccl;
    return NULL;
}

const char *rs_torch_dtype(const char *name, size_t n)
{
    char text[64];
    bare(name, n, text, sizeof text);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strcmp(text, types[i].torch)) return types[i].nccl;
    return "";
}

uint64_t rs_torch_group(const char *name, size_t n, const int32_t *ranks, uint32_t nranks)
{
    uint64_t h = n + 1, sum = nranks;
    for (size_t i = 0; i < n; i++) h = rs_mix(h, (unsigned char)name[i]);
    for (uint32_t i = 0; i < nranks; i++) sum += rs_mix(nranks, (uint32_t)ranks[i]);
    h = rs_mix(h, sum);
    return h ? h : 1;
}

uint32_t rs_torch_ranks(const char *text, size_t n, int32_t *ranks, uint32_t most, bool *cut)
{
    uint32_t found = 0;
    *cut = false;
    for (size_t i = 0; i < n;) {
        if (text[i] == '.') *cut = true;
        if (text[i] < '0' || text[i] > '9') {
            i++;
            continue;
        }
        uint64_t v = 0;
        for (; i < n && text[i] >= '0' && text[i] <= '9'; i++)
            v = v > INT32_MAX ? v : v * 10 + (uint64_t)(text[i] - '0');
        if (found == most || v > INT32_MAX)
            *cut = true;
        else
            ranks[found++] = (int32_t)v;
    }
    return found;
}

int32_t rs_torch_number(const char *text, const char *word)
{
    for (const char *p = text; *word && (p = strcasestr(p, word));) {
        for (p += strlen(word); *p && strchr("_-.=:# ", *p);) p++;
        size_t digits = strspn(p, "0123456789");
        if (digits && digits < 10 && strtol(p, NULL, 10) <= INT32_MAX) return (int32_t)strtol(p, NULL, 10);
    }
    return -1;
}
