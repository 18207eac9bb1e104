// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_ADVICE_CATALOGUE_HPP
#define KPROF_MODEL_ADVICE_CATALOGUE_HPP

// The table of kprof's rules of advice. Their order decides which of several speaks about a cause:
// what names the reason comes before what only names the loss. Included by advise.hpp.

#include <kprof/build_options.hpp>
#include <kprof/model/advice/clock.hpp>
#include <kprof/model/advice/copies.hpp>
#include <kprof/model/advice/host.hpp>
#include <kprof/model/advice/kernels.hpp>
#include <kprof/model/advice/overlap.hpp>
#include <kprof/model/advice/rows.hpp>
#include <kprof/model/advice/rule.hpp>
#include <kprof/model/advice/shapes.hpp>
#include <kprof/model/advice/steps.hpp>
#include <kprof/model/advice/threads.hpp>
#include <kprof/model/advice/timeline.hpp>

KPROF_DETAIL_BEGIN
namespace detail {

namespace advice_rules {
using enum advice_about;
using cause = advice_cause;

inline constexpr advice_rule catalogue[] = {
    {"G1", run, cause::run, 0, &launch_bound},
    {"G2", run, cause::run, 0, &neighbours},
    {"G3", kernels, cause::work, 0.01, &small_grid},
    {"G4", kernels, cause::work, 0.01, &tail},
    {"G5", kernels, cause::work, 0.01, &odd_block},
    {"G6", kernels, cause::work, 0.01, &registers},
    {"G7", kernels, cause::work, 0.01, &shared_memory},
    {"G8", kernels, cause::work, 0.01, &tiny_blocks},
    {"G9", rows, cause::work, 0.01, &alignment},
    {"G10", kernels, cause::work, 0.01, &tile_waste},
    {"G11", kernels, cause::work, 0.01, &split_k},
    {"G12", rows, cause::work, 0.01, &matrix_vector},
    {"G13", kernels, cause::work, 0.03, &no_tensor_cores},
    {"G14", kernels, cause::work, 0.05, &tf32},
    {"G15", run, cause::run, 0, &mixed_precision},
    {"G16", rows, cause::work, 0.03, &slow_f64},
    {"G17", rows, cause::work, 0.05, &at_memory_roof},
    {"G18", rows, cause::work, 0.03, &slow_memory},
    {"G19", kernels, cause::work, 0.01, &layout_kernels},
    {"G20", rows, cause::work, 0.02, &unfused},
    {"C1", copies, cause::work, 0.01, &pageable},
    {"C2", run, cause::run, 0, &blocking_copies},
    {"C3", copies, cause::work, 0.01, &small_copies},
    {"C4", run, cause::run, 0, &exposed_copies},
    {"C5", run, cause::run, 0, &there_and_back},
    {"C6", copies, cause::work, 0.01, &slow_link},
    {"C7", copies, cause::work, 0.01, &clearing},
    {"S1", run, cause::run, 0, &waits_for_device},
    {"S2", run, cause::run, 0, &idle_device},
    {"S3", run, cause::run, 0, &waits_for_input},
    {"S4", run, cause::run, 0, &communication},
    {"S5", run, cause::run, 0, &poor_overlap},
    {"S6", run, cause::run, 0, &allocation},
    {"S7", calls, cause::first_call, 0.02, &slow_first_call},
    {"S8", calls, cause::spread, 0.05, &uneven_calls},
    {"S9", run, cause::run, 0, &falling_clock},
    {"S11", run, cause::run, 0, &uneven_steps},
    {"H1", run, cause::threads, 0, &one_thread},
    {"H2", run, cause::threads, 0, &too_many_threads},
    {"H3", calls, cause::denormals, 0.01, &denormal_numbers},
    {"H4", rows, cause::work, 0.01, &reference_code},
    {"H5", run, cause::run, 0, &reorders},
    {"H6", rows, cause::work, 0.03, &colliding_rows},
    {"H7", calls, cause::memory, 0.01, &page_faults},
    {"H8", rows, cause::work, 0.1, &doubles},
    {"H9", calls, cause::guard, 0.01, &guard_too_fine},
    {"H10", calls, cause::threads, 0.01, &uneven_parts},
    {"H11", rows, cause::work, 0.01, &few_channels},
    {"H12", run, cause::threads, 0, &unguarded_threads},
    {"H13", run, cause::run, 0, &off_the_cpu},
    {"H14", run, cause::run, 0, &unguarded_launches},
    {"R1", rows, cause::work, 0.05, &slower_than_its_like},
    {"R2", rows, cause::work, 0.1, &far_from_roof},
    {"R3", run, cause::run, 0, &many_rows},
    {"R4", run, cause::run, 0, &no_formulas},
};

/// What docs/advice.md says of a rule. No program has it in its code.
struct explanation {
  const char *id, *meaning, *fires, *gain, *source;
};

inline constexpr explanation explanations[] = {
    {"G1", "kernels are shorter than the host takes to launch them",
     "the device waits for launches that come within 100 us of one another, 10 % of the stretch or "
     "more, and kernels are on average shorter than the time between these launches",
     "such waiting - 1 us a launch", "HTA, host wait and short kernels"},
    {"G2", "kernels that only move data follow one another",
     "3 or more of one stream in one scope, each the one kernel of a call that is bound by memory; "
     "3 % of the stretch",
     "(their bytes - what the first reads and the last writes) / bandwidth",
     "PyTorch Performance Tuning Guide"},
    {"G3", "a kernel has fewer blocks than the GPU has multiprocessors",
     "grid < multiprocessors, and nothing else ran meanwhile", "T (SMs - grid) / SMs",
     "Nsight Compute, LaunchConfiguration"},
    {"G4", "the last wave of a kernel's blocks is not full",
     "one full wave or more and a remainder, 1 / (1 + full waves) >= 20 %; no kernel that loops "
     "over its work, no cooperative one, and no clusters",
     "T min(1 / (1 + full), 1 - waves / ceil(waves))", "Nsight Compute"},
    {"G5", "the last warp of a block is not full", "threads of a block mod 32 != 0",
     "T / warps (1 - rest / 32)", "Nsight Compute"},
    {"G6", "registers let few warps on a multiprocessor",
     "occupancy < 50 %, registers are its limit, bound by latency or memory, no tensor cores",
     "T (1 - occupancy / that of the next limit)", "Nsight Compute, stricter"},
    {"G7", "shared memory does",
     "the same with shared memory as the limit, or what the driver gave of it", "the same",
     "Nsight Compute, stricter"},
    {"G8", "blocks of one warp use up the places for blocks",
     "threads <= 32, the number of blocks is the limit, occupancy <= 50 %", "the same",
     "Nsight Compute (128 to 256 threads)"},
    {"G9", "a size of a product or a number of channels is no multiple of 16 bytes",
     "types of 8 and 16 bits on a GPU; size x bits mod 128 != 0",
     "T - padded work / highest rate of an aligned row of the operator; else not stated",
     "NVIDIA Deep Learning Performance Guide"},
    {"G10", "tiles of a product reach over the edges of its result",
     "the tile is in the kernel's name, less than 85 % of the tiles is result",
     "T (1 - used share)", "NVIDIA Deep Learning Performance Guide"},
    {"G11", "few tiles, each with long sums", "waves < 0.5, K >= 8 max(M, N)", "T (1 - waves)",
     "NVIDIA Deep Learning Performance Guide, CUTLASS"},
    {"G12", "a product with few vectors reads a whole matrix",
     "min(M, N) <= 8, below 5 % of the highest rate of arithmetic", "not stated",
     "NVIDIA Deep Learning Performance Guide"},
    {"G13", "a product in 8 or 16 bits is computed on CUDA cores",
     "the operator declares CUDA cores, T >= 3 %, not bound by memory",
     "T (1 - rate of CUDA cores / rate of tensor cores)", "PyTorch's profiler plug-in"},
    {"G14", "a product in f32 is computed on CUDA cores, where tf32 is faster",
     "sgemm in the kernel's name or declared, T >= 5 %, 40 % or more of the f32 rate",
     "T (1 - f32 rate / tf32 rate)", "PyTorch, pattern FP32MatMul"},
    {"G15", "products are in f32, and nothing is in 16 bits",
     "30 % of the device's time or more in products of more than 8 vectors",
     "sum of T (1 - least time in 16 bits / least time in f32)", "PyTorch's profiler plug-in"},
    {"G16", "f64 on a GPU that has few units for it", "f32 rate >= 32 f64 rate, T >= 3 %",
     "T (1 - 2 f64 rate / f32 rate)", "Nsight Compute, roofline"},
    {"G17", "an operator moves its bytes about as fast as memory can, for its threads",
     "bound by memory at 80 % or more, T >= 5 %", "not stated", "Nsight Compute"},
    {"G18", "an operator on the GPU that ought to be bound by memory is far from its roof",
     "below 60 %, bytes of a call >= 4 L2 caches, T >= 3 %", "T - least time",
     "Nsight Compute, UncoalescedAccess"},
    {"G19", "kernels change the layout of an operator's data",
     "nchwToNhwc, nhwcToNchw, transpose or convertTensor in the kernel's name, 5 % of the "
     "operator's device time",
     "T of the kernel", "cuDNN and PyTorch tuning guides"},
    {"G20", "a norm, softmax, loss or optimizer runs several kernels a call",
     "more than 2 kernels a call, below 40 % of the roof, T >= 2 %", "T - least time",
     "PyTorch, pattern OptimizerSingleTensor"},
    {"C1", "copies from or to pageable memory", "64 KiB or more each, T >= 1 %",
     "T (1 - rate / rate of the run's pinned copies, else 12 GB/s)",
     "Nsight Systems, CUDA Best Practices Guide"},
    {"C2", "the device idles while copies hold the host",
     "copies and memsets that block take 3 % of the stretch, but copies of 64 KiB or less to the "
     "device",
     "idle time in them", "Nsight Systems, cuda_memcpy_sync"},
    {"C3", "many small copies",
     "100 or more in the run or, where it has steps, in each of them on average; below 64 KiB each",
     "(n - 1) (mean time - bytes / rate of pinned copies), of each step",
     "CUDA Best Practices Guide"},
    {"C4", "copies run beside no kernel", "5 % of the stretch, without what C5 speaks about",
     "that time", "HTA, exposed memory time"},
    {"C5", "data goes to the host and straight back",
     "in one call of an operator, the copy behind one to the host has as many bytes and goes to "
     "the "
     "device; 1 % of the stretch",
     "both copies", "PyTorch, pattern ExtraCUDACopy"},
    {"C6", "large copies are far slower than the link",
     "pinned memory, 1 MiB a copy and more, below 60 % of the rate that ceilings=measure found",
     "T (1 - rate / rate of the link)", "kprof"},
    {"C7", "memory is cleared at length", "2 % of the device's time", "T",
     "PyTorch's profiler patterns"},
    {"S1", "the device idles since the host had waited for it",
     "idle from the return of a call that waits to the next start, 3 % of the stretch", "that time",
     "Nsight Systems, cuda_api_sync; HTA"},
    {"S2", "the device is idle",
     "busy for less than 50 % of the run, and G1, S1, S3, S6 and C2 know no reason", "not stated",
     "Nsight Systems, gpu_time_util"},
    {"S3", "the device waits for the data of a step",
     "idle while the launching thread is in a scope named input, data, loader, load_batch or the "
     "like, "
     "5 % of the stretch",
     "that time", "PyTorch's profiler plug-in"},
    {"S4", "communication runs beside no computation", "more than 10 % of the stretch", "that time",
     "PyTorch's profiler plug-in"},
    {"S5", "little of the communication runs beside computation",
     "less than half of it, 5 % of the stretch are exposed, and S4 is silent",
     "exposed time (1 - share beside computation)", "HTA, overlap"},
    {"S6", "memory of the device is allocated while it could work",
     "idle while the launching thread allocates or frees, not by functions ...Async, behind the "
     "first step; 1 % of the stretch",
     "that time", "CUDA, implicit synchronisation"},
    {"S7", "the first call takes far longer than later ones",
     "first call > 10 medians, the excess >= 2 % of the run", "first call - median",
     "PyTorch, warm-up"},
    {"S8", "some calls take far longer than most",
     "20 calls or more, p99 > 3 medians, excess >= 5 % of the run",
     "T - calls x median, without the first call's excess", "HTA, stragglers"},
    {"S9", "the clock of the device falls during the run",
     "of kernels that ran ten times in each half of the stretch every one takes 5 % longer in the "
     "second, t > 4",
     "what the second half takes more", "nvbench, throttling"},
    {"S11", "some steps take far longer than most",
     "20 steps or more, p99 > 1.5 medians, excess above the median >= 3 % of the run; where calls "
     "of one operator are most of it, S8 speaks",
     "sum of max(0, step - median), without the first step's", "HTA, stragglers"},
    {"H1", "one thread works while other CPUs are idle",
     "2 CPUs or more, others in scopes for 20 % of the busiest thread at most; rows of 10 % of the "
     "run, not shared, of calls of 20 us and more, on a CPU for 80 % of their time, never faster "
     "than one thread can be",
     "sum of T (1 - roof of one thread / roof of all)", "VTune"},
    {"H2", "more threads are in scopes than there are CPUs", "on average > 1.25 x CPUs",
     "not stated", "oneDNN and PyTorch CPU guides"},
    {"H3", "calls that compute with denormal numbers are slower than others of their row",
     "the processor's flag was set in 5 % of the measured time, 5 calls or more without, 1.2 x as "
     "fast (x86-64; the guard's thread)",
     "T (time of such calls / time of all) (1 - mean of the others / mean of these)",
     "Intel oneMKL guide, Operating on Denormals"},
    {"H4", "a library runs its reference implementation", "field impl contains ref, T >= 1 %",
     "T - least time", "oneDNN"},
    {"H5", "operators only change the layout of data",
     "reorder in the name, 5 % of the time of the scopes right around them", "T", "oneDNN"},
    {"H6", "rows of a matrix lie a multiple of 4 KiB apart",
     "a field lda, ldb, ldc, ldd, ldx, ldy or ld x size mod 4096 = 0, bound by latency or memory, "
     "T >= 3 %",
     "not stated", "BLAS guides"},
    {"H7", "calls write to memory that the system gives them anew each time",
     "page faults without a disk x 0.25 us >= 10 % of the time of ten calls and more with readings "
     "of CPU time; the guard's thread",
     "faults x 0.25 us", "Linux, page faults"},
    {"H8", "f64 on the CPU near its roof", "bound by compute, T >= 10 %",
     "T (1 - f64 rate / f32 rate)", "instruction sets"},
    {"H9", "guarded code is so short that kprof takes part of the time",
     "mean < 10 empty scopes, kprof's cost >= 5 % of T", "calls x cost of a scope", "kprof"},
    {"H10", "parts of shared calls differ in length", "longest part >= 1.2 mean parts",
     "T (1 - mean part / longest part)", "POP, load balance"},
    {"H11", "the channels of a convolution fill no vectors",
     "C x bits mod 512 != 0 on the CPU, no groups, below 60 % of the roof",
     "T - least time of C padded to 4 / share of roof of the best row with whole vectors",
     "oneDNN, Understanding Memory Formats"},
    {"H12", "threads without guards do work that no row tells of",
     "their CPU time >= 20 % of the process's, no work on a device", "not stated", "kprof"},
    {"H13", "threads in operators are on no CPU: they wait, or others run in their place",
     "for 20 % of the run beyond the CPU time of threads without guards, which calls may wait for; "
     "in calls whose CPU time is known, no work on a device, and H2 silent",
     "the time on no CPU beyond that", "VTune"},
    {"H14", "kernels are launched in no operator",
     "20 % of the device time; where one thread launches half of them with no scope open, it is "
     "named; silent beside graphs that were captured before the recording",
     "not stated", "kprof"},
    {"R1", "other calls of the same operator come nearer to their roof",
     "below 60 % of the roof, another row of its type 1.5 x nearer, T >= 5 %; one an operator",
     "T (1 - share of roof / that of the other row)", "kprof"},
    {"R2", "the row that loses most time",
     "below 60 % of the roof, 10 % of the run lost; a first call that S7 speaks about is left out",
     "T - least time", "kprof"},
    {"R3", "the rows of an operator that lose much together, and none alone",
     "below 80 % of the roof together, 10 % of the run lost, no row loses that much",
     "sum of T - least time", "kprof"},
    {"R4", "operators without formulas or a type take much of the time",
     "neither flops() nor bytes(), together 20 % of the run; or no type; or flops() alone, far "
     "from the roof of arithmetic",
     "not stated", "kprof"},
};

consteval bool all_are_explained() {
  if (std::size(catalogue) != std::size(explanations)) return false;
  for (std::size_t i = 0; i < std::size(catalogue); ++i)
    if (std::string_view{catalogue[i].id} != explanations[i].id) return false;
  return true;
}
static_assert(all_are_explained());

}  // namespace advice_rules

}  // namespace detail
KPROF_DETAIL_END

#endif
