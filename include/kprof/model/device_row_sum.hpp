// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_DEVICE_ROW_SUM_HPP
#define KPROF_MODEL_DEVICE_ROW_SUM_HPP

// What the device did for a row of the operator table. Included by summary.hpp. Pure.

#include <kprof/build_options.hpp>
#include <kprof/model/device_sums.hpp>
#include <kprof/model/figure.hpp>
#include <kprof/model/operator_row.hpp>
#include <kprof/model/roofline.hpp>
#include <kprof/model/variant_sum.hpp>
#include <kprof/model/verdict.hpp>
#include <kprof/profile.hpp>

#include <algorithm>
#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail {

/// Whether the device that worked most had nothing to do for most of the run.
inline bool devices_wait(const profile& p) noexcept {
  double busy_ns = 0;
  for (const device_info& d : p.device.devices) busy_ns = std::max(busy_ns, d.busy_ns);
  return busy_ns < 0.5 * (p.wall_ns - p.paused_ns);
}

/// The host's time in the row's calls, with the first as long as most: it loads and makes what
/// later ones have.
inline double host_ns_of_later_calls(const operator_row& row) noexcept {
  const double more = row.first_ns.known() && row.median_ns.known()
                          ? std::max(0.0, row.first_ns.value - row.median_ns.value)
                          : 0.0;
  return std::max(0.0, row.total_ns - more);
}

/// What the device did for one row.
struct device_row_sum {
  device_sum own, total;                   // without and with nested operators
  double flops = 0, bytes = 0, calls = 0;  // of calls with work on the device
  row_roofs roof;
  // Of calls above the roof; the time is of `total`.
  double impossible_ns = 0, impossible_flops = 0, impossible_bytes = 0;
  std::uint32_t active = 0;  // nodes of this row that the walk is in

  void add(const variant_sum& v) noexcept {
    if (!v.on_device) return;
    const double its_flops = v.handed_over ? v.flops : v.flops - v.idle_flops,
                 its_bytes = v.handed_over ? v.bytes : v.bytes - v.idle_bytes;
    const row_roofs& its_roof = v.handed_over ? v.roof : v.launched_roof;
    flops += its_flops;
    bytes += its_bytes;
    calls += v.handed_over ? v.calls : v.calls - v.idle_calls;
    roof.add(its_roof);
    if (its_roof.impossible.known > 0 && its_roof.possible.known <= 0) {
      impossible_flops += its_flops;
      impossible_bytes += its_bytes;
    }
  }
  void finish(operator_row& row, double all_device_ns, const profile& p) const {
    row.on_device = total.runs() > 0;
    row.kernels = own.kernels;
    row.copies = own.copies;
    row.device_ns = own.ns;
    row.device_total_ns = total.ns;
    row.device_share = share_of(own.ns, all_device_ns);
    row.gap_ns = ratio({own.gap_ns}, static_cast<double>(own.gaps), absence::no_launch);
    if (!row.on_device && total.unrecorded == 0) return;
    const absence timed =
        std::max({device_time_known(total), records_known(p, total), calls_known(total),
                  calls > 0 ? absence::none : absence::no_calls});
    row.device_mean_ns = ratio({total.ns, timed}, calls, absence::no_calls);
    const row_roofs::judged judged = roof.by(row.operators, total.ns, impossible_ns);
    row.flops_per_s = judged.rate(flops, impossible_flops, std::max(row.flops.why, timed));
    row.bytes_per_s = judged.rate(bytes, impossible_bytes, std::max(row.bytes.why, timed));
    verdict_facts facts;
    facts.time_ns = judged.time_ns;
    facts.timed = timed;
    const double short_ns = 5000 * static_cast<double>(total.runs());
    facts.is_short =
        total.ns < short_ns || (total.ns < 0.2 * host_ns_of_later_calls(row) && devices_wait(p));
    facts.small_grids = total.small_grid_ns > 0.5 * total.ns;
    row.verdict = judge(judged.roofs, facts);
  }
};

}  // namespace detail
KPROF_DETAIL_END

#endif
