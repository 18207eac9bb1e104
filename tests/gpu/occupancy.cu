// SPDX-License-Identifier: MIT
//
// How many blocks of a kernel a multiprocessor holds: the kernels count themselves, and kprof's
// figure, from what CUPTI recorded of the launch alone, is that number, as is the CUDA runtime's.

#include "kernels.cuh"

#include <kprof/ceilings.hpp>

#include <algorithm>
#include <cmath>

namespace {

struct Hold {
  std::int64_t id = 0;
};
constexpr int most_multiprocessors = 1024;

/// Each block tells how many of the kernel are on its multiprocessor, itself included; it stays for
/// so long that the device is full meanwhile. `values` keep as many registers busy.
template <int values, int static_bytes>
__global__ void hold_kernel(int* now, int* most, const float* in, float* out, long long stay_ns) {
  __shared__ char shared[static_bytes];
  if (threadIdx.x < static_bytes) shared[threadIdx.x] = static_cast<char>(threadIdx.x);
  float kept[values];
#pragma unroll
  for (int i = 0; i < values; ++i) kept[i] = in[threadIdx.x + static_cast<unsigned>(i)];
  unsigned here = 0;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(here));
  if (threadIdx.x == 0) atomicMax(&most[here], atomicAdd(&now[here], 1) + 1);
  unsigned long long begin = 0, time = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do {
    // read and written here, so that they are in registers meanwhile
#pragma unroll
    for (int i = 0; i < values; ++i) asm volatile("" : "+f"(kept[i]));
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  } while (time - begin < static_cast<unsigned long long>(stay_ns));
  float sum = static_cast<float>(shared[threadIdx.x % static_bytes]);
#pragma unroll
  for (int i = 0; i < values; ++i) sum += kept[i];
  if (sum == -1.5F) *out = sum;
  __syncthreads();
  if (threadIdx.x == 0) atomicSub(&now[here], 1);
}

using kernel = void (*)(int*, int*, const float*, float*, long long);

struct launch {
  kernel code = nullptr;
  int threads = 0, dynamic = 0, carve_out = -1, cluster = 1;
  unsigned blocks = 0;
  int counted = 0, by_runtime = 0;
};

