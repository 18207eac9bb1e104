// SPDX-License-Identifier: MIT
#include <kprof/model/kernel_name.hpp>

#include <kprof/model/telling_kernel_names.hpp>
#include <kprof/model/tensor_core.hpp>

#include "../support/cases.hpp"
#include "../support/catch.hpp"

#include <chrono>
#include <cstddef>
#include <random>
#include <set>
#include <string>
#include <vector>

using kprof::kernel_name;
using kprof::short_kernel_name;
using kprof::telling_kernel_names;
using names = std::vector<std::string>;

namespace {

// CUTLASS 3: longer than libstdc++'s demangler takes, here cut down to its shape.
std::string cutlass_3(
    const std::string& front = "_ZN7cutlass13device_kernelINS_4gemm6kernel13GemmUniversalI") {
  std::string name = front +
                     "N4cute5tupleIJiiiiEEENS1_10collective13CollectiveMmaINS1_"
                     "34MainloopSm90TmaGmmaWarpSpecializedILi5E";
  for (int i = 0; i < 40; ++i)
    name += "NS4_8TiledMMAINS4_8MMA_AtomIJNS4_4SM904GMMA28MMA_64x128x16_F32BF16BF16_SSE";
  return name + "EEEEvNT_6ParamsE";
}

// Each step is a pair of the one before it: 2^steps when written out.
std::string doubling(int steps) {
  const auto reference = [](int n) {  // S_, S0_, ... S9_, SA_, ...
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    if (n == 0) return std::string{"S_"};
    --n;
    return n < 36 ? std::string{"S"} + digits[n] + '_'
                  : std::string{"S"} + digits[n / 36] + digits[n % 36] + '_';
  };
  // Parameters: A<int, int> is S0_ behind the template name A, S_; then A<S0_, S0_> and so on.
  std::string name = "_Z1f1AIiiE";
  for (int i = 1; i <= steps; ++i) name += reference(0) + "I" + reference(i) + reference(i) + "E";
  return name;
}

}  // namespace

TEST_CASE("kernel_name.mangled_names_become_readable") {
  CHECK(kernel_name("_Z4axpyfPKfPfm") == "axpy(float, float const*, float*, unsigned long)");
  CHECK(kernel_name("_ZN2ns4gemmIfLi128EL6Layout1EEEvPT_PKS2_i") ==
        "void ns::gemm<float, 128, (Layout)1>(float*, float const*, int)");
  CHECK(kernel_name("adam_step") == "adam_step");  // extern "C"
  CHECK(kernel_name("f") == "f");                  // not the type float
  CHECK(kernel_name("") == "");
  CHECK(kernel_name("_Z") == "_Z");
  CHECK(kernel_name("_Znonsense") == "_Znonsense");
  // not what lies behind it
  CHECK(kernel_name(std::string_view{"_Z4axpyfPKfPfm", 6}) == "_Z4axp");
}

