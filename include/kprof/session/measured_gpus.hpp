// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_MEASURED_GPUS_HPP
#define KPROF_SESSION_MEASURED_GPUS_HPP

// What was measured of the GPUs of this process, now or earlier, and how it is kept and put over
// what the table says. Included by session_ceilings.hpp, whose lock guards it.

#include <kprof/build_options.hpp>
#include <kprof/collect/cuda_driver.hpp>
#include <kprof/machine/gpu_table.hpp>
#include <kprof/machine/measure_gpu.hpp>
#include <kprof/model/written_ceilings.hpp>
#include <kprof/profile/ceilings.hpp>
#include <kprof/profile/device_profile.hpp>
#include <kprof/session/ceilings_cache.hpp>
#include <kprof/status.hpp>
#include <kprof/write/fill_in.hpp>
#include <kprof/write/printable.hpp>
#include <kprof/write/write_error.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// Raised when a measurement of an earlier kprof is no longer good.
inline constexpr std::uint64_t gpu_ceilings_version = 1;

/// All that a measurement of a GPU holds for, in one line; empty where it cannot be told from
/// others.
[[gnu::cold]] inline std::string this_gpu(const device_info& d) {
  const int driver = cupti::driver_version;
  if (d.uuid.empty() || driver == 0) return {};
  std::string out;
  fill_in(out, "gpu version #; ", {gpu_ceilings_version});
  out.append(d.uuid).append("; ").append(one_line(d.name));
  fill_in(out, "; driver #; compute #.#; # multiprocessors; # Hz; L2 # B",
          {static_cast<std::uint64_t>(driver), d.compute_major, d.compute_minor, d.multiprocessors,
           d.clock_hz, d.l2_bytes});
  return out;
}

/// "1.2 s".
[[gnu::cold]] inline std::string seconds_text(std::int64_t ns) {
  const auto tenths = static_cast<std::uint64_t>(ns) / 100'000'000;
  std::string out;
  fill_in(out, "#.# s", {tenths / 10, tenths % 10});
  return out;
}

/// Puts what was measured of a device over what its table says.
[[gnu::cold]] inline void put_measured_over(gpu_ceilings& to, const gpu_ceilings& measured,
                                            std::uint32_t compute) {
  for (const gpu_arithmetic_ceiling& m : measured.arithmetic) {
    gpu_arithmetic_ceiling* found = nullptr;
    for (gpu_arithmetic_ceiling& a : to.arithmetic)
      if (a.type == m.type && a.on == m.on && a.sums == m.sums) found = &a;
    const bool reach_roof = kernels_reach_roof(m.on, compute);
    if (found == nullptr && !reach_roof) continue;
    if (found == nullptr) {
      found = &to.arithmetic.emplace_back(m);
      found->operations = 0;
    }
    found->measured_operations = m.operations;
    if (!reach_roof && m.operations < found->operations) continue;
    if (found->operations > 0) found->sparse_operations *= m.operations / found->operations;
    found->table_operations = std::exchange(found->operations, m.operations);
    found->source = "measured here";
  }
  if (is_rate(measured.memory_bytes))
    to.table_memory_bytes = std::exchange(to.memory_bytes, measured.memory_bytes);
  if (is_rate(measured.l2_bytes)) to.table_l2_bytes = std::exchange(to.l2_bytes, measured.l2_bytes);
  to.to_device_bytes = measured.to_device_bytes;
  to.from_device_bytes = measured.from_device_bytes;
  to.measured_clock_hz = measured.measured_clock_hz;
  to.measured = measured.measured;
  to.notes.insert(to.notes.end(), measured.notes.begin(), measured.notes.end());
}

/// Measures a device, with the program's calls of the driver left out of the profile by the caller.
/// `note`: what the report says of that. Nothing is found where `measured` is empty.
[[gnu::cold]] inline gpu_ceilings measure_and_keep(const cuda_functions& cuda, const device_info& d,
                                                   std::string& note) {
  const std::int64_t begin_ns = cuda.now();
  measured_gpu found = gpu_measurement(cuda, d).take();
  if (found.value.arithmetic.empty()) {
    if (found.failure.empty())
      found.failure = found.value.notes.empty() ? "no kernel ran" : found.value.notes[0];
    fill_in(note, "device # was not measured: ", {d.id});
    note += found.failure;
    return {};
  }
  found.value.measured = date_of_today();
  fill_in(note, "kprof measured what device #, ", {d.id});
  note.append(printable(d.name, 80)).append(", reaches, for ");
  note += seconds_text(cuda.now() - begin_ns);
  // What is missing may be there the next time.
  if (!found.failure.empty()) {
    note.append(", in part: ").append(found.failure);
    return std::move(found.value);
  }
  const std::string machine = this_gpu(d);
  ceilings_cache cache(machine, "gpu-" + d.uuid);
  status kept{"the device or its driver does not say which it is"};
  if (!machine.empty()) kept = cache.prepare();
  if (kept) kept = cache.keep(found.value);
  note += kept ? ", once: later runs take it from " : "; it is not kept: ";
  note += kept ? quoted_path(cache.path()) : kept.message;
  return std::move(found.value);
}

class measured_gpus {
 public:
  void forget() { *this = {}; }

  /// What was measured of a device; `measured` is empty where nothing was. `may_read`: looks for
  /// what an earlier run kept.
  [[gnu::cold]] const gpu_ceilings& of(const device_info& d, bool may_read) {
    gpu_ceilings& known = entry_of(d);
    if (may_read && take(d, read_)) {
      const std::string machine = this_gpu(d);
      if (!machine.empty() && !ceilings_cache(machine, "gpu-" + d.uuid).read(known)) known = {};
    }
    return known;
  }
  /// Whether a device did work and nobody has tried to measure it; it counts as tried.
  [[gnu::cold]] bool take_untried(const device_info& d) {
    return d.described && d.sum_ns > 0 && take(d, tried_);
  }
  [[gnu::cold]] void put(const device_info& d, gpu_ceilings measured) {
    entry_of(d) = std::move(measured);
  }

 private:
  static constexpr std::uint32_t most = 64;  // devices: others are not measured

  [[gnu::cold]] static bool take(const device_info& d, std::uint64_t& taken) noexcept {
    const std::uint64_t bit = d.id < most ? std::uint64_t{1} << d.id : 0;
    const bool is_new = (taken | bit) != taken;
    taken |= bit;
    return is_new;
  }
  [[gnu::cold]] gpu_ceilings& entry_of(const device_info& d) {
    const std::uint32_t place = std::min(d.id, most);
    while (measured_.size() <= place) measured_.emplace_back();
    return measured_[place];
  }

  std::vector<gpu_ceilings> measured_;  // by the devices' numbers
  std::uint64_t read_ = 0, tried_ = 0;  // a bit for each
};

}  // namespace detail
KPROF_DETAIL_END

#endif
