// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_KERNEL_NAMES_HPP
#define KPROF_TESTS_KERNEL_NAMES_HPP

// Names of kernels as programs have them: of CUB and Thrust as nvcc 13.0 mangles them, of cuBLAS,
// cuDNN, PyTorch, CUTLASS 2 and 3, FlashInfer and Triton. Those of one library stand together,
// since they differ least.

namespace kprof_test {

// clang-format off
inline constexpr const char* real_kernel_names[] = {
    "_ZN3cub17CUB_300001_SM_8006detail10radix_sort29DeviceRadixSortOnesweepKernelINS1_5radix1"
    "0policy_hubIfNS0_8NullTypeEyE10Policy1000ELNS0_9SortOrderE0EfS6_yiiNS1_21identity_decomp"
    "oser_tEEEvPT5_SC_PT3_PKSD_PT1_PKSH_PT2_PKSL_T4_iiT6_",
    "_ZN3cub17CUB_300001_SM_8006detail10radix_sort29DeviceRadixSortOnesweepKernelINS1_5radix1"
    "0policy_hubIiNS0_8NullTypeEyE10Policy1000ELNS0_9SortOrderE0EiS6_yiiNS1_21identity_decomp"
    "oser_tEEEvPT5_SC_PT3_PKSD_PT1_PKSH_PT2_PKSL_T4_iiT6_",
    "_ZN3cub17CUB_300001_SM_8006detail10radix_sort29DeviceRadixSortOnesweepKernelINS1_5radix1"
    "0policy_hubIifyE10Policy1000ELNS0_9SortOrderE0EifyiiNS1_21identity_decomposer_tEEEvPT5_S"
    "B_PT3_PKSC_PT1_PKSG_PT2_PKSK_T4_iiT6_",
    "_ZN3cub17CUB_300001_SM_8006detail4scan16DeviceScanKernelINS2_10policy_hubIfffjN4cuda3std"
    "3__44plusIvEEE10Policy1000EN6thrust23THRUST_300001_SM_800_NS10device_ptrIfEESF_NS0_13Sca"
    "nTileStateIfLb1EEES9_NS0_8NullTypeEjfLb0ESI_EEvT0_T1_T2_iT3_T4_T5_",
    "_ZN3cub17CUB_300001_SM_8006detail4scan16DeviceScanKernelINS2_10policy_hubIfffmN4cuda3std"
    "3__44plusIvEEE10Policy1000EN6thrust23THRUST_300001_SM_800_NS10device_ptrIfEESF_NS0_13Sca"
    "nTileStateIfLb1EEES9_NS0_8NullTypeEmfLb0ESI_EEvT0_T1_T2_iT3_T4_T5_",
    "_ZN3cub17CUB_300001_SM_8006detail9transform16transform_kernelINS2_10policy_hubILb0EN4cud"
    "a3std3__45tupleIJN6thrust23THRUST_300001_SM_800_NS10device_ptrIfEEEEEE10policy1000EiNS7_"
    "6negateIfEESC_JPfEEEvT0_iT1_T2_DpNS2_10kernel_argIT3_EE",
    "_ZN3cub17CUB_300001_SM_8006detail9transform16transform_kernelINS2_10policy_hubILb0EN4cud"
    "a3std3__45tupleIJN6thrust23THRUST_300001_SM_800_NS10device_ptrIfEEEEEE10policy1000ElNS7_"
    "6negateIfEESC_JPfEEEvT0_iT1_T2_DpNS2_10kernel_argIT3_EE",
    "_ZN3cub17CUB_300001_SM_8006detail6reduce28DeviceReduceSingleTileKernelINS2_10policy_hubI"
    "fjN4cuda3std3__44plusIfEEE10Policy1000EN6thrust23THRUST_300001_SM_800_NS10device_ptrIfEE"
    "PfjS9_ffNS7_10__identityEEEvT0_T1_T2_T3_T4_T6_",
    "_ZN3cub17CUB_300001_SM_8006detail6reduce28DeviceReduceSingleTileKernelINS2_10policy_hubI"
    "fjN4cuda3std3__44plusIfEEE10Policy1000EPfSC_iS9_ffNS7_10__identityEEEvT0_T1_T2_T3_T4_T6_",
    "_Z10dot_kernelI6float2Li128ELi0E15cublasDotParamsI16cublasGemvTensorIKS0_E30cublasGemvTe"
    "nsorStridedBatchedIS0_EEEvT2_",
    "_Z10dot_kernelI6float2Li128ELi1E15cublasDotParamsI16cublasGemvTensorIKS0_E30cublasGemvTe"
    "nsorStridedBatchedIS0_EEEvT2_",
    "_Z10dot_kernelI7double2Li64ELi0E15cublasDotParamsI16cublasGemvTensorIKS0_E30cublasGemvTe"
    "nsorStridedBatchedIS0_EEEvT2_",
    "_Z20gemv2T_kernel_64addrI13__nv_bfloat16S0_S0_fLi128ELi16ELi4ELi4ELb0E18cublasGemvParams"
    "ExIl23cublasGemvTensorBatchedIKS0_ES4_S2_IS0_EfEEvT8_",
    "_Z20gemv2T_kernel_64addrI13__nv_bfloat16S0_S0_fLi128ELi16ELi4ELi4ELb0E18cublasGemvParams"
    "ExIl30cublasGemvTensorStridedBatchedIKS0_ES4_S2_IS0_EfEEvT8_",
    "_ZN5cudnn3ops26softmax_fw_kernel_residentILi2E13__nv_bfloat16fLi256ELi0ELi0ELi0ELi128ELi"
    "96EEEv17cudnnTensorStructPKS2_S3_PS2_iT1_S7_ii",
    "_ZN5cudnn3ops26softmax_fw_kernel_residentILi2E13__nv_bfloat16fLi256ELi0ELi0ELi0ELi160ELi"
    "128EEEv17cudnnTensorStructPKS2_S3_PS2_iT1_S7_ii",
    "_ZN5cudnn31batchnorm_fwtr_nhwc_semiPersistI13__nv_bfloat16fS1_Li512ELi16ELi5ELi1ELi1ELi0"
    "ELb0ELb0ELb0ELi1EEEvNS_22NhwcBatchNormFwdParamsIT_T0_EE",
    "_ZN5cudnn31batchnorm_fwtr_nhwc_semiPersistI13__nv_bfloat16fS1_Li512ELi16ELi5ELi1ELi1ELi0"
    "ELb0ELb0ELb0ELi2EEEvNS_22NhwcBatchNormFwdParamsIT_T0_EE",
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIN3c108BFloat16EEESt5a"
    "rrayIPcLm1EEEEviT0_T1_",
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEESt5arrayIPcLm3"
    "EEEEviT0_T1_",
    "_ZN2at6native29vectorized_elementwise_kernelILi4EZZZNS0_18GeluCUDAKernelImplERNS_18Tenso"
    "rIteratorBaseENS0_8GeluTypeEENKUlvE0_clEvENKUlvE1_clEvEUlN3c104HalfEE_NS_6detail5ArrayIP"
    "cLi2EEEEEviT0_T1_",
    "_ZN2at6native29vectorized_elementwise_kernelILi4EZZZNS0_18GeluCUDAKernelImplERNS_18Tenso"
    "rIteratorBaseENS0_8GeluTypeEENKUlvE0_clEvENKUlvE2_clEvEUlN3c108BFloat16EE_NS_6detail5Arr"
    "ayIPcLi2EEEEEviT0_T1_",
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_13AUnaryFunctorIllbNS0_51_GLOBAL__N"
    "__28ce311f_18_CompareEQKernel_cu_d8008c9616CompareEqFunctorIlEEEENS_6detail5ArrayIPcLi2E"
    "EEEEviT0_T1_",
    "_ZN2at6native53_GLOBAL__N__7ae05bd5_20_layer_norm_kernel_cu_9c5ada8a28vectorized_layer_n"
    "orm_kernelIN3c108BFloat16EfEEviT0_PKT_S8_S8_PS5_S9_PS6_",
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<c10::BFloat16, at::native::N"
    "ormTwoOps<c10::BFloat16, float, c10::BFloat16>, unsigned int, c10::BFloat16, 4, 4> >(at:"
    ":native::ReduceOp<c10::BFloat16, at::native::NormTwoOps<c10::BFloat16, float, c10::BFloa"
    "t16>, unsigned int, c10::BFloat16, 4, 4>)",
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<f"
    "loat, float>, unsigned int, float, 4> >(at::native::ReduceOp<float, at::native::MeanOps<"
    "float, float>, unsigned int, float, 4>)",
    "nvjet_sm100_tst_256x48_64x5_4x1_v_bz_TNT",
    "nvjet_sm100_tst_256x40_64x5_4x1_v_bz_TNT",
    "triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_view_3",
    "triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_view_7",
    "ampere_fp16_s16816gemm_fp16_64x64_sliced1x2_ldg8_relu_f2f_stages_64x6_tn",
    "ampere_fp16_s16816gemm_fp16_128x64_ldg8_relu_f2f_stages_64x6_tn",
    "_ZN7cutlass7Kernel2I68cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_16x16_128x1_tn_alig"
    "n8EEvNT_6ParamsE",
    "_ZN7cutlass7Kernel2I50cutlass_80_tensorop_s1688gemm_64x64_16x6_tn_align4EEvNT_6ParamsE",
    "_ZN10flashinfer33BatchDecodeWithPagedKVCacheKernelILNS_15PosEncodingModeE0ELj2ELj4ELj8EL"
    "j8ELj1ELj16ENS_16DefaultAttentionILb0ELb0ELb0ELb0EEE6ParamsEEvT7_",
    "_ZN7cutlass13device_kernelINS_4gemm6kernel13GemmUniversalIN4cute5tupleIJiiiiEEENS1_10col"
    "lective13CollectiveMmaINS1_35MainloopSm100TmaUmmaWarpSpecializedILi13ELi2ELi4ENS5_IJNS4_"
    "1CILi1EEENSA_ILi4EEESB_EEEEENS5_IJNSA_ILi64EEESF_NSA_ILi128EEEEEENS_12float_e4m3_tENS5_I"
    "JlSB_lEEESI_SJ_NS4_8TiledMMAINS4_8MMA_AtomIJNS4_10MMA_TraitsINS4_19SM100_MMA_F8F6F4_SSEJ"
    "SI_SI_fSF_SF_NS4_17integral_constantINS4_4UMMA5MajorELSQ_0EEESR_NSO_INSP_7ScaleInELSS_0E"
    "EEST_EEEEEENS4_6LayoutINS5_IJSB_SB_SB_EEENS5_IJNSA_ILi0EEESY_SY_EEEEENS5_IJNS4_10Undersc"
    "oreES11_S11_EEEEENS4_23SM90_TMA_LOAD_MULTICASTENS4_14ComposedLayoutINS4_7SwizzleILi3ELi4"
    "ELi3EEENS4_18smem_ptr_flag_bitsILi8EEENSW_INS5_IJNSA_ILi8EEESG_EEENS5_IJSG_SB_EEEEEEEvNS"
    "4_8identityENS4_13SM90_TMA_LOADES1E_vS1F_EENS_8epilogue10collective18CollectiveEpilogueI"
    "NS1I_23Sm100TmaWarpSpecializedILi1ELi1ELi32ELb0ELb1EEEJSH_NS5_IJNSW_ISF_SB_EES1N_EEEvSJ_"
    "NS_10bfloat16_tESJ_NS1I_6fusion15Sm90TreeVisitorINS1Q_11Sm90ComputeIN",
    "_ZN7cutlass13device_kernelINS_4gemm6kernel13GemmUniversalIN4cute5tupleIJiiiiEEENS1_10col"
    "lective13CollectiveMmaINS1_35MainloopSm100TmaUmmaWarpSpecializedILi13ELi2ELi4ENS5_IJNS4_"
    "1CILi1EEENSA_ILi4EEESB_EEEEENS5_IJNSA_ILi128EEESF_NSA_ILi64EEEEEENS_12float_e4m3_tENS5_I"
    "JlSB_lEEESI_SJ_NS4_8TiledMMAINS4_8MMA_AtomIJNS4_10MMA_TraitsINS4_19SM100_MMA_F8F6F4_SSEJ"
    "SI_SI_fSF_SF_NS4_17integral_constantINS4_4UMMA5MajorELSQ_0EEESR_NSO_INSP_7ScaleInELSS_0E"
    "EEST_EEEEEENS4_6LayoutINS5_IJSB_SB_SB_EEENS5_IJNSA_ILi0EEESY_SY_EEEEENS5_IJNS4_10Undersc"
    "oreES11_S11_EEEEENS4_23SM90_TMA_LOAD_MULTICASTENS4_14ComposedLayoutINS4_7SwizzleILi3ELi4"
    "ELi3EEENS4_18smem_ptr_flag_bitsILi8EEENSW_INS5_IJNSA_ILi8EEESG_EEENS5_IJSG_SB_EEEEEEEvNS"
    "4_8identityENS4_13SM90_TMA_LOADES1E_vS1F_EENS_8epilogue10collective18CollectiveEpilogueI"
    "NS1I_23Sm100TmaWarpSpecializedILi1ELi1ELi32ELb0ELb1EEEJSH_NS5_IJNSW_ISF_SB_EES1N_EEEvSJ_"
    "NS_10bfloat16_tESJ_NS1I_6fusion15Sm90TreeVisitorINS1Q_11Sm90ComputeIN",
    "_ZN5model12_GLOBAL__N_14eachIZ2goPfPiiEUlfE_EEvT_S1_",
    "_ZN5model12_GLOBAL__N_14eachIZ2goPfPiiEUlfE0_EEvT_S1_",
};
// clang-format on

}  // namespace kprof_test

#endif