TEST_CASE("kernel_name.short_names_have_no_parameters_and_plain_arguments") {
  CHECK(short_kernel_name("_Z4axpyfPKfPfm") == "axpy");
  CHECK(short_kernel_name("_ZN2ns4gemmIfLi128EL6Layout1EEEvPT_PKS2_i") == "gemm<float, 128, 1>");
  // made readable before
  CHECK(short_kernel_name("void ns::gemm<float, 128, (Layout)1>(float*, float const*, int)") ==
        "gemm<float, 128, 1>");
  CHECK(short_kernel_name("_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_"
                          "15GeluCUDAFunctorIN3c108BFloat16EEESt5arrayIPcLm2EEEEviT0_T1_") ==
        "vectorized_elementwise_kernel GeluCUDAFunctor<BFloat16>");
  CHECK(short_kernel_name("_ZN12_GLOBAL__N_16kernelEPf") == "kernel");
  CHECK(short_kernel_name(
            "_ZN56_INTERNAL_c4a8d4d1_10_kernels_cu_1b2c3d4e_123456789012346kernelEPf") == "kernel");
  CHECK(short_kernel_name(
            "void (anonymous namespace)::scale<(anonymous namespace)::Half, true>(float)") ==
        "scale<Half, true>");
  CHECK(short_kernel_name("void k<float const*, unsigned int, -3l, 7u>()") ==
        "k<float const*, unsigned int, -3, 7>");
  CHECK(short_kernel_name("void run<main::{lambda(int, float)#1}, void (*)(int)>(int)") ==
        "run main(int, float)");
  CHECK(short_kernel_name("void a::b<int>::c<a::d<float, a::e<int> > >(int)") ==
        "b<int>::c<d<float, e<int>>>");
  CHECK(short_kernel_name("f()::g::operator()(int) const") == "f");
  CHECK(short_kernel_name("main::g::operator()(int) const") == "g::operator()");
  CHECK(short_kernel_name("adam_step") == "adam_step");
  CHECK(short_kernel_name("triton_poi_fused_add_0") == "triton_poi_fused_add_0");
  CHECK(short_kernel_name("") == "");
}

TEST_CASE("kernel_name.long_arguments_are_left_out") {
  CHECK(
      short_kernel_name("void k<a::Traits<64, 128, 128, 4, false, false, b::half_t>, true>(int)") ==
      "k<Traits<\u2026>, true>");
  std::string many = "void k<0";
  for (int i = 1; i < 200; ++i) many += ", " + std::to_string(i);
  const std::string name = short_kernel_name(many + ">(int)");
  CHECK(name.size() < 90);
  CHECK(name.starts_with("k<0, 1, 2, "));
  CHECK(name.ends_with(", \u2026>"));
}

TEST_CASE("kernel_name.a_cutlass_kernel_is_named_after_its_argument") {
  const std::string entry = "N7cutlass7Kernel2I";
  const std::string gemm = "cutlass_80_tensorop_f16_s16816gemm_256x128_32x3_nn";
  CHECK(short_kernel_name("_Z" + entry + std::to_string(gemm.size()) + gemm + "EEvNT_6ParamsE") ==
        gemm);
  CHECK(short_kernel_name("void cutlass::Kernel<x::GemmUniversal<int, Long<1, 2, 3, 4, 5, 6, 7, 8, "
                          "9, 10> > >(int)") == "GemmUniversal<int, Long<\u2026>>");
  CHECK(short_kernel_name("void cutlass::Kernel2<int, float>(int)") == "Kernel2<int, float>");
  CHECK(short_kernel_name("void my::Kernel2<Gemm>(int)") == "Kernel2<Gemm>");
}

TEST_CASE("kernel_name.what_cannot_be_demangled_keeps_its_front") {
  CHECK(kernel_name(cutlass_3()) == cutlass_3());
  CHECK(short_kernel_name(cutlass_3()) ==
        "GemmUniversal<tuple<int, int, int, int>, CollectiveMma<\u2026>>");
  CHECK(short_kernel_name(cutlass_3("_ZN2my3ops6kernelI")) ==
        "ops::kernel<tuple<int, int, int, int>, CollectiveMma<\u2026>>");
  CHECK(short_kernel_name("_ZN2my3ops6kernelE" + std::string(5000, 'P') + "i") == "ops::kernel");
  CHECK(short_kernel_name(cutlass_3("_ZN12_GLOBAL__N_16kernelI")) ==
        "kernel<tuple<int, int, int, int>, CollectiveMma<\u2026>>");
  CHECK(short_kernel_name("_ZN7cutlass13device_kernelI" + std::string(5000, 'P')) ==
        "device_kernel<\u2026>");
  CHECK(short_kernel_name("_Z999999999999999999999999f") == "_Z999999999999999999999999f");
}

