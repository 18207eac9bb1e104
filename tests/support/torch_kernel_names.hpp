// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_TORCH_KERNEL_NAMES_HPP
#define KPROF_TESTS_TORCH_KERNEL_NAMES_HPP

// Names of kernels as a training with PyTorch 2.9 runs them on an H200, with cuBLAS and CUTLASS,
// and some of vLLM, FlashAttention and nvcc's own lambdas; and what a reader wants to see of each.

namespace kprof_test {

struct kernel_of_torch {
  const char* whole;
  const char* brief;
};

// clang-format off
inline constexpr kernel_of_torch torch_kernels[] = {
    {"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8_stage3_warpsize1x2x1_ffma_aligna4_"
     "alignc4_execute_kernel__5x_cublas",
     "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8_stage3_warpsize1x2x1_ffma_aligna4_"
     "alignc4_execute_kernel__5x_cublas"},
    {"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x64x8_stage3_warpsize2x2x1_ffma_aligna4"
     "_alignc4_execute_kernel__5x_cublas",
     "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x64x8_stage3_warpsize2x2x1_ffma_aligna4"
     "_alignc4_execute_kernel__5x_cublas"},
    {"fmha_cutlassF_f32_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<float, c"
     "utlass::arch::Sm80, true, 64, 64, 64, true, true>::Params)",
     "fmha_cutlassF_f32_aligned_64x64_rf_sm80"},
    {"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float, false"
     ">(int, float, float const*, float const*, float const*, float*, float*, float*)",
     "vectorized_layer_norm_kernel<float>"},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, st"
     "d::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)",
     "vectorized_elementwise_kernel CUDAFunctor_add<float>"},
    {"void at::native::vectorized_elementwise_kernel<2, at::native::FillFunctor<long>, std::ar"
     "ray<char*, 1ul> >(int, at::native::FillFunctor<long>, std::array<char*, 1ul>)",
     "vectorized_elementwise_kernel FillFunctor<long>"},
    {"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x128x8_stage3_warpsize1x4x1_ffma_aligna4"
     "_alignc4_execute_kernel__5x_cublas",
     "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x128x8_stage3_warpsize1x4x1_ffma_aligna4"
     "_alignc4_execute_kernel__5x_cublas"},
    {"void cutlass::Kernel2<cutlass_80_simt_sgemm_256x128_8x4_nn_align1>(cutlass_80_simt_sgemm"
     "_256x128_8x4_nn_align1::Params)",
     "cutlass_80_simt_sgemm_256x128_8x4_nn_align1"},
    {"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize256x64x8_stage3_warpsize2x2x1_ffma_aligna4"
     "_alignc4_execute_kernel__5x_cublas",
     "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize256x64x8_stage3_warpsize2x2x1_ffma_aligna4"
     "_alignc4_execute_kernel__5x_cublas"},
    {"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_warpsize2x2x1_ffma_aligna"
     "4_alignc4_execute_kernel__5x_cublas",
     "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_warpsize2x2x1_ffma_aligna"
     "4_alignc4_execute_kernel__5x_cublas"},
    {"fmha_cutlassB_f32_aligned_64x64_k64_sm80(PyTorchMemEffAttention::AttentionBackwardKernel"
     "<cutlass::arch::Sm80, float, true, false, false, 64, 64, 64, false>::Params)",
     "fmha_cutlassB_f32_aligned_64x64_k64_sm80"},
    {"void cutlass::Kernel2<cutlass_80_simt_sgemm_256x128_8x4_nt_align1>(cutlass_80_simt_sgemm"
     "_256x128_8x4_nt_align1::Params)",
     "cutlass_80_simt_sgemm_256x128_8x4_nt_align1"},
    {"void cutlass::Kernel2<cutlass_80_simt_sgemm_128x256_8x4_nt_align1>(cutlass_80_simt_sgemm"
     "_128x256_8x4_nt_align1::Params)",
     "cutlass_80_simt_sgemm_128x256_8x4_nt_align1"},
    {"void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl_nocast<at::nativ"
     "e::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() const::{"
     "lambda()#7}::operator()() const::{lambda(float)#1}>(at::TensorIteratorBase&, at::native:"
     ":direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() const::{la"
     "mbda()#7}::operator()() const::{lambda(float)#1} const&)::{lambda(int)#1}>(int, at::nati"
     "ve::gpu_kernel_impl_nocast<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&):"
     ":{lambda()#3}::operator()() const::{lambda()#7}::operator()() const::{lambda(float)#1}>("
     "at::TensorIteratorBase&, at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{"
     "lambda()#3}::operator()() const::{lambda()#7}::operator()() const::{lambda(float)#1} con"
     "st&)::{lambda(int)#1})",
     "elementwise_kernel direct_copy_kernel_cuda(float)"},
    {"sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize64x64x8_stage3_warpsize1x4x1_ffma_aligna4_"
     "alignc4_execute_kernel__5x_cublas",
     "sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize64x64x8_stage3_warpsize1x4x1_ffma_aligna4_"
     "alignc4_execute_kernel__5x_cublas"},
    {"void cutlass::Kernel2<cutlass_80_simt_sgemm_128x64_8x5_nt_align1>(cutlass_80_simt_sgemm_"
     "128x64_8x5_nt_align1::Params)",
     "cutlass_80_simt_sgemm_128x64_8x5_nt_align1"},
    {"_ZN8cublasLt19splitKreduce_kernelILi32ELi16EiffffLb0EfffLb1ELb0ELb0ELb0EEEvNS_18cublasSp"
     "litKParamsIT4_EEPKT2_PKT8_PT7_PT3_PKS2_SF_PKT9_S6_PSG_PvlPS2_PiSL_SL_SF_SF_SF_SF_SF_",
     "splitKreduce_kernel<int, float>"},
    {"void at::native::reduce_kernel<128, 4, at::native::ReduceOp<float, at::native::func_wrap"
     "per_t<float, at::native::sum_functor<float, float, float>::operator()(at::TensorIterator"
     "&)::{lambda(float, float)#1}>, unsigned int, float, 4, 4> >(at::native::ReduceOp<float, "
     "at::native::func_wrapper_t<float, at::native::sum_functor<float, float, float>::operator"
     "()(at::TensorIterator&)::{lambda(float, float)#1}>, unsigned int, float, 4, 4>)",
     "reduce_kernel sum_functor<float>"},
    {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous"
     " namespace)::FusedOptimizerTensorListMetadata<4>, at::native::(anonymous namespace)::Fus"
     "edAdamMathFunctor<float, 4, (at::native::ADAM_MODE)1, false>, float const*, double, doub"
     "le, double, double, double, bool, float const*, float const*>(at::native::(anonymous nam"
     "espace)::FusedOptimizerTensorListMetadata<4>, at::native::(anonymous namespace)::FusedAd"
     "amMathFunctor<float, 4, (at::native::ADAM_MODE)1, false>, float const*, double, double, "
     "double, double, double, bool, float const*, float const*)",
     "multi_tensor_apply_kernel FusedAdamMathFunctor<float>"},
    {"void at::native::(anonymous namespace)::GammaBetaBackwardCUDAKernelTemplate<float, float"
     ", 32u, 32u, 256u, false, true, false>(long, long, float const*, float const*, float cons"
     "t*, float const*, float*, float*)",
     "GammaBetaBackwardCUDAKernelTemplate<float>"},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<float, float"
     ", float, at::native::(anonymous namespace)::threshold_kernel_impl<float>(at::TensorItera"
     "torBase&, float, float)::{lambda(float, float)#1}>, std::array<char*, 3ul> >(int, at::na"
     "tive::BinaryFunctor<float, float, float, at::native::(anonymous namespace)::threshold_ke"
     "rnel_impl<float>(at::TensorIteratorBase&, float, float)::{lambda(float, float)#1}>, std:"
     ":array<char*, 3ul>)",
     "vectorized_elementwise_kernel threshold_kernel_impl<float>"},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, std::a"
     "rray<char*, 1ul> >(int, at::native::FillFunctor<float>, std::array<char*, 1ul>)",
     "vectorized_elementwise_kernel FillFunctor<float>"},
    {"void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl_nocast<at::nativ"
     "e::CUDAFunctor_add<float> >(at::TensorIteratorBase&, at::native::CUDAFunctor_add<float> "
     "const&)::{lambda(int)#1}>(int, at::native::gpu_kernel_impl_nocast<at::native::CUDAFuncto"
     "r_add<float> >(at::TensorIteratorBase&, at::native::CUDAFunctor_add<float> const&)::{lam"
     "bda(int)#1})",
     "elementwise_kernel CUDAFunctor_add<float>"},
    {"void at::native::(anonymous namespace)::layer_norm_grad_input_kernel_vectorized<float, f"
     "loat, false>(float const*, float const*, float const*, float const*, float const*, float"
     "*, int)",
     "layer_norm_grad_input_kernel_vectorized<float>"},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous namespace)::lau"
     "nch_clamp_scalar(at::TensorIteratorBase&, c10::Scalar, c10::Scalar, at::native::detail::"
     "ClampLimits)::{lambda()#1}::operator()() const::{lambda()#7}::operator()() const::{lambd"
     "a(float)#1}, std::array<char*, 2ul> >(int, at::native::(anonymous namespace)::launch_cla"
     "mp_scalar(at::TensorIteratorBase&, c10::Scalar, c10::Scalar, at::native::detail::ClampLi"
     "mits)::{lambda()#1}::operator()() const::{lambda()#7}::operator()() const::{lambda(float"
     ")#1}, std::array<char*, 2ul>)",
     "vectorized_elementwise_kernel launch_clamp_scalar(float)"},
    {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::func_wrap"
     "per_t<float, at::native::sum_functor<float, float, float>::operator()(at::TensorIterator"
     "&)::{lambda(float, float)#1}>, unsigned int, float, 4, 4> >(at::native::ReduceOp<float, "
     "at::native::func_wrapper_t<float, at::native::sum_functor<float, float, float>::operator"
     "()(at::TensorIterator&)::{lambda(float, float)#1}>, unsigned int, float, 4, 4>)",
     "reduce_kernel sum_functor<float>"},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<float, float"
     ", float, at::native::binary_internal::MulFunctor<float> >, std::array<char*, 3ul> >(int,"
     " at::native::BinaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<"
     "float> >, std::array<char*, 3ul>)",
     "vectorized_elementwise_kernel MulFunctor<float>"},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<unsigned char>"
     ", std::array<char*, 1ul> >(int, at::native::FillFunctor<unsigned char>, std::array<char*"
     ", 1ul>)",
     "vectorized_elementwise_kernel FillFunctor<unsigned char>"},
    {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<f"
     "loat, float, float, float>, unsigned int, float, 4, 4> >(at::native::ReduceOp<float, at:"
     ":native::MeanOps<float, float, float, float>, unsigned int, float, 4, 4>)",
     "reduce_kernel MeanOps<float>"},
    {"void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl_nocast<at::nativ"
     "e::BUnaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float> > >"
     "(at::TensorIteratorBase&, at::native::BUnaryFunctor<float, float, float, at::native::bin"
     "ary_internal::MulFunctor<float> > const&)::{lambda(int)#1}>(int, at::native::gpu_kernel_"
     "impl_nocast<at::native::BUnaryFunctor<float, float, float, at::native::binary_internal::"
     "MulFunctor<float> > >(at::TensorIteratorBase&, at::native::BUnaryFunctor<float, float, f"
     "loat, at::native::binary_internal::MulFunctor<float> > const&)::{lambda(int)#1})",
     "elementwise_kernel MulFunctor<float>"},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous namespace)::pow"
     "_tensor_scalar_kernel_impl<float, float>(at::TensorIteratorBase&, float)::{lambda(float)"
     "#1}, std::array<char*, 2ul> >(int, at::native::(anonymous namespace)::pow_tensor_scalar_"
     "kernel_impl<float, float>(at::TensorIteratorBase&, float)::{lambda(float)#1}, std::array"
     "<char*, 2ul>)",
     "vectorized_elementwise_kernel pow_tensor_scalar_kernel_impl<float>"},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::AUnaryFunctor<float, float"
     ", float, at::native::binary_internal::MulFunctor<float> >, std::array<char*, 2ul> >(int,"
     " at::native::AUnaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<"
     "float> >, std::array<char*, 2ul>)",
     "vectorized_elementwise_kernel MulFunctor<float>"},
    {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous"
     " namespace)::TensorListMetadata<1>, at::native::(anonymous namespace)::BinaryOpScalarFun"
     "ctor<float, 1, 1, 0>, std::plus<float>, float>(at::native::(anonymous namespace)::Tensor"
     "ListMetadata<1>, at::native::(anonymous namespace)::BinaryOpScalarFunctor<float, 1, 1, 0"
     ">, std::plus<float>, float)",
     "multi_tensor_apply_kernel BinaryOpScalarFunctor<float> plus<float>"},
    {"void at::native::(anonymous namespace)::distribution_elementwise_grid_stride_kernel<floa"
     "t, 4, at::native::templates::cuda::normal_and_transform<float, float, at::CUDAGeneratorI"
     "mpl*, at::native::templates::cuda::normal_kernel<at::CUDAGeneratorImpl*>(at::TensorBase "
     "const&, double, double, at::CUDAGeneratorImpl*)::{lambda()#1}::operator()() const::{lamb"
     "da()#2}::operator()() const::{lambda(float)#1}>(at::TensorIteratorBase&, at::CUDAGenerat"
     "orImpl*, at::native::templates::cuda::normal_kernel<at::CUDAGeneratorImpl*>(at::TensorBa"
     "se const&, double, double, at::CUDAGeneratorImpl*)::{lambda()#1}::operator()() const::{l"
     "ambda()#2}::operator()() const::{lambda(float)#1})::{lambda(curandStatePhilox4_32_10*)#2"
     "}, at::native::(anonymous namespace)::distribution_nullary_kernel<float, float, float4, "
     "at::CUDAGeneratorImpl*, at::native::templates::cuda::normal_and_transform<float, float, "
     "at::CUDAGeneratorImpl*, at::native::templates::cuda::normal_kernel<at::CUDAGeneratorImpl"
     "*>(at::TensorBase const&, double, double, at::CUDAGeneratorImpl*)::{lambda()#1}::operato"
     "r()() const::{lambda()#2}::operator()() const::{lambda(float)#1}>(at::TensorIteratorBase"
     "&, at::CUDAGeneratorImpl*, at::native::templates::cuda::normal_kernel<at::CUDAGeneratorI"
     "mpl*>(at::TensorBase const&, double, double, at::CUDAGeneratorImpl*)::{lambda()#1}::oper"
     "ator()() const::{lambda()#2}::operator()() const::{lambda(float)#1})::{lambda(curandStat"
     "ePhilox4_32_10*)#2}, at::native::templates::cuda::normal_kernel<at::CUDAGeneratorImpl*>("
     "at::TensorBase const&, double, double, at::CUDAGeneratorImpl*)::{lambda()#1}::operator()"
     "() const::{lambda()#2}::operator()() const::{lambda(float)#1}>(at::TensorIteratorBase&, "
     "at::CUDAGeneratorImpl*, at::native::templates::cuda::normal_and_transform<float, float, "
     "at::CUDAGeneratorImpl*, at::native::templates::cuda::normal_kernel<at::CUDAGeneratorImpl"
     "*>(at::TensorBase const&, double, double, at::CUDAGeneratorImpl*)::{lambda()#1}::operato"
     "r()() const::{lambda()#2}::operator()() const::{lambda(float)#1}>(at::TensorIteratorBase"
     "&, at::CUDAGeneratorImpl*, at::native::templates::cuda::normal_kernel<at::CUDAGeneratorI"
     "mpl*>(at::TensorBase const&, double, double, at::CUDAGeneratorImpl*)::{lambda()#1}::oper"
     "ator()() const::{lambda()#2}::operator()() const::{lambda(float)#1})::{lambda(curandStat"
     "ePhilox4_32_10*)#2} const&, at::native::templates::cuda::normal_kernel<at::CUDAGenerator"
     "Impl*>(at::TensorBase const&, double, double, at::CUDAGeneratorImpl*)::{lambda()#1}::ope"
     "rator()() const::{lambda()#2}::operator()() const::{lambda(float)#1})::{lambda(int, floa"
     "t)#1}>(long, at::PhiloxCudaState, at::native::templates::cuda::normal_and_transform<floa"
     "t, float, at::CUDAGeneratorImpl*, at::native::templates::cuda::normal_kernel<at::CUDAGen"
     "eratorImpl*>(at::TensorBase const&, double, double, at::CUDAGeneratorImpl*)::{lambda()#1"
     "}::operator()() const::{lambda()#2}::operator()() const::{lambda(float)#1}>(at::TensorIt"
     "eratorBase&, at::CUDAGeneratorImpl*, at::native::templates::cuda::normal_kernel<at::CUDA"
     "GeneratorImpl*>(at::TensorBase const&, double, double, at::CUDAGeneratorImpl*)::{lambda("
     ")#1}::operator()() const::{lambda()#2}::operator()() const::{lambda(float)#1})::{lambda("
     "curandStatePhilox4_32_10*)#2}, at::native::(anonymous namespace)::distribution_nullary_k"
     "ernel<float, float, float4, at::CUDAGeneratorImpl*, at::native::templates::cuda::normal_"
     "and_transform<float, float, at::CUDAGeneratorImpl*, at::native::templates::cuda::normal_"
     "kernel<at::CUDAGeneratorImpl*>(at::TensorBase const&, double, double, at::CUDAGeneratorI"
     "mpl*)::{lambda()#1}::operator()() const::{lambda()#2}::operator()() const::{lambda(float"
     ")#1}>(at::TensorIteratorBase&, at::CUDAGeneratorImpl*, at::native::templates::cuda::norm"
     "al_kernel<at::CUDAGeneratorImpl*>(at::TensorBase const&, double, double, at::CUDAGenerat"
     "orImpl*)::{lambda()#1}::operator()() const::{lambda()#2}::operator()() const::{lambda(fl"
     "oat)#1})::{lambda(curandStatePhilox4_32_10*)#2}, at::native::templates::cuda::normal_ker"
     "nel<at::CUDAGeneratorImpl*>(at::TensorBase const&, double, double, at::CUDAGeneratorImpl"
     "*)::{lambda()#1}::operator()() const::{lambda()#2}::operator()() const::{lambda(float)#1"
     "}>(at::TensorIteratorBase&, at::CUDAGeneratorImpl*, at::native::templates::cuda::normal_"
     "and_transform<float, float, at::CUDAGeneratorImpl*, at::native::templates::cuda::normal_"
     "kernel<at::CUDAGeneratorImpl*>(at::TensorBase const&, double, double, at::CUDAGeneratorI"
     "mpl*)::{lambda()#1}::operator()() const::{lambda()#2}::operator()() const::{lambda(float"
     ")#1}>(at::TensorIteratorBase&, at::CUDAGeneratorImpl*, at::native::templates::cuda::norm"
     "al_kernel<at::CUDAGeneratorImpl*>(at::TensorBase const&, double, double, at::CUDAGenerat"
     "orImpl*)::{lambda()#1}::operator()() const::{lambda()#2}::operator()() const::{lambda(fl"
     "oat)#1})::{lambda(curandStatePhilox4_32_10*)#2} const&, at::native::templates::cuda::nor"
     "mal_kernel<at::CUDAGeneratorImpl*>(at::TensorBase const&, double, double, at::CUDAGenera"
     "torImpl*)::{lambda()#1}::operator()() const::{lambda()#2}::operator()() const::{lambda(f"
     "loat)#1})::{lambda(int, float)#1})",
     "distribution_elementwise_grid_stride_kernel normal_kernel(float)"},
    {"sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize32x32x8_stage3_warpsize1x2x1_ffma_aligna4_"
     "alignc4_execute_kernel__5x_cublas",
     "sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize32x32x8_stage3_warpsize1x2x1_ffma_aligna4_"
     "alignc4_execute_kernel__5x_cublas"},
    {"sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize32x32x8_stage3_warpsize1x2x1_ffma_aligna4_"
     "alignc4_execute_split_k_kernel__5x_cublas",
     "sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize32x32x8_stage3_warpsize1x2x1_ffma_aligna4_"
     "alignc4_execute_split_k_kernel__5x_cublas"},
    {"void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::Ten"
     "sorIteratorBase&)::{lambda()#3}::operator()() const::{lambda()#7}::operator()() const::{"
     "lambda(float)#1}, std::array<char*, 2ul>, 4, TrivialOffsetCalculator<1, unsigned int>, T"
     "rivialOffsetCalculator<1, unsigned int>, at::native::memory::LoadWithCast<1>, at::native"
     "::memory::StoreWithCast<1> >(int, std::array<char*, 2ul>)",
     "unrolled_elementwise_kernel direct_copy_kernel_cuda(float)"},
    {"void at::native::index_elementwise_kernel<128, 4, at::native::gpu_index_kernel<at::nativ"
     "e::index_kernel_impl<at::native::OpaqueType<4> >(at::TensorIteratorBase&, c10::ArrayRef<"
     "long>, c10::ArrayRef<long>)::{lambda(char*, char const*, long)#1}>(at::TensorIteratorBas"
     "e&, c10::ArrayRef<long>, c10::ArrayRef<long>, at::native::index_kernel_impl<at::native::"
     "OpaqueType<4> >(at::TensorIteratorBase&, c10::ArrayRef<long>, c10::ArrayRef<long>)::{lam"
     "bda(char*, char const*, long)#1} const&, bool)::{lambda(int)#1}>(long)",
     "index_elementwise_kernel index_kernel_impl<OpaqueType<4>>"},
    {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::ArgMaxOps"
     "<float>, unsigned int, long, 4, 4> >(at::native::ReduceOp<float, at::native::ArgMaxOps<f"
     "loat>, unsigned int, long, 4, 4>)",
     "reduce_kernel ArgMaxOps<float>"},
    {"void at::native::vectorized_elementwise_kernel<8, at::native::BinaryFunctor<c10::BFloat1"
     "6, c10::BFloat16, c10::BFloat16, at::native::binary_internal::MulFunctor<float> >, std::"
     "array<char*, 3ul> >(int)",
     "vectorized_elementwise_kernel MulFunctor<BFloat16, float>"},
    {"void at::native::(anonymous namespace)::CatArrayBatchedCopy_contig<at::native::(anonymou"
     "s namespace)::OpaqueType<2u>, unsigned int, 2, 128, 1>(at::native::(anonymous namespace)"
     "::OpaqueType<2u>*)",
     "CatArrayBatchedCopy_contig<OpaqueType<2>, unsigned int>"},
    {"void vllm::act_and_mul_kernel<c10::BFloat16, __nv_bfloat162, &(c10::BFloat16 vllm::silu_"
     "kernel<c10::BFloat16>(c10::BFloat16 const&)), &(__nv_bfloat162 vllm::packed_silu_kernel<"
     "__nv_bfloat162>(__nv_bfloat162 const&)), true, true, false>(c10::BFloat16*, c10::BFloat1"
     "6 const*, int)",
     "act_and_mul_kernel silu_kernel<BFloat16> packed_silu_kernel<__nv_bfloat162>"},
    {"std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int, __nv_bfloat16, __"
     "nv_bfloat16, __nv_bfloat16, float, false, true, true, false, 7, false>(int)",
     "gemvx::kernel<int, __nv_bfloat16, float>"},
    {"void flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4, false, false, cutlass::ha"
     "lf_t, Flash_kernel_traits<64, 128, 128, 4, cutlass::half_t> >, false, true, false, false"
     ", true, true, false, false>(flash::Flash_fwd_params)",
     "flash_fwd_kernel<Flash_fwd_kernel_traits<…>>"},
    {"void scale_all<__nv_dl_wrapper_t<__nv_dl_tag<void (*)(float*, int), &(scale(float*, int)"
     "), 1u>, float*> >(__nv_dl_wrapper_t<__nv_dl_tag<void (*)(float*, int), &(scale(float*, i"
     "nt)), 1u>, float*>)",
     "scale_all scale"},
};
// clang-format on

}  // namespace kprof_test

#endif
