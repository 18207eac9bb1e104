// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_PROJECTION_HPP
#define KPROF_MODEL_PROJECTION_HPP

// What a run's calls would take on another machine if each kept its share of the roof. Included by
// summary.hpp. Pure.

#include <kprof/build_options.hpp>
#include <kprof/model/device_sums.hpp>
#include <kprof/model/figure.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/model/operator_row.hpp>
#include <kprof/model/roof_of_call.hpp>
#include <kprof/model/roofline.hpp>
#include <kprof/profile.hpp>
#include <kprof/profile/ceilings.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

KPROF_DETAIL_BEGIN

/// A machine that rows are projected on: processors, a GPU, or both.
struct other_machine {
  std::string name;
  cpu_ceilings cpu;            ///< no rates: only the GPU is known
  gpu_ceilings gpu;            ///< no rates: only the processors are known
  std::uint64_t l2_bytes = 0;  ///< of the GPU; 0: not known

  bool has_cpu() const noexcept { return !cpu.arithmetic.empty() || !cpu.memory.empty(); }
  bool has_gpu() const noexcept { return !gpu.arithmetic.empty() || gpu.memory_bytes > 0; }
};

namespace detail {

/// Calls of a row, with their time here and there.
struct projected_sum {
  double of_ns = 0, ns = 0;
  absence why = absence::none;  // of calls that are in neither

  void add(double time_ns, const figure& factor) noexcept {
    why = std::max(why, factor.why);
    if (!factor.known()) return;
    of_ns += time_ns;
    ns += time_ns * factor.value;
  }
  /// A row of one operator is known as a whole; one of several as far as it is.
  void finish(operator_row& row) const noexcept {
    row.projected_of_ns = of_ns;
    row.projected_ns = {ns, of_ns > 0 && row.operators > 1 ? absence::none
                            : why != absence::none         ? why
                            : of_ns > 0                    ? absence::none
                                                           : absence::no_time};
    if (row.operators == 1 && !row.verdict.roof.known())
      row.projected_ns = {0, row.verdict.roof.why};
  }
};

/// What a call of a node takes on another machine, over what it takes here.
class projection {
 public:
  [[gnu::cold]] projection(const profile& p, const roofline& roofs, const other_machine& to)
      : p_(p), roofs_(roofs), to_(to), moves_to_gpu_(!to.has_cpu() && !has_device_work(p)) {}

  /// The ratio of the least times. What comes from a cache here does so there, where it fits one.
  [[gnu::cold]] figure factor(std::size_t node) const {
    const scope_node& n = p_.nodes[node];
    const call_roof& here = roofs_.of(node);
    if (here.why != absence::none) return {0, here.why};
    if (here.is_impossible) return {0, absence::impossible};
    // A cache is looked for where memory takes longer than the call.
    const double call_ns = here.from_cache ? 0 : HUGE_VAL;
    const bool on_device = here.threads <= 0;
    call_roof there;
    if (on_device || moves_to_gpu_) {
      if (here.from_cache && to_.l2_bytes == 0) return {0, absence::other_ceiling};
      there = roof_on_gpu(n, to_.gpu, to_.l2_bytes, here.tensor_cores, call_ns);
    } else {
      const double all = std::max(1.0, static_cast<double>(p_.machine.cpu.threads)),
                   all_there = to_.cpu.threads > 0 ? to_.cpu.threads : all;
      const bool on_all = here.threads > 1 && here.threads >= all;
      there = roof_on_cpu(n, to_.cpu, on_all ? all_there : std::min(here.threads, all_there),
                          {call_ns, call_ns});
    }
    if (there.why != absence::none) return {0, absence::other_ceiling};
    return ratio({there.ideal_ns()}, here.ideal_ns(), absence::no_time);
  }

 private:
  const profile& p_;
  const roofline& roofs_;
  const other_machine& to_;
  bool moves_to_gpu_;  // all of the run was on the host, and the machine is a GPU
};

}  // namespace detail
KPROF_DETAIL_END

#endif
