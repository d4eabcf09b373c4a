/* What calls of CUDA's libraries are for, by their names in real traces. */
#include "foreign/host_call.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void expect(enum rs_activity_kind kind, const char *const *names)
{
    for (; *names; names++)
        if (rs_host_call_kind(*names, strlen(*names)) != kind) fail_msg("%s", *names);
}

static void test_kinds(void **state)
{
    (void)state;
    static const char *const launches[] = {
        "cudaLaunchKernel", "cudaLaunchKernelExC_v11060", "cuLaunchKernelEx",      "cudaGraphLaunch_v10000",
        "cudaMemcpyAsync",  "cudaMemcpyToSymbolAsync",    "cuMemcpyHtoDAsync_v2",  "cudaMemsetAsync",
        "cuMemsetD8Async",  "hipExtModuleLaunchKernel",   "hipModuleLaunchKernel", NULL};
    static const char *const waits[] = {"cudaDeviceSynchronize", "cudaStreamSynchronize_v3020", "cuEventSynchronize",
                                        "cuCtxSynchronize",      "hipDeviceSynchronize",        NULL};
    static const char *const memory[] = {
        "cudaMalloc",    "cudaMallocAsync_v11020", "cudaFreeHost", "cuMemFreeAsync",   "cuMemFree_v2",
        "cudaHostAlloc", "cuMemHostAlloc",         "cuMemCreate",  "cudaHostRegister", NULL};
    static const char *const others[] = {"cudaStreamWaitEvent",
                                         "cudaEventRecord",
                                         "cudaEventQuery",
                                         "cudaHostGetDevicePointer",
                                         "cudaMemGetInfo",
                                         "cudaGetDevice",
                                         "cublasSgemm",
                                         "cudaLaunchHostFunc_v10000",
                                         "cudaStreamIsCapturing",
                                         "Lazy Function Loading",
                                         "LaunchPad",
                                         "cu",
                                         "",
                                         NULL};
    expect(RS_ACT_LAUNCH, launches);
    expect(RS_ACT_SYNC, waits);
    expect(RS_ACT_MEMORY, memory);
    expect(RS_ACT_CALL, others);
}

/* Names are not ended. */
static void test_length(void **state)
{
    (void)state;
    assert_int_equal(rs_host_call_kind("cudaFree", 8), RS_ACT_MEMORY);
    assert_int_equal(rs_host_call_kind("cudaFree", 7), RS_ACT_CALL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kinds), cmocka_unit_test(test_length)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
