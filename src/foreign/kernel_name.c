#include "foreign/kernel_name.h"

#include <string.h>
#include <strings.h>

bool rs_kernel_is_nccl(const char *name, size_t n)
{
    if (n > 5 && !strncmp(name, "void ", 5)) return rs_kernel_is_nccl(name + 5, n - 5);
    return n > 4 && !strncasecmp(name, "nccl", 4) && (strncasecmp(name, "ncclMem", 7) != 0 || n < 7);
}

/* ---- kernels that are not NCCL's ---- */

static const struct rs_comm_kernel others[] = {
#define WORD(word, library, func, text) {word, library, func},
#include "foreign/comm_kernels.inc"
#undef WORD
};

/* The function's name: without "void " in front, and up to template arguments or parameters. A namespace without a
 * name is in brackets. */
static size_t function_of(const char **name, size_t n)
{
    static const char unnamed[] = "(anonymous namespace)";
    if (n > 5 && !strncmp(*name, "void ", 5)) {
        *name += 5;
        n -= 5;
    }
    for (size_t i = 0; i < n; i++) {
        bool skip = n - i >= sizeof unnamed - 1 && !memcmp(*name + i, unnamed, sizeof unnamed - 1);
        if (skip)
            i += sizeof unnamed - 2;
        else if ((*name)[i] == '<' || (*name)[i] == '(')
            return i;
    }
    return n;
}

/* Whether the text begins with a word; underscores and case do not matter. */
static bool begins(const char *text, const char *end, const char *word)
{
    for (;; text++, word++) {
        while (*word == '_') word++;
        while (text < end && *text == '_') text++;
        if (!*word) return true;
        if (text == end || (*text | 0x20) != (*word | 0x20)) return false;
    }
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

const struct rs_comm_kernel *rs_kernel_comm(const char *name, size_t n)
{
    size_t found = sizeof others / sizeof *others;
    if (rs_kernel_is_nccl(name, n)) return NULL;
    n = function_of(&name, n);
    for (size_t i = 0; i < n; i++) {
        if (i && is_letter(name[i - 1])) continue;
        for (size_t k = 0; k < found; k++)
            if (begins(name + i, name + n, others[k].word)) found = k;
    }
    return found < sizeof others / sizeof *others ? &others[found] : NULL;
}

/* ---- NCCL's ---- */

/* Whether `word` is in the name, without regard to case, as far as the bracket. */
static bool has(const char *name, size_t n, const char *word)
{
    size_t k = strlen(word);
    for (size_t i = 0; i + k <= n; i++)
        if (!strncasecmp(name + i, word, k)) return true;
    return false;
}

/* The first of a list that is in the name: longer ones are before what they contain. */
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
        {"_PAT", "PAT"},
    };
    *found = (struct rs_kernel_name){0};
    if (!rs_kernel_is_nccl(name, n)) return false;
    const char *bracket = memchr(name, '(', n);
    if (has(name, n, "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm")) return true; /* runs any function */
    if (bracket) n = (size_t)(bracket - name);
    found->func = FIRST_OF(name, n, funcs);
    found->symmetric = has(name, n, "ncclSymk");
    if (found->symmetric) return true; /* its algorithms are its own */
    found->algo = FIRST_OF(name, n, algos);
    return true;
}
