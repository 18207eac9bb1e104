// SPDX-License-Identifier: MIT
#ifndef KPROF_MACHINE_MEASURE_GPU_HPP
#define KPROF_MACHINE_MEASURE_GPU_HPP

// Measures what a GPU reaches, with the kernels of gpu_kernels.hpp. Takes up to two seconds, in
// which the program's own work on the device would disturb it. Included by the session.

#include <kprof/build_options.hpp>
#include <kprof/machine/gpu_access.hpp>
#include <kprof/machine/gpu_kernels.hpp>
#include <kprof/profile/ceilings.hpp>
#include <kprof/profile/device_profile.hpp>
#include <kprof/write/fill_in.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

KPROF_DETAIL_BEGIN
namespace detail {

/// Whether a kernel of kprof's can use the unit wholly. The tensor cores of compute 9.0 to 11.0 do
/// more with instructions that the kernels do not have.
constexpr bool kernels_reach_roof(arithmetic_unit on, std::uint32_t compute) noexcept {
  return on != arithmetic_unit::tensor_core || compute < 90 || compute >= 120;
}

/// What was measured, as the ceilings that it would be.
struct measured_gpu {
  gpu_ceilings value;
  std::string failure;  // a call of the driver that failed, and its error; empty: none
};

/// Measures one device. An error ends the measurement; what is known by then stays.
class gpu_measurement {
 public:
  [[gnu::cold]] gpu_measurement(const cuda_functions& cuda, const device_info& device)
      : gpu_(cuda), device_(device), end_ns_(gpu_.now() + most_ns) {}

  [[gnu::cold]] measured_gpu take() {
    measured_gpu found;
    out_.device = device_.name;
    const bool can_run = compute() >= 75 || gpu_.fail("kprof's kernels need compute 7.5 or later");
    const bool is_described = device_.multiprocessors > 0 && device_.l2_bytes > 0;
    if (can_run && (is_described || gpu_.fail("the driver does not say how large the device is")) &&
        gpu_.open(device_)) {
      measure_kernels();
      measure_copies();
    }
    gpu_.close();
    found.failure = gpu_.failure();
    found.value = std::move(out_);
    return found;
  }

 private:
  using launch_shape = gpu_access::launch_shape;
  static constexpr std::int64_t most_ns = 1'600'000'000;  // then no further kernel begins
  static constexpr double trial_s = 0.003;                // of one launch
  static constexpr double warming_s = 0.150;              // until the clock has risen
  static constexpr int trials = 3;

  struct timed_rounds {
    std::uint64_t rounds = 0;
    double s = 0;
  };

  std::uint32_t compute() const noexcept {
    return device_.compute_major * 10 + device_.compute_minor;
  }

  // ---- kernels

  [[gnu::cold]] void measure_kernels() {
    for (const gpu_kernel& k : gpu_kernels) {
      if (compute() < k.first || compute() > k.last) continue;
      if (gpu_.now() > end_ns_) {
        out_.notes.emplace_back("there was no time left for all kernels");
        return;
      }
      if (const int error = gpu_.load(k); error != 0) {
        out_.notes.emplace_back("the driver does not take the kernel for ")
            .append(name_of(k))
            .append(" (cuModuleLoadData: ")
            .append(gpu_.name_of(error))
            .append(")");
        continue;
      }
      if (gpu_.is_well() && gpu_shape::is_memory(k.loop)) measure_memory(k);
      else if (gpu_.is_well()) measure_arithmetic(k);
      gpu_.unload();
      if (!gpu_.is_well()) return;
    }
  }
  static const char* name_of(const gpu_kernel& k) noexcept {
    return gpu_shape::is_memory(k.loop) ? "memory" : k.instruction;
  }

