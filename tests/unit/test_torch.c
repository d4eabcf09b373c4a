/* PyTorch's words and the names of NCCL's kernels, of all generations. */
#include "foreign/torch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "foreign/kernel_name.h"

static const char *func(const char *name)
{
    return rs_torch_func(name, strlen(name));
}

static void test_functions(void **state)
{
    (void)state;
    static const char *const words[][2] = {
        {"allreduce", "AllReduce"},
        {"allreduce_coalesced", "AllReduce"},
        {"nccl:all_reduce", "AllReduce"},
        {"nccl:all_reduce_barrier", "AllReduce"},
        {"all_gather", "AllGather"},
        {"_allgather_base", "AllGather"},
        {"all_gather_into_tensor_coalesced", "AllGather"},
        {"reduce_scatter", "ReduceScatter"},
        {"_reduce_scatter_base", "ReduceScatter"},
        {"reduce_scatter_tensor_coalesced", "ReduceScatter"},
        {"reduce", "Reduce"},
        {"broadcast", "Broadcast"},
        {"_broadcast_oop", "Broadcast"},
        {"all_to_all", "AlltoAll"},
        {"all_to_allv", "AlltoAll"},
        {"gather", "Gather"},
        {"scatter", "Scatter"},
        {"send", "Send"},
        {"nccl:send 1->2", "Send"},
        {"recv", "Recv"},
        {"nccl:recv 3<-0", "Recv"},
        {"barrier", "AllReduce"},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) assert_string_equal(func(words[i][0]), words[i][1]);
    assert_null(func("wait"));
    assert_null(func("coalesced"));
    assert_null(func("nccl:coalesced"));
    assert_null(func(""));
}

static void test_types(void **state)
{
    (void)state;
    static const char *const words[][2] = {
        {"Float", "ncclFloat32"},
        {"BFloat16", "ncclBfloat16"},
        {"c10::BFloat16", "ncclBfloat16"},
        {"Half", "ncclFloat16"},
        {"Double", "ncclFloat64"},
        {"Int", "ncclInt32"},
        {"Long", "ncclInt64"},
        {"Byte", "ncclUint8"},
        {"Char", "ncclInt8"},
        {"Bool", "ncclUint8"},
        {"Float8_e5m2", "ncclFloat8e5m2"},
        {"Float8_e4m3fn", "ncclFloat8e4m3"},
        {"ComplexFloat", ""},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        assert_string_equal(rs_torch_dtype(words[i][0], strlen(words[i][0])), words[i][1]);
}

static void test_ranks(void **state)
{
    (void)state;
    int32_t v[4];
    bool cut;
    assert_int_equal(rs_torch_ranks("[0, 12, 5]", 10, v, 4, &cut), 3);
    assert_false(cut);
    assert_int_equal(v[1], 12);
    assert_int_equal(rs_torch_ranks("[0, 1, ...]", 11, v, 4, &cut), 2);
    assert_true(cut);
    assert_int_equal(rs_torch_ranks("[1,2,3,4,5]", 11, v, 4, &cut), 4);
    assert_true(cut);
    assert_int_equal(rs_torch_ranks("[99999999999]", 13, v, 4, &cut), 0);
    assert_true(cut);
    assert_int_equal(rs_torch_ranks("[]", 2, v, 4, &cut), 0);
    assert_false(cut);
}

/* A name comes back with other ranks; the order of ranks counts not. */
static void test_groups(void **state)
{
    (void)state;
    const int32_t a[] = {0, 1}, b[] = {1, 0}, c[] = {0, 2};
    assert_true(rs_torch_group("1", 1, a, 2) == rs_torch_group("1", 1, b, 2));
    assert_true(rs_torch_group("1", 1, a, 2) != rs_torch_group("1", 1, c, 2));
    assert_true(rs_torch_group("1", 1, a, 2) != rs_torch_group("2", 1, a, 2));
    assert_true(rs_torch_group("1", 1, a, 2) != rs_torch_group("1", 1, a, 1));
    assert_true(rs_torch_group("", 0, NULL, 0) != 0);
}

static void is_kernel(const char *name, const char *function, const char *algo, const char *proto)
{
    struct rs_kernel_name k;
    assert_true(rs_kernel_name(name, strlen(name), &k));
    const char *got[] = {k.func, k.algo, k.proto}, *wanted[] = {function, algo, proto};
    for (int i = 0; i < 3; i++) {
        if (wanted[i])
            assert_string_equal(got[i], wanted[i]);
        else
            assert_null(got[i]);
    }
}

static void test_kernels(void **state)
{
    (void)state;
    struct rs_kernel_name k;
    is_kernel("ncclAllReduceRingLLKernel_sum_f32(ncclColl)", "AllReduce", "RING", "LL");
    is_kernel("ncclReduceScatterRingLL128Kernel_sum_f16(ncclColl)", "ReduceScatter", "RING", "LL128");
    is_kernel("ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)", "AllReduce", "RING",
              "LL");
    is_kernel("ncclKernel_AllReduce_TREE_SIMPLE_Sum_float(ncclDevComm*)", "AllReduce", "TREE", "SIMPLE");
    is_kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "AllReduce", "RING", "LL");
    is_kernel("ncclDevKernel_AllReduce_Sum_bf16_NVLS_TREE_SIMPLE(x)", "AllReduce", "NVLS_TREE", "SIMPLE");
    is_kernel("ncclDevKernel_AllGather_RING_LL128(x)", "AllGather", "RING", "LL128");
    is_kernel("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", "SendRecv", NULL, NULL);
    is_kernel("ncclDevKernel_Generic_4(x)", NULL, NULL, NULL);
    is_kernel("NCCLDevKernel_Broadcast_RING_LL(x)", "Broadcast", "RING", "LL");
    assert_true(rs_kernel_name("ncclSymkDevKernel_AllReduce_AGxLL_R(x)", 38, &k));
    assert_true(k.symmetric);
    assert_string_equal(k.func, "AllReduce");
    assert_false(rs_kernel_name("void at::native::reduce_kernel<512>(nccl)", 41, &k));
    assert_false(rs_kernel_is_nccl("nccl", 4));
    assert_false(rs_kernel_is_nccl("", 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions), cmocka_unit_test(test_types),   cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_groups),    cmocka_unit_test(test_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
