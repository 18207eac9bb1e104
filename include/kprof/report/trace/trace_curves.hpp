// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TRACE_TRACE_CURVES_HPP
#define KPROF_REPORT_TRACE_TRACE_CURVES_HPP

// The curves of a trace: FLOP/s and bytes/s of the host and of each device by the formulas, and how
// many launches wait. Included by trace.hpp.

#include <kprof/build_options.hpp>
#include <kprof/report/output.hpp>
#include <kprof/report/trace/counters.hpp>
#include <kprof/report/trace/json_text.hpp>
#include <kprof/report/trace/node_facts.hpp>
#include <kprof/report/trace/places.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

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

  void put(const trace_places& places, std::int64_t origin, text_sink& out) {
    origin_ = origin;
    put_rates(places.pid(), "CPU", host_, out);
    for (const one_device& d : devices_) {
      const std::uint32_t pid = places.pid_of_device(d.device);
      const std::string name = "GPU " + std::to_string(d.device);
      put_rates(pid, name, d.work, out);
      std::int64_t before = -1;
      for (std::size_t i = 0; d.queued.any() && i < grid_.pieces(); ++i) {
        const std::int64_t most = d.queued.most(i);
        if (most == before) continue;
        before = most;
        std::string line;
        begin_event(line, name, pid, grid_.begin_of(i));
        json_members(line).integer("queued", static_cast<std::uint64_t>(most));
        out.put(line + "}},\n");
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

  void begin_event(std::string& line, std::string_view name, std::uint32_t pid,
                   std::int64_t at) const {
    line += R"({"ph":"C","name":")";
    line += name;
    line += R"(","pid":)";
    append_integer(line, pid);
    line += ",\"ts\":";
    append_us(line, at - origin_);
    line += ",\"args\":{";
  }
  void put_rates(std::uint32_t pid, std::string_view name, const rates& of, text_sink& out) const {
    put_rate(pid, name, "GFLOP/s", of.flops, out);
    put_rate(pid, name, "GB/s", of.bytes, out);
  }
  /// Points where the curve changes.
  void put_rate(std::uint32_t pid, std::string_view name, std::string_view unit,
                const work_curve& of, text_sink& out) const {
    double before = -1;
    for (std::size_t i = 0; of.any() && i < grid_.pieces(); ++i) {
      const double rate = of.giga_per_s(i);
      if (rate == before) continue;
      before = rate;
      std::string line;
      begin_event(line, name, pid, grid_.begin_of(i));
      json_members(line).rounded(unit, rate);
      out.put(line + "}},\n");
    }
  }

  std::int64_t origin_ = 0;
  time_grid grid_;
  rates host_;
  std::vector<one_device> devices_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