TEST_CASE("kernel_name.references_that_double_the_text_are_refused") {
  CHECK(kernel_name(doubling(3)) ==
        "f(A<int, int>, A<A<int, int>, A<int, int> >, A<A<A<int, int>, A<int, int> >, A<A<int, "
        "int>, A<int, int> > >, "
        "A<A<A<A<int, int>, A<int, int> >, A<A<int, int>, A<int, int> > >, A<A<A<int, int>, A<int, "
        "int> >, A<A<int, int>, "
        "A<int, int> > > >)");
  const auto begin = std::chrono::steady_clock::now();
  for (const int steps : {12, 16, 20, 40, 80}) {
    const std::string name = kernel_name(doubling(steps));
    INFO(steps);
    CHECK(name.size() < 5'000'000);
    CHECK((name == doubling(steps)) == (steps > 16));
    CHECK(short_kernel_name(name) == "f");
  }
  // A pack of 200 elements that is expanded within its own expansion.
  const std::string pack = "_Z1fIJ" + std::string(200, 'i') + "EEv" + "DpDpDpDpDpDpDpDpT_";
  CHECK(kernel_name(pack) == pack);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));
}

// References to the namespaces that a name begins with are most of them, and repeat nothing long.
TEST_CASE("kernel_name.many_harmless_references_are_no_reason_to_refuse") {
  std::string name = "_ZN2at6native6kernelI";
  for (int i = 0; i < 60; ++i) name += "NS0_1aE";
  name += "EEvv";
  CHECK(kernel_name(name).starts_with("void at::native::kernel<at::native::a, at::native::a, "));
}

