// SPDX-License-Identifier: MIT
//
// What the device reaches, as kprof measures it, against the data sheet and against copies and
// kernels of this program; and what kprof says bounds operators that are made to be bound by it.

#include "kernels.cuh"

#include <kprof/tables.hpp>

#include <algorithm>

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20U;

struct Triad {
  std::int64_t n = 0;
  constexpr kprof::traffic bytes() const {
    return {.read = kprof::count{8} * n, .written = kprof::count{4} * n};
  }
  constexpr kprof::count flops() const { return kprof::count{2} * n; }
};
struct Multiply {
  std::int64_t threads = 0, rounds = 0;
  constexpr kprof::count flops() const { return kprof::count{16} * threads * rounds; }
  constexpr kprof::traffic bytes() const {
    return {.read = 0, .written = kprof::count{4} * threads};
  }
  constexpr kprof::arithmetic arithmetic() const {
    return {.type = kprof::dtype::f32, .on = kprof::arithmetic_unit::cuda_core};
  }
};
struct Chase {
  std::int64_t steps = 0;
  constexpr kprof::traffic bytes() const { return {.read = kprof::count{8} * steps, .written = 8}; }
};
struct Small {
  std::int64_t n = 0;
  constexpr kprof::traffic bytes() const {
    return {.read = kprof::count{4} * n, .written = kprof::count{4} * n};
  }
  constexpr kprof::count flops() const { return n; }
};
/// Reads what an earlier call left in L2.
struct Again {
  std::int64_t n = 0;
  constexpr kprof::traffic bytes() const { return {.read = kprof::count{4} * n, .written = 0}; }
};

template <class T>
__global__ void triad_kernel(T* a, const T* b, const T* c, std::size_t n) {
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n;
       i += std::size_t{gridDim.x} * blockDim.x) {
    const T x = b[i], y = c[i];
    a[i] = T{x.x + 3 * y.x, x.y + 3 * y.y, x.z + 3 * y.z, x.w + 3 * y.w};
  }
}
/// 8 chains of a multiplication and an addition each.
template <class T>
__global__ void multiply_kernel(T* out, int rounds) {
  T x[8];
#pragma unroll
  for (int k = 0; k < 8; ++k) x[k] = static_cast<T>(threadIdx.x) * static_cast<T>(k);
  for (int i = 0; i < rounds; ++i)
#pragma unroll
    for (int k = 0; k < 8; ++k) x[k] = x[k] * static_cast<T>(0.999) + static_cast<T>(0.5);
  T sum = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) sum += x[k];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
template <class T>
__global__ void chase_kernel(T* next, int steps) {
  T at = 0;
  for (int i = 0; i < steps; ++i) at = next[at];
  next[1] = at;
}
template <class T>
__global__ void chain_kernel(T* next, T n, T stride) {
  for (T i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    next[i] = (i + stride) % n;
}
template <class T>
__global__ void again_kernel(const T* x, std::size_t n, T* out) {
  T sum{};
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n;
       i += std::size_t{gridDim.x} * blockDim.x) {
    const T y = __ldcg(&x[i]);
    sum.x += y.x, sum.y += y.y, sum.z += y.z, sum.w += y.w;
  }
  if (sum.x == 1.25F) *out = sum;
}

double best_seconds(const std::function<void()>& work) {
  cudaEvent_t begin = nullptr, end = nullptr;
  CUDA(cudaEventCreate(&begin));
  CUDA(cudaEventCreate(&end));
  double best = 1e9;
  for (int i = 0; i < 10; ++i) {
    CUDA(cudaEventRecord(begin));
    work();
    CUDA(cudaEventRecord(end));
    CUDA(cudaEventSynchronize(end));
    float ms = 0;
    CUDA(cudaEventElapsedTime(&ms, begin, end));
    best = std::min(best, 1e-3 * static_cast<double>(ms));
  }
  return best;
}

