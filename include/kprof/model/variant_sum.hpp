// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_VARIANT_SUM_HPP
#define KPROF_MODEL_VARIANT_SUM_HPP

// What the formulas say of one set of parameters of a row. Included by row_sum.hpp. Pure.

#include <kprof/build_options.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/model/roofline.hpp>
#include <kprof/profile.hpp>

#include <algorithm>
#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail {

/// What of a call counts in its row, since no call around it covers it.
struct counted_call {
  bool time = true, flops = true, bytes = true;
};

/// What the formulas say of a set of parameters, by whether the calls have work on the device.
struct variant_sum {
  double flops = 0, bytes = 0, calls = 0;
  double idle_flops = 0, idle_bytes = 0, idle_calls = 0;  // of calls that launched nothing
  row_roofs roof, launched_roof;  // of all calls that did work, and of those that launched it
  bool on_device = false;
  // other threads launched for it, and for which of its calls is not known
  bool handed_over = false;
  std::uint32_t row = scope_node::none;

  void add(const scope_node& n, const counted_call& counted, const call_roof& of_call) noexcept {
    // Which parts launched for which call is not known.
    const double idle = is_part(n) ? 0 : static_cast<double>(std::min(n.unlaunched, n.calls));
    if (counted.time) {
      calls += static_cast<double>(executions(n));
      idle_calls += idle;
    }
    if (says_flops(n) ? counted.flops : counted.bytes) {
      // A call that captured is none of them: what the host reaches says nothing of its work.
      const double done = static_cast<double>(executions(n)), launched = done - idle;
      if (done > 0) roof.add(of_call, done);
      if (launched > 0) launched_roof.add(of_call, launched);
    }
    if (counted.flops && says_flops(n)) {
      flops += all_flops(n);
      idle_flops += idle * static_cast<double>(n.work.flops);
    }
    if (counted.bytes && says_bytes(n)) {
      bytes += all_bytes(n);
      idle_bytes += idle * (static_cast<double>(n.work.bytes_read) +
                            static_cast<double>(n.work.bytes_written));
    }
  }
};

}  // namespace detail
KPROF_DETAIL_END

#endif
