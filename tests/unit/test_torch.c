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

static void is_kernel(const char *name, const char *function, const char *algo)
{
    struct rs_kernel_name k;
    assert_true(rs_kernel_name(name, strlen(name), &k));
    const char *got[] = {k.func, k.algo}, *wanted[] = {function, algo};
    for (int i = 0; i < 2; i++) {
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
    is_kernel("ncclAllReduceRingLLKernel_sum_f32(ncclColl)", "AllReduce", NULL);
    is_kernel("ncclReduceScatterRingLL128Kernel_sum_f16(ncclColl)", "ReduceScatter", NULL);
    is_kernel("ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)", "AllReduce", NULL);
    is_kernel("ncclKernel_AllReduce_TREE_SIMPLE_Sum_float(ncclDevComm*)", "AllReduce", "TREE");
    is_kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "AllReduce", NULL);
    is_kernel("ncclDevKernel_AllReduce_Sum_bf16_NVLS_TREE_SIMPLE(x)", "AllReduce", "NVLS_TREE");
    is_kernel("ncclDevKernel_AllGather_RING_LL128(x)", "AllGather", NULL);
    is_kernel("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", "SendRecv", NULL);
    is_kernel("ncclDevKernel_Generic_4(x)", NULL, NULL);
    is_kernel("NCCLDevKernel_Broadcast_RING_LL(x)", "Broadcast", NULL);
    /* From 2.14 to 2.18 the kernel of sends and receives runs all that has no kernel of its own. */
    is_kernel("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)", "SendRecv", NULL);
    is_kernel("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)", NULL, NULL);
    assert_true(rs_kernel_name("ncclSymkDevKernel_AllReduce_AGxLL_R(x)", 38, &k));
    assert_true(k.symmetric);
    assert_string_equal(k.func, "AllReduce");
    assert_false(rs_kernel_name("void at::native::reduce_kernel<512>(nccl)", 41, &k));
    assert_false(rs_kernel_is_nccl("nccl", 4));
    assert_false(rs_kernel_is_nccl("", 0));
}

/* Names as traces of these libraries have them; NULL: no communication. */
static void test_other_kernels(void **state)
{
    (void)state;
    static const char *const names[][2] = {
        {"void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*, unsigned long)",
         "PyTorch symmetric memory"},
        {"void c10d::symmetric_memory::two_shot_all_reduce_kernel_inplace<c10::BFloat16, 16, 8, true>(c10::BFloat16**)",
         "PyTorch symmetric memory"},
        {"void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*, vllm::RankSignals)",
         "custom all-reduce of vLLM, SGLang or AITER"},
        {"void sglang::cross_device_reduce_2stage<half, 4>(sglang::RankData*)",
         "custom all-reduce of vLLM, SGLang or AITER"},
        {"void quickreduce::allreduce_prototype_twoshot<quickreduce::AllReduceTwoshot<__half>>(x)",
         "quick all-reduce of vLLM"},
        {"void tensorrt_llm::kernels::oneShotAllReduceKernel<half, 8, true>(tensorrt_llm::kernels::AllReduceParams)",
         "TensorRT-LLM"},
        {"void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<__half, 8>(x)",
         "TensorRT-LLM or FlashInfer"},
        {"void aiter::allreduce_fusion_kernel_1stage<hip_bfloat16>(x)", "TensorRT-LLM, FlashInfer or AITER"},
        {"void deep_ep::internode_ll::dispatch<true, 3, 10, 7168>(void*, float*)", "DeepEP"},
        {"void deep_ep::intranode::combine<__nv_bfloat16, 8, 768>(x)", "DeepEP"},
        {"void mori::moe::EpDispatchIntraNodeKernel<hip_bfloat16>(x)", "MORI"},
        {"nvshmemi_proxy_barrier_kernel(int)", "NVSHMEM"},
        {"void mscclpp::executionKernel<__half, false>(int)", "MSCCL++"},
        {"mscclKernel_Sum_float_Simple(x)", "MSCCL"},
        {"ucc_ec_cuda_reduce_kernel(x)", "UCC"},
        {"kuserbuffers_pushrecv(int, int)", "Transformer Engine"},
        {"void deep_ep::layout::get_dispatch_layout<256, 32, 8>(long const*)", NULL}, /* counts tokens, sends none */
        {"void cub::DeviceReduceByKeyKernel<cub::DispatchReduceByKey<long*, multimem_all_reduce>>(x)", NULL},
        {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>(x)", NULL},
        {"success_kernel(int)", NULL},
        {"(anonymous namespace)", NULL},
        {"ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct rs_comm_kernel *k = rs_kernel_comm(names[i][0], strlen(names[i][0]));
        if (!k != !names[i][1] || (k && strcmp(k->library, names[i][1])))
            fail_msg("%s: %s", names[i][0], k ? k->library : "none");
    }
}

static void test_numbers(void **state)
{
    (void)state;
    assert_int_equal(rs_torch_number("kineto_rank3.json.gz", "rank"), 3);
    assert_int_equal(rs_torch_number("RANK 12 - GPU", "rank"), 12);
    assert_int_equal(rs_torch_number("ranks of rank_7", "rank"), 7);
    assert_int_equal(rs_torch_number("rank99999999999", "rank"), -1);
    assert_int_equal(rs_torch_number("[TP00-DP01] ", "TP"), 0);
    assert_int_equal(rs_torch_number("trace", "rank"), -1);
    assert_int_equal(rs_torch_number("<-4", "<"), 4);
    assert_int_equal(rs_torch_number("nothing", ""), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions), cmocka_unit_test(test_types),   cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_groups),    cmocka_unit_test(test_kernels), cmocka_unit_test(test_other_kernels),
        cmocka_unit_test(test_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