struct own_rates {
  double copy = 0, triad = 0, f32 = 0, to_device = 0, from_device = 0;
};
own_rates measure_own(int multiprocessors) {
  own_rates out;
  constexpr std::size_t each = 1024 * mebibyte;
  {
    device_array<char> a(each), b(each), c(each);
    out.copy = 2 * static_cast<double>(each) / best_seconds([&] {
                 CUDA(cudaMemcpyAsync(a.data(), b.data(), each, cudaMemcpyDeviceToDevice));
               });
    const auto as = [](device_array<char>& x) { return reinterpret_cast<float4*>(x.data()); };
    out.triad =
        3 * static_cast<double>(each) / best_seconds([&] {
          triad_kernel<<<multiprocessors * 8, 512>>>(as(a), as(b), as(c), each / sizeof(float4));
        });
    constexpr int rounds = 20'000;
    const int blocks = multiprocessors * 8;
    out.f32 = 16.0 * rounds * blocks * 256 / best_seconds([&] {
                multiply_kernel<<<blocks, 256>>>(reinterpret_cast<float*>(a.data()), rounds);
              });
    void* pinned = nullptr;
    CUDA(cudaMallocHost(&pinned, 256 * mebibyte));
    for (const bool to : {true, false}) {
      double& rate = to ? out.to_device : out.from_device;
      rate = 256.0 * mebibyte / best_seconds([&] {
               CUDA(cudaMemcpyAsync(to ? a.data() : pinned, to ? pinned : a.data(), 256 * mebibyte,
                                    to ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost));
             });
    }
    CUDA(cudaFreeHost(pinned));
  }
  CUDA(cudaGetLastError());
  return out;
}

std::string tera(double rate) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f T", rate / 1e12);
  return text;
}

