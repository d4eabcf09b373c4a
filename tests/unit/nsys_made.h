/* Exports of Nsight Systems made by hand, with SQLite: a session of one process, its NVTX ranges of NCCL with payloads,
 * its calls of CUDA and its kernels. Times are ns since the session's start. */
#ifndef RS_TESTS_NSYS_MADE_H
#define RS_TESTS_NSYS_MADE_H

#include <inttypes.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define EPOCH INT64_C(1727743122000000000)

struct made {
    char path[64];
    sqlite3 *db;
    uint64_t pid;
    int correlation;
};

static inline void sql(struct made *x, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    char *text = sqlite3_vmprintf(fmt, args), *why = NULL;
    va_end(args);
    if (sqlite3_exec(x->db, text, NULL, NULL, &why) != SQLITE_OK) fail_msg("%s: %s", text, why);
    sqlite3_free(text);
}

static inline long long global(const struct made *x, unsigned tid)
{
    return (long long)(UINT64_C(1) << 56 | x->pid << 24 | tid);
}

/* Tables as an export has them, and NCCL's schemas: 0 init, 5 all-reduce, 9 send, 10 receive, 13 split. */
static inline void make_export(struct made *x, uint64_t pid, const char *host, int64_t epoch)
{
    static int number;
    *x = (struct made){.pid = pid};
    snprintf(x->path, sizeof x->path, "/tmp/rs_nsys_%d_%d.sqlite", (int)getpid(), number++);
    unlink(x->path);
    assert_int_equal(sqlite3_open(x->path, &x->db), SQLITE_OK);
    sql(x,
        "BEGIN;"
        "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"
        "INSERT INTO StringIds VALUES(1, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)'),"
        "(2, 'cudaLaunchKernelExC_v11060'), (3, 'ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)'),"
        "(4, 'cudaGraphLaunch_v10000'), (5, 'void gemm(float*)'), (6, 'worker');"
        "CREATE TABLE NVTX_EVENTS(start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER,"
        " textId INTEGER, domainId INTEGER, jsonText TEXT, binaryData TEXT);"
        "CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES(domainId INTEGER, schemaId INTEGER, idx INTEGER, type INTEGER,"
        " name TEXT, offset INTEGER);"
        "INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES(1,0,0,18,'NCCL communicator ID',NULL),"
        "(1,0,1,5,'No. of ranks',8),(1,0,2,5,'Rank',12),(1,0,3,5,'CUDA device',16),"
        "(1,5,0,18,'NCCL communicator ID',NULL),(1,5,1,22,'Message size [bytes]',8),"
        "(1,5,2,5,'Reduction operation',16),"
        "(1,9,0,18,'NCCL communicator ID',NULL),(1,9,1,22,'Message size [bytes]',NULL),(1,9,2,5,'Peer rank',NULL);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER, end INTEGER, globalTid INTEGER,"
        " correlationId INTEGER, nameId INTEGER);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER,"
        " correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER, graphNodeId INTEGER);"
        "CREATE TABLE TARGET_INFO_SYSTEM_ENV(name TEXT, value TEXT);"
        "CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs INTEGER);");
    sql(x, "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES('Hostname', %Q)", host);
    sql(x, "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES(%lld)", (long long)epoch);
    sql(x, "INSERT INTO NVTX_EVENTS VALUES(0,NULL,75,'NCCL',%lld,NULL,1,NULL,NULL)", global(x, 7));
}

static inline void close_export(struct made *x)
{
    sql(x, "COMMIT");
    sqlite3_close(x->db);
    x->db = NULL;
}

/* `payload`: of hex digits behind the header of a schema, or NULL. */
static inline void add_range(struct made *x, unsigned tid, int64_t from, int64_t to, const char *name, int schema,
                             const char *payload)
{
    char bytes[256] = "";
    if (payload)
        snprintf(bytes, sizeof bytes, "0100000000000000%02x000000000000001800000000000000%s%s", schema,
                 "1800000000000000", payload);
    sql(x, "INSERT INTO NVTX_EVENTS VALUES(%lld,%lld,59,%Q,%lld,NULL,1,NULL,%Q)", (long long)from, (long long)to, name,
        global(x, tid), payload ? bytes : NULL);
}

static inline const char *hex(uint64_t a, uint64_t b, uint32_t c, uint32_t d)
{
    static char text[64];
    unsigned char bytes[24];
    memcpy(bytes, &a, 8);
    memcpy(bytes + 8, &b, 8);
    memcpy(bytes + 16, &c, 4);
    memcpy(bytes + 20, &d, 4);
    for (int i = 0; i < 24; i++) snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    return text;
}

static inline void add_init(struct made *x, uint64_t comm, uint32_t rank, uint32_t nranks, uint32_t device, int64_t at)
{
    add_range(x, 7, at, at + 100, "ncclCommInitRankConfig", 0, hex(comm, (uint64_t)rank << 32 | nranks, device, 0));
}

/* A launch by thread 7 at `at`, and its kernel. Returns the correlation. */
static inline int add_kernel(struct made *x, int64_t at, int name, int device, int64_t start, int64_t end)
{
    int c = ++x->correlation;
    sql(x, "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(%lld,%lld,%lld,%d,2)", (long long)at, (long long)at + 5,
        global(x, 7), c);
    sql(x, "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(%lld,%lld,%d,20,%d,%lld,%d,%d,NULL)", (long long)start,
        (long long)end, device, c, global(x, 0), name, name);
    return c;
}

#endif
