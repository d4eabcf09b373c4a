#include "foreign/kernel_name.h"

#include <string.h>
#include <strings.h>

bool rs_kernel_is_nccl(const char *name, size_t n)
{
    if (n > 5 && !strncmp(name, "void ", 5)) return rs_kernel_is_nccl(name + 5, n - 5);
    return n > 4 && !strncasecmp(name, "nccl", 4) && (strncasecmp(name, "ncclMem", 7) != 0 || n < 7);
}

/* Whether `word` stands in the name, without regard to case, as far as the bracket. */
static bool has(const char *name, size_t n, const char *word)
{
    size_t k = strlen(word);
    for (size_t i = 0; i + k <= n; i++)
        if (!strncasecmp(name + i, word, k)) return true;
    return false;
}

/* The first of a list that is in the name: longer ones stand before what they contain. */
static const char *first_of(const char *name, size_t n, const char *const (*words)[2], size_t nwords)
{
    for (size_t i = 0; i < nwords; i++)
        if (has(name, n, words[i][0])) return words[i][1];
    return NULL;
}

#define FIRST_OF(name, n, words) first_of(name, n, words, sizeof(words) / sizeof *(words))

bool rs_kernel_name(const char *name, size_t n, struct rs_kernel_name *found)
{
    static const char *const funcs[][2] = {
        {"AllReduce", "AllReduce"}, {"AllGather", "AllGather"}, {"ReduceScatter", "ReduceScatter"},
        {"Broadcast", "Broadcast"}, {"SendRecv", "SendRecv"},   {"AlltoAll", "AlltoAll"},
        {"AllToAll", "AlltoAll"},   {"Reduce", "Reduce"},       {"Scatter", "Scatter"},
        {"Gather", "Gather"},
    };
    static const char *const algos[][2] = {
        {"NVLS_TREE", "NVLS_TREE"},
        {"NVLSTree", "NVLS_TREE"},
        {"NVLS", "NVLS"},
        {"COLLNET_DIRECT", "COLLNET_DIRECT"},
        {"CollNetDirect", "COLLNET_DIRECT"},
        {"COLLNET_CHAIN", "COLLNET_CHAIN"},
        {"CollNetChain", "COLLNET_CHAIN"},
        {"CollNet", "COLLNET_DIRECT"},
        {"_TREE", "TREE"},
        {"TreeLL", "TREE"},
        {"TreeSimple", "TREE"},
        {"_RING", "RING"},
        {"RingLL", "RING"},
        {"RingSimple", "RING"},
        {"_PAT", "PAT"},
    };
    static const char *const protos[][2] = {
        {"LL128", "LL128"}, {"_LL", "LL"},        {"RingLL", "LL"},
        {"TreeLL", "LL"},   {"SIMPLE", "SIMPLE"}, {"CollNetLL", "LL"},
    };
    *found = (struct rs_kernel_name){0};
    if (!rs_kernel_is_nccl(name, n)) return false;
    const char *bracket = memchr(name, '(', n);
    if (bracket) n = (size_t)(bracket - name);
    found->func = FIRST_OF(name, n, funcs);
    found->symmetric = has(name, n, "ncclSymk");
    if (found->symmetric) return true; /* its algorithms are its own */
    found->algo = FIRST_OF(name, n, algos);
    found->proto = FIRST_OF(name, n, protos);
    return true;
}
