// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TRACE_TRACE_CURVES_HPP
#define KPROF_REPORT_TRACE_TRACE_CURVES_HPP

// The curves of a trace: FLOP/s and bytes/s of the host and of each device by the formulas, and how
// many launches wait. Included by trace.hpp.

#include <kprof/build_options.hpp>
#include <kprof/report/trace/counters.hpp>
#include <kprof/report/trace/node_facts.hpp>
#include <kprof/report/trace/places.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// A point of a curve of the process `pid`: the curve is called "CPU GFLOP/s" for the name CPU and
/// the unit GFLOP/s.
struct curve_point {
  std::uint32_t pid;
  std::string_view name;
  std::string_view unit;
  std::int64_t at;
  double value;
  bool is_whole;
};

class trace_curves {
 public:
  trace_curves(const std::vector<std::uint32_t>& devices, std::int64_t begin, std::int64_t end)
      : grid_(begin, end), host_(grid_) {
    for (const std::uint32_t device : devices)
      devices_.push_back({device, rates(grid_), level_curve(grid_)});
  }
  trace_curves(const trace_curves&) = delete;
  trace_curves& operator=(const trace_curves&) = delete;

  void add_host(std::int64_t begin, std::int64_t end, const slice_work& work) noexcept {
    host_.add(begin, end, work, 1);
  }
  void add_device(std::uint32_t device, std::int64_t begin, std::int64_t end,
                  const slice_work& per_ns) noexcept {
    of(device).work.add(begin, end, per_ns, static_cast<double>(end - begin));
  }
  /// In the order of time.
  void add_queued(std::uint32_t device, std::int64_t at, std::int64_t by) noexcept {
    of(device).queued.change(at, by);
  }

  /// Calls use(curve_point) for each point where a curve changes.
  template <class Use>
  void each_point(const trace_places& places, const Use& use) const {
    each_rate(places.pid(), "CPU", host_, use);
    for (const one_device& d : devices_) {
      const std::uint32_t pid = places.pid_of_device(d.device);
      const std::string name = "GPU " + std::to_string(d.device);
      each_rate(pid, name, d.work, use);
      std::int64_t before = -1;
      for (std::size_t i = 0; d.queued.any() && i < grid_.pieces(); ++i) {
        const std::int64_t most = d.queued.most(i);
        if (std::exchange(before, most) != most)
          use(curve_point{pid, name, "queued", grid_.begin_of(i), static_cast<double>(most), true});
      }
    }
  }

 private:
  struct rates {
    explicit rates(const time_grid& grid) : flops(grid), bytes(grid) {}
    void add(std::int64_t begin, std::int64_t end, const slice_work& work, double times) noexcept {
      flops.add(begin, end, work.flops * times);
      bytes.add(begin, end, work.bytes * times);
    }
    work_curve flops, bytes;
  };
  struct one_device {
    std::uint32_t device;
    rates work;
    level_curve queued;
  };

  one_device& of(std::uint32_t device) noexcept {
    std::size_t at = 0;
    while (devices_[at].device != device) ++at;
    return devices_[at];
  }

  template <class Use>
  void each_rate(std::uint32_t pid, std::string_view name, const rates& of, const Use& use) const {
    each_rate(pid, name, "GFLOP/s", of.flops, use);
    each_rate(pid, name, "GB/s", of.bytes, use);
  }
  template <class Use>
  void each_rate(std::uint32_t pid, std::string_view name, std::string_view unit,
                 const work_curve& of, const Use& use) const {
    double before = -1;
    for (std::size_t i = 0; of.any() && i < grid_.pieces(); ++i) {
      const double rate = of.giga_per_s(i);
      if (std::exchange(before, rate) != rate)
        use(curve_point{pid, name, unit, grid_.begin_of(i), rate, false});
    }
  }

  time_grid grid_;
  rates host_;
  std::vector<one_device> devices_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