/// A multiprocessor's most blocks, of all that there are.
int count_blocks(const launch& l, std::int64_t id) {
  static device_array<int> counts(2 * most_multiprocessors);
  static device_array<float> values(2048);
  CUDA(cudaMemset(counts.data(), 0, 2 * most_multiprocessors * sizeof(int)));
  cudaLaunchConfig_t how{};
  how.gridDim = dim3(l.blocks), how.blockDim = dim3(static_cast<unsigned>(l.threads));
  how.dynamicSmemBytes = static_cast<std::size_t>(l.dynamic);
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {static_cast<unsigned>(l.cluster), 1, 1};
  if (l.cluster > 1) how.attrs = &cluster, how.numAttrs = 1;
  {
    KPROF_OP(Hold, {.id = id});
    CUDA(cudaLaunchKernelEx(&how, l.code, counts.data(), counts.data() + most_multiprocessors,
                            static_cast<const float*>(values.data()), values.data(), 60'000LL));
  }
  CUDA(cudaDeviceSynchronize());
  int most[most_multiprocessors];
  CUDA(cudaMemcpy(most, counts.data() + most_multiprocessors, sizeof most, cudaMemcpyDeviceToHost));
  return *std::max_element(most, most + most_multiprocessors);
}

/// The shapes: registers, threads, shared memory, what the program asks L1 to leave to it.
std::vector<launch> shapes() {
  std::vector<launch> out;
  const kernel codes[] = {hold_kernel<1, 1>,    hold_kernel<24, 1>,  hold_kernel<40, 1>,
                          hold_kernel<88, 1>,   hold_kernel<150, 1>, hold_kernel<1, 3000>,
                          hold_kernel<40, 9001>};
  int opt_in = 0;
  CUDA(cudaDeviceGetAttribute(&opt_in, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  for (const kernel code : codes) {
    cudaFuncAttributes of{};
    CUDA(cudaFuncGetAttributes(&of, code));
    const int room = opt_in - static_cast<int>(of.sharedSizeBytes);
    CUDA(cudaFuncSetAttribute(code, cudaFuncAttributeMaxDynamicSharedMemorySize, room));
    for (const int threads : {32, 64, 96, 128, 224, 256, 384, 512, 768, 1024})
      for (const int dynamic : {0, 1024, 5000, 16'384, 48'000, 100'000, room}) {
        if (threads > of.maxThreadsPerBlock || dynamic > room) continue;
        const bool is_small = dynamic <= 5000;
        out.push_back({code, threads, dynamic});
        if (is_small && threads % 128 == 0) out.push_back({code, threads, dynamic, 50});
        if (is_small && threads == 128) out.push_back({code, threads, dynamic, 0});
      }
  }
  return out;
}

std::string text(const launch& l) {
  cudaFuncAttributes of{};
  CUDA(cudaFuncGetAttributes(&of, l.code));
  return std::to_string(l.threads) + " threads of " + std::to_string(of.numRegs) +
         " registers, shared " + std::to_string(of.sharedSizeBytes) + " + " +
         std::to_string(l.dynamic) + ", carve-out " + std::to_string(l.carve_out);
}

/// What CUPTI recorded of the only kernel in the operator; null where it is another number.
const kprof::device_work* work_of(const kprof::profile& p, std::int64_t id) {
  const kprof::device_work* found = nullptr;
  for (const kprof::device_work& w : p.device.work)
    if (w.scope != kprof::device_work::none && w.task == kprof::device_task::kernel &&
        is_called(p, p.nodes[w.scope], "Hold id=" + std::to_string(id))) {
      if (found != nullptr) return nullptr;
      found = &w;
    }
  return found;
}

void blocks() {
  cudaDeviceProp props{};
  CUDA(cudaGetDeviceProperties(&props, 0));
  if (props.multiProcessorCount > most_multiprocessors) skip("the device is too large");
  CHECK("kprof starts", kprof::start({.memory = std::size_t{256} << 20U}).ok());
  std::vector<launch> all = shapes();
  for (std::size_t i = 0; i < all.size(); ++i) {
    launch& l = all[i];
    // One more than any multiprocessor holds.
    l.blocks = static_cast<unsigned>(props.multiProcessorCount) * 33U;
    CUDA(cudaFuncSetAttribute(l.code, cudaFuncAttributePreferredSharedMemoryCarveout, l.carve_out));
    CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&l.by_runtime, l.code, l.threads,
                                                       static_cast<std::size_t>(l.dynamic)));
    l.counted = count_blocks(l, static_cast<std::int64_t>(i));
  }
  const kprof::profile p = kprof::snapshot();
  check_complete(p);
  if (p.device.devices.empty()) return CHECK("the device is described", false);
  const kprof::device_info& device = p.device.devices[0];
  std::size_t recorded = 0, right = 0, as_runtime = 0, with_carve_out = 0, waves = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const launch& l = all[i];
    const kprof::device_work* const w = work_of(p, static_cast<std::int64_t>(i));
    cudaFuncAttributes of{};
    CUDA(cudaFuncGetAttributes(&of, l.code));
    if (w == nullptr) continue;
    // 16 at least, whatever the kernel needs.
    const bool is_as_launched = w->registers == static_cast<unsigned>(std::max(of.numRegs, 16)) &&
                                w->static_shared == of.sharedSizeBytes &&
                                w->dynamic_shared == static_cast<unsigned>(l.dynamic) &&
                                w->cluster[0] == 0 && w->grid[0] == l.blocks;
    recorded += is_as_launched;
    if (!is_as_launched)
      note("recorded otherwise: " + text(l) + ": " + std::to_string(w->registers) +
           " registers, shared " + std::to_string(w->static_shared) + " + " +
           std::to_string(w->dynamic_shared) + ", cluster " + std::to_string(w->cluster[0]));
    with_carve_out += w->multiprocessor_shared != 0;
    const kprof::kernel_occupancy found = kprof::occupancy_of(device, *w);
    right += static_cast<int>(found.blocks) == l.counted;
    as_runtime += l.counted == l.by_runtime;
    if (static_cast<int>(found.blocks) != l.counted)
      note("other blocks: " + text(l) + ": counted " + std::to_string(l.counted) + ", by kprof " +
           std::to_string(found.blocks) + ", by the runtime " + std::to_string(l.by_runtime) +
           ", shared memory of the multiprocessor " + std::to_string(w->multiprocessor_shared));
    waves += std::fabs(found.waves - static_cast<double>(l.blocks) /
                                         (props.multiProcessorCount * l.counted)) < 1e-9;
  }
  CHECK_EQUAL("kernels of which CUPTI records registers and shared memory as launched", recorded,
              all.size());
  CHECK_EQUAL("kernels whose blocks on a multiprocessor are those that they counted", right,
              all.size());
  CHECK_EQUAL("kernels whose waves are right", waves, all.size());
  note(std::to_string(with_carve_out) + " of " + std::to_string(all.size()) +
       " kernels have the shared memory that the driver gave to a multiprocessor");
  note("the runtime's own calculator is right for " + std::to_string(as_runtime));
}

/// Blocks in clusters: the record says how many, and no waves are told.
void clusters() {
  cudaDeviceProp props{};
  CUDA(cudaGetDeviceProperties(&props, 0));
  if (props.major < 9) skip("the device has no clusters");
  CHECK("kprof starts", kprof::start().ok());
  std::vector<launch> all;
  for (const int cluster : {1, 2, 4, 8})
    all.push_back({hold_kernel<24, 1>, 256, 1024, -1, cluster,
                   static_cast<unsigned>(props.multiProcessorCount) * 16U / 8U * 8U});
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i].counted = count_blocks(all[i], static_cast<std::int64_t>(i));
  const kprof::profile p = kprof::snapshot();
  check_complete(p);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const launch& l = all[i];
    const std::string name = "clusters of " + std::to_string(l.cluster);
    const kprof::device_work* const w = work_of(p, static_cast<std::int64_t>(i));
    if (w == nullptr || p.device.devices.empty()) return CHECK("recorded: " + name, false);
    CHECK_EQUAL("blocks of a cluster as recorded, " + name, w->cluster[0],
                l.cluster > 1 ? static_cast<unsigned>(l.cluster) : 0U);
    const kprof::kernel_occupancy found = kprof::occupancy_of(p.device.devices[0], *w);
    CHECK_EQUAL("waves are told, " + name, found.waves > 0, l.cluster == 1);
    CHECK_WITHIN("blocks that a multiprocessor held, no more than by kprof, " + name, l.counted, 1,
                 static_cast<double>(found.blocks));
    note(name + ": counted " + std::to_string(l.counted) + ", by kprof " +
         std::to_string(found.blocks));
  }
}

}  // namespace

int main(int argc, char** argv) {
  return run_modes(argc, argv, "occupancy",
                   {{"blocks", blocks, mode::gpu}, {"clusters", clusters, mode::gpu}});
}