/// The operators that are made to be bound by something.
void run_bound(int multiprocessors) {
  const int blocks = multiprocessors * 8;
  constexpr std::size_t each = 256 * mebibyte;
  device_array<char> a(each), b(each), c(each);
  const auto as = [](device_array<char>& x) { return reinterpret_cast<float4*>(x.data()); };
  auto* const floats = reinterpret_cast<float*>(a.data());
  auto* const next = reinterpret_cast<unsigned long long*>(c.data());
  for (int i = 0; i < 20; ++i) {
    KPROF_OP(Triad, {.n = each / 4});
    triad_kernel<<<blocks, 512>>>(as(a), as(b), as(c), each / sizeof(float4));
  }
  for (int i = 0; i < 20; ++i) {
    KPROF_OP(Multiply, {.threads = blocks * 256, .rounds = 20'000});
    multiply_kernel<<<blocks, 256>>>(floats, 20'000);
  }
  // Each step over another line of memory.
  chain_kernel<<<blocks, 256>>>(next, 1ULL * each / 8, 40'961ULL);
  for (int i = 0; i < 5; ++i) {
    KPROF_OP(Chase, {.steps = 20'000});
    chase_kernel<<<1, 1>>>(next, 20'000);
  }
  for (int i = 0; i < 2000; ++i) {
    KPROF_OP(Small, {.n = 256});
    launch_touch(floats, 256);
  }
  constexpr std::size_t in_cache = 24 * mebibyte;
  for (int i = 0; i < 40; ++i) {
    KPROF_OP(Again, {.n = in_cache / 4});
    again_kernel<<<blocks, 256>>>(as(b), in_cache / sizeof(float4), as(a));
  }
  CUDA(cudaGetLastError());
  CUDA(cudaDeviceSynchronize());
}

void check_bound(const std::vector<kprof::operator_row>& rows, const char* name,
                 std::initializer_list<kprof::bound_by> allowed, double low, double high) {
  for (const kprof::operator_row& row : rows) {
    if (row.name != name) continue;
    const std::string bound = kprof::bound_name(row.verdict.bound);
    CHECK("bound of " + std::string{name} + ": " + bound,
          std::find(allowed.begin(), allowed.end(), row.verdict.bound) != allowed.end());
    CHECK_WITHIN("share of the roof of " + std::string{name}, row.verdict.roof.value, low, high);
    note(std::string{name} + ": " + std::to_string(100 * row.verdict.roof.value) +
         " % of the roof");
    return;
  }
  CHECK("there is a row " + std::string{name}, false);
}

/// Measured by kprof, by this program, and promised by the data sheet.
void measured() {
  cudaDeviceProp props{};
  CUDA(cudaGetDeviceProperties(&props, 0));
  const own_rates own = measure_own(props.multiProcessorCount);
  kprof::settings wanted;
  wanted.ceilings = "measure";
  CHECK("kprof starts", kprof::start(wanted).ok());
  run_bound(props.multiProcessorCount);
  const std::uint64_t kernels_before = everything(kprof::snapshot()).kernels;
  kprof::report();
  const kprof::profile p = kprof::snapshot();
  check_complete(p);
  CHECK_EQUAL("no kernel of the measurement is in the profile", everything(p).kernels,
              kernels_before);
  if (p.machine.gpus.empty()) return CHECK("the device has ceilings", false);
  const kprof::gpu_ceilings& found = p.machine.gpus[0];
  for (const std::string& n : found.notes) note(n);
  CHECK("the device is measured", !found.measured.empty());
  for (const kprof::gpu_arithmetic_ceiling& a : found.arithmetic) {
    const double table = a.table_operations > 0 ? a.table_operations : a.operations;
    const std::string name =
        std::string{kprof::detail::dtype_name(a.type)} +
        (a.on == kprof::arithmetic_unit::tensor_core ? " on tensor cores" : " on CUDA cores");
    note(name + ": measured " + tera(a.measured_operations) + ", by the table " + tera(table));
    if (a.on != kprof::arithmetic_unit::tensor_core && a.measured_operations > 0)
      CHECK_WITHIN("measured over the data sheet's, " + name, a.measured_operations / table, 0.5,
                   1.02);
  }
  note("memory: measured " + tera(found.memory_bytes) + ", by the table " +
       tera(found.table_memory_bytes) + ", a copy of 1 GiB " + tera(own.copy) +
       ", a triad of 1 GiB " + tera(own.triad));
  note("L2: measured " + tera(found.l2_bytes) + ", by the table " + tera(found.table_l2_bytes));
  note("f32 of this program's kernel: " + tera(own.f32) + ", clock " +
       std::to_string(found.measured_clock_hz / 1e6) + " MHz");
  note("copies to the device: measured " + tera(found.to_device_bytes) + ", of 256 MiB " +
       tera(own.to_device) + "; from it " + tera(found.from_device_bytes) + " and " +
       tera(own.from_device));
  CHECK_WITHIN("memory over the data sheet's", found.memory_bytes / found.table_memory_bytes, 0.75,
               1.0);
  // Of kprof's kernels one only reads, which an H200's memory does quicker than a copy.
  CHECK_WITHIN("memory over this program's best",
               found.memory_bytes / std::max(own.copy, own.triad), 0.93, 1.15);
  CHECK_WITHIN("copies to the device over this program's", found.to_device_bytes / own.to_device,
               0.9, 1.1);
  CHECK_WITHIN("copies from the device over this program's",
               found.from_device_bytes / own.from_device, 0.9, 1.1);
  const kprof::gpu_arithmetic_ceiling* const f32 =
      found.find(kprof::dtype::f32, kprof::arithmetic_unit::cuda_core);
  if (f32 != nullptr)
    CHECK_WITHIN("f32 over this program's", f32->measured_operations / own.f32, 0.95, 1.2);

  using bound = kprof::bound_by;
  const std::vector<kprof::operator_row> rows = kprof::operator_table(p);
  check_bound(rows, "Triad", {bound::memory}, 0.85, 1.0);
  check_bound(rows, "Multiply", {bound::compute}, 0.8, 1.0);
  check_bound(rows, "Chase", {bound::small_grid, bound::latency}, 0, 0.01);
  check_bound(rows, "Small", {bound::launch}, 0, 0.05);
  check_bound(rows, "Again", {bound::cache, bound::launch}, 0.2, 1.0);
}

}  // namespace

int main(int argc, char** argv) {
  return run_modes(argc, argv, "roofs", {{"measured", measured, mode::gpu}});
}