TEST_CASE("kernel_name.whatever_the_bytes_the_work_is_bounded") {
  std::mt19937 random(7);
  static const char letters[] = "_ZNS0123456789IELTPKRDpJXsvifbjlm<>(){}[],: \0\xFF~&*";
  for (unsigned i = 0; i < kprof_test::cases(20'000); ++i) {
    std::string name = i % 3 == 0 ? "" : i % 3 == 1 ? "_Z" : "void ";
    for (std::size_t n = random() % 80; n > 0; --n)
      name += letters[random() % (sizeof letters - 1)];
    const std::string whole = kernel_name(name), brief = short_kernel_name(name);
    REQUIRE(whole.size() < 1'000'000);
    REQUIRE(brief.size() <= whole.size() + 100);
    REQUIRE(short_kernel_name(name) == brief);
    (void)kprof::detail::name_says_tensor_core(whole);
  }
  for (const char* piece : {"<", "(", "<(", "a::", "a<", "(anonymous namespace)", "operator", ">",
                            "->", "S", "S_", "T_", "0", "_Z", "1a", "I", "N"}) {
    std::string name = "void ";
    while (name.size() < 200'000) name += piece;
    (void)short_kernel_name(name);
    (void)short_kernel_name("_Z" + name);
    (void)kprof::detail::name_says_tensor_core(kernel_name("_Z" + name));
  }
}

TEST_CASE("kernel_name.in_a_table_what_all_have_is_left_out") {
  CHECK(telling_kernel_names(
            {"void ns::gemm<float, 128, 64>(float*)", "void ns::gemm<float, 64, 64>(float*)",
             "void ns::gemm<float, 64, 32>(float*)", "adam_step", "void ns::sum<float, 4>(int)"}) ==
        names{"gemm<\u2026, 128, 64>", "gemm<\u2026, 64, 64>", "gemm<\u2026, 64, 32>", "adam_step",
              "sum<float, 4>"});
  CHECK(telling_kernel_names(
            {"void at::native::k<4, at::native::Add<float>, std::array<char*, 3ul> >(int)",
             "void at::native::k<4, at::native::Fill<float>, std::array<char*, 1ul> >(int)",
             "void at::native::k<4, at::native::Mul<float, at::Half>, std::array<char*, 1ul> "
             ">(int)"}) ==
        names{"k<\u2026, Add<\u2026>>", "k<\u2026, Fill<\u2026>>", "k<\u2026, Mul<\u2026, Half>>"});
  // a lambda is known by the function that it is in
  const std::string lambda = "::{lambda()#1}::operator()() const::{lambda(";
  CHECK(telling_kernel_names({"void k<at::gelu(at::Tensor&)" + lambda + "c10::Half)#1}>(int)",
                              "void k<at::gelu(at::Tensor&)" + lambda + "float)#1}>(int)",
                              "void k<at::silu(at::Tensor&)" + lambda + "float)#1}>(int)"}) ==
        names{"k gelu(Half)", "k gelu(float)", "k silu(float)"});
  CHECK(telling_kernel_names({}).empty());
}

TEST_CASE("kernel_name.in_a_table_more_is_written_where_that_is_needed") {
  CHECK(telling_kernel_names({"a::k()", "b::k()", "k(int)", "k(float)"}) ==
        names{"a::k", "b::k", "k(int)", "k(float)"});
  CHECK(telling_kernel_names({"void (anonymous namespace)::k<1>(int)", "void k<1>(int)"}) ==
        names{"(anonymous namespace)::k<1>", "k<1>"});
  CHECK(telling_kernel_names({"void k<a::T>(int)", "void k<b::T>(int)"}) ==
        names{"k<a::T>", "k<b::T>"});
  CHECK(telling_kernel_names({"", " ", "<", "k<", "k<<", "operator<", "operator<<"}).size() == 7);
}

TEST_CASE("kernel_name.what_cannot_be_demangled_is_spelled") {
  const auto with = [](std::string name, const std::string& from, const std::string& to) {
    return name.replace(name.find(from), from.size(), to);
  };
  const std::string five = cutlass_3(), seven = with(five, "ILi5E", "ILi7E");
  CHECK(kprof::detail::spelled_name(five).starts_with(
      "cutlass::device_kernel<gemm::kernel::GemmUniversal<cute::tuple<int, int, int, int>, "
      "collective::CollectiveMma<MainloopSm90TmaGmmaWarpSpecialized<5, "));
  CHECK(
      telling_kernel_names({five, seven}) ==
      names{"GemmUniversal<\u2026, CollectiveMma<MainloopSm90TmaGmmaWarpSpecialized<5, \u2026>>>",
            "GemmUniversal<\u2026, CollectiveMma<MainloopSm90TmaGmmaWarpSpecialized<7, \u2026>>>"});
  for (const char* name : {"", "_Z", "_ZN", "_ZE", "_ZNE", "_ZI", "_ZL", "_ZLN", "_ZLi", "_Z1f",
                           "_Z1fI", "_Z1fILi", "_ZN1aI", "_ZS", "_ZN1aINSD", "_Z9f"})
    CHECK(kprof::detail::spelled_name(name).size() < 10);
  std::string deep = "_Z1f";
  while (deep.size() < 100'000) deep += "IN1a";
  CHECK(kprof::detail::spelled_name(deep).size() < 2'000);
}

TEST_CASE("kernel_name.in_a_table_hostile_names_differ_too") {
  std::mt19937 random(11);
  static const char letters[] = "_ZNS0123456789IELabk<>(){}[],: \0\xFF~&*";
  for (unsigned i = 0; i < kprof_test::cases(1'000); ++i) {
    std::set<std::string> wholes;
    for (int n = 0; n < 6; ++n) {
      std::string name = n % 2 == 0 ? "void k<" : "_ZN1kI";
      for (std::size_t length = random() % 30; length > 0; --length)
        name += letters[random() % (sizeof letters - 1)];
      wholes.insert(kernel_name(name));
    }
    const names texts = telling_kernel_names({wholes.begin(), wholes.end()});
    REQUIRE(std::set<std::string>(texts.begin(), texts.end()).size() == wholes.size());
  }
  for (const char* piece : {"<", "(", "<(", "a::", "a<", "a<b,", "(anonymous namespace)",
                            "operator<", "operator", "{lambda(", "->", "\n"}) {
    std::string name = "void ";
    while (name.size() < 10'000) name += piece;
    CHECK(telling_kernel_names({name, name + 'x', "_Z" + name}).size() == 3);
  }
}

TEST_CASE("tensor_core.names_of_nvidias_libraries_say_yes") {
  using kprof::detail::name_says_tensor_core;
  for (const char* name :
       {"volta_h884gemm_128x64_ldg8_nn",
        "volta_fp16_s884cudnn_fp16_128x128_ldg8_relu_f2f_exp_small_nhwc_tn_v1",
        "turing_fp16_s1688gemm_fp16_128x128_ldg8_f2f_nn",
        "turing_int8_i8816cudnn_int8_256x128_ldg16_relu_medium_nt_v1",
        "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_nn",
        "ampere_fp64_d884gemm_64x64_tn",
        "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x256_16x3_nn_align4>(int)",
        "void cutlass::Kernel<cutlass_75_wmma_tensorop_s161616gemm_f16_16x16_32x2_tn_align8>(int)",
        "cutlass3x_sm90_tensorop_s64x128x16gemm_f16_f16_f32_void_f16_128x128x64_2x1x1_0_tnn_align8_"
        "warpspecialized",
        "cutlass3x_sm100_bstensorop_s256x128x64gemm_block_scaled_ue4m3xe2m1",
        "cutlass_80_sptensorop_s16832gemm_f16",
        "sm80_xmma_gemm_f16f16_f16f32_f32_nn_n_tilesize128x128x32_stage4_warpsize2x2x1_"
        "tensor16x8x16_kernel",
        "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_"
        "segment_k_off_kernel__5x_cublas",
        "nvjet_sm90_tst_128x256_64x4_1x2_h_bz_coopA_NTN",
        "nvjet_hsh_256x128_64x4_1x2_h_bz_coopA_NNT",
        "void flash_fwd<cute::TiledMMA<cute::MMA_Atom<cute::SM80_16x8x16_F32BF16BF16F32_TN> > >(P)",
        "void k<cute::SM90::GMMA::MMA_64x128x16_F32BF16BF16_SS<1> >()",
        "void k<cutlass::arch::OpClassTensorOp>()",
        "void k<cutlass::gemm::warp::MmaTensorOpMultiplicandTileIterator<int> >()",
        "my_wmma_gemm",
        "void fmha_tcgen05<4>(int)",
        "gemm_bf16_wgmma_kernel"}) {
    INFO(name);
    CHECK(name_says_tensor_core(name));
  }
  CHECK(name_says_tensor_core(kernel_name(cutlass_3())));  // of a mangled name the parts
}

TEST_CASE("tensor_core.no_other_name_says_anything") {
  using kprof::detail::name_says_tensor_core;
  for (const char* name :
       {"",
        "adam_step",
        "volta_sgemm_128x64_nn",
        "ampere_sgemm_64x32_sliced1x4_nn",
        "maxwell_scudnn_128x64_relu_interior_nn_v1",
        "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x64x8_stage3_warpsize1x4x1_ffma_aligna4_"
        "alignc4_execute_kernel__5x_cublas",
        "void cutlass::Kernel2<cutlass_80_simt_sgemm_256x128_8x4_nn_align1>(int)",
        "void at::native::foo<at::TensorOptions>(at::Tensor)",
        "void k<TensorOp>()",
        "multi_tensorop_apply",
        "summa_step",
        "dumma",
        "s884",
        "resize_1688",
        "x16816y",
        "tensor3x",
        "void k<16816>()",
        "SM80_CP_ASYNC",
        "conv1x1",
        "d3x3x3",
        "gemmal",
        "warpgroupsize1x1x1"}) {
    INFO(name);
    // the word itself is NVIDIA's
    CHECK(name_says_tensor_core(name) == (std::string_view{name} == "s884"));
  }
}