  [[gnu::cold]] void measure_arithmetic(const gpu_kernel& k) {
    const launch_shape shape{device_.multiprocessors * gpu_shape::blocks, 0};
    if (is_cold_ && !warm_up(shape)) return;
    const timed_rounds best = best_of(shape);
    if (best.s <= 0) return;
    const double workers = static_cast<double>(shape.grid) * gpu_shape::threads /
                           (k.loop == gpu_loop::matrix ? 32 : 1);
    const double operations = static_cast<double>(best.rounds) * gpu_shape::chains(k) *
                              gpu_shape::steps * k.operations * workers;
    const double clock_hz = gpu_.read_clock();
    if (!gpu_.is_well()) return;
    const bool tensor = k.loop == gpu_loop::matrix;
    gpu_arithmetic_ceiling found;
    found.type = k.type;
    found.on = tensor ? arithmetic_unit::tensor_core : arithmetic_unit::cuda_core;
    found.sums = k.sums;
    found.operations = operations / best.s;
    out_.arithmetic.push_back(found);
    if (k.type == dtype::f32) out_.measured_clock_hz = clock_hz;
    note_low_clock(k, clock_hz);
  }
  /// Until the clock has risen to what it is under load.
  [[gnu::cold]] bool warm_up(const launch_shape& shape) {
    is_cold_ = false;
    std::uint64_t rounds = 16;
    for (double s = 0, sum = 0; sum < warming_s && gpu_.now() < end_ns_; sum += s) {
      s = gpu_.run(shape, rounds);
      if (s <= 0) return false;
      rounds = rounds_for(rounds, s);
    }
    return true;
  }
  /// The throttle of NVIDIA's nvbench.
  [[gnu::cold]] void note_low_clock(const gpu_kernel& k, double hz) {
    const auto highest = static_cast<double>(device_.clock_hz);
    if (hz <= 0 || hz >= 0.75 * highest) return;
    std::string& note = out_.notes.emplace_back();
    fill_in(note, "the clock was # MHz with ", {static_cast<std::uint64_t>(hz / 1e6)});
    note += name_of(k);
    fill_in(note, ", of # at most: power, heat or an administrator keep it low",
            {device_.clock_hz / 1'000'000});
  }
  /// Reads, copies and a[i] = b[i] + 3 c[i] over arrays that L2 does not hold, and reads of what it
  /// does. The best of the three is memory's rate.
  [[gnu::cold]] void measure_memory(const gpu_kernel& k) {
    const launch_shape over{device_.multiprocessors * 8, 0};
    const std::uint64_t of_grid = bytes_of(over);
    constexpr std::uint64_t least = std::uint64_t{64} << 20U;
    const std::uint64_t each = (std::max(least, device_.l2_bytes * 4) / of_grid + 1) * of_grid;
    if (gpu_.array_bytes() == 0 && !get_arrays(each)) return;
    const timed_rounds best = best_of({over.grid, each});
    if (best.s <= 0) return;
    const int arrays = k.loop == gpu_loop::read ? 1 : k.loop == gpu_loop::copy ? 2 : 3;
    double& memory = out_.memory_bytes;
    memory = std::max(
        memory, arrays * static_cast<double>(each) * static_cast<double>(best.rounds) / best.s);
    if (k.loop == gpu_loop::read) measure_l2();
  }
  [[gnu::cold]] bool get_arrays(std::uint64_t each) {
    if (has_no_arrays_) return false;
    if (gpu_.allocate_arrays(each)) return true;
    has_no_arrays_ = true;
    if (gpu_.is_well())
      fill_in(out_.notes.emplace_back(),
              "memory was not measured: the device has not twice the # MiB free that it takes",
              {each * 3 >> 20U});
    return false;
  }
  /// Over a quarter of it or less: the farther half of some L2 caches keeps copies of the nearer.
  [[gnu::cold]] void measure_l2() {
    for (const std::uint32_t blocks : {2U, 4U})  // so that enough is under way
      for (const std::uint64_t part : {4U, 8U}) measure_l2(blocks, device_.l2_bytes / part);
  }
  [[gnu::cold]] void measure_l2(std::uint32_t blocks, std::uint64_t wanted) {
    launch_shape shape{device_.multiprocessors * blocks, 0};
    const std::uint64_t of_grid = bytes_of(shape);
    shape.bytes = std::max<std::uint64_t>(wanted / of_grid, 1) * of_grid;
    if (shape.bytes > device_.l2_bytes / 2 || !gpu_.is_well()) return;
    const timed_rounds best = best_of(shape);
    const auto bytes = static_cast<double>(shape.bytes) * static_cast<double>(best.rounds);
    if (best.s > 0) out_.l2_bytes = std::max(out_.l2_bytes, bytes / best.s);
  }

  // ---- copies

  [[gnu::cold]] void measure_copies() {
    if (gpu_.array_bytes() < gpu_access::copied_bytes) return;
    for (const bool to_device : {true, false})
      for (int trial = 0; trial <= trials && gpu_.is_well(); ++trial) {
        const double s = gpu_.copy(to_device);
        double& rate = to_device ? out_.to_device_bytes : out_.from_device_bytes;
        if (s > 0) rate = std::max(rate, static_cast<double>(gpu_access::copied_bytes) / s);
      }
  }

  // ---- launches

  static std::uint64_t bytes_of(const launch_shape& shape) noexcept {
    return std::uint64_t{shape.grid} * gpu_shape::threads * gpu_shape::accesses * 16;
  }
  /// So many that a launch takes as long as a trial should, by the time of another launch.
  static std::uint64_t rounds_for(std::uint64_t rounds, double s) noexcept {
    const double wanted = static_cast<double>(rounds) * trial_s / s;
    return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::min(wanted, 1e9)));
  }
  /// The shortest of some launches; 0 s where one failed.
  [[gnu::cold]] timed_rounds best_of(const launch_shape& shape) {
    timed_rounds best;
    const std::uint64_t first = shape.bytes == 0 ? 16 : 1;
    const double s = gpu_.run(shape, first);
    if (s <= 0) return best;
    best.rounds = rounds_for(first, s);
    for (int trial = 0; trial < trials; ++trial) {
      const double took = gpu_.run(shape, best.rounds);
      if (took <= 0) return {};
      if (best.s <= 0 || took < best.s) best.s = took;
    }
    return best;
  }

  gpu_access gpu_;
  const device_info& device_;
  const std::int64_t end_ns_;
  gpu_ceilings out_;
  bool has_no_arrays_ = false, is_cold_ = true;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
