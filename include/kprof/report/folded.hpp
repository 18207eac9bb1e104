// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_FOLDED_HPP
#define KPROF_REPORT_FOLDED_HPP

// The output "folded": the call tree as Brendan Gregg's collapsed stacks, for flamegraph.pl,
// speedscope and inferno (docs/files.md). Including it makes KPROF="folded(path=run.folded)" and
// kprof::write(profile, "folded", ...) known in this binary.
//
// A line is a path and its own value, "layer;Gemm(M=64 N=64);gemm_kernel 1200"; a `;` in a name
// becomes a comma. Paths are in the order of the call tree, each once: those of several threads are
// summed, unless `threads` tells them apart.

#include <kprof/build_options.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/option.hpp>
#include <kprof/report/output.hpp>
#include <kprof/report/output/gzip_sink.hpp>
#include <kprof/report/stacks/frame_names.hpp>
#include <kprof/report/stacks/node_costs.hpp>
#include <kprof/status.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

enum class folded_value : std::uint8_t { time, device, flops, bytes };

struct folded_options {
  folded_value value = folded_value::time;
  bool parameters = true;
  bool threads = false;
};

inline constexpr option folded_option_table[] = {
    {.name = "value",
     .kind = option_kind::choice,
     .form = "time|device|flops|bytes",
     .fallback = "time",
     .meaning =
         "what a line counts: nanoseconds of the host, nanoseconds of the devices with their "
         "kernels as frames, or work by the formulas",
     .store = &store_member<&folded_options::value>},
    {.name = "parameters",
     .kind = option_kind::flag,
     .fallback = "on",
     .meaning = "operators are told apart by their parameters",
     .store = &store_member<&folded_options::parameters>},
    {.name = "threads",
     .kind = option_kind::flag,
     .fallback = "off",
     .meaning = "the first frame is the thread",
     .store = &store_member<&folded_options::threads>},
};

class folded_writer {
 public:
  folded_writer(const profile& p, const folded_options& options)
      : p_(p), options_(options), costs_(p), frames_(p), works_(p.nodes.size()) {
    for (std::uint32_t i = 0; i < p.device.work.size(); ++i)
      if (p.device.work[i].scope < p.nodes.size()) works_[p.device.work[i].scope].push_back(i);
  }

  void put(text_sink& out) {
    walk(
        p_, [&](std::uint32_t node) { enter(node); },
        [&](std::uint32_t) {
          stack_.resize(sizes_.back());
          sizes_.pop_back();
        });
    if (options_.value == folded_value::device) add_unknown_launches();
    for (const auto& [stack, value] : lines_) out.put(stack + ' ' + std::to_string(value) + '\n');
  }

 private:
  void add_unknown_launches() {
    for (const device_work& w : p_.device.work) {
      if (w.scope < p_.nodes.size()) continue;
      stack_ = "(launch not known)";
      push(frames_.name(w));
      add(whole_cost(w.total_ns));
    }
  }
  void enter(std::uint32_t node) {
    sizes_.push_back(stack_.size());
    if (p_.nodes[node].kind != scope_kind::root || options_.threads)
      push(frame_name(p_, node, options_.parameters));
    if (options_.value != folded_value::device) {
      add(value_of(costs_.own(node)));
      return;
    }
    for (const std::uint32_t work : works_[node]) {
      const std::size_t size = stack_.size();
      push(frames_.name(p_.device.work[work]));
      add(whole_cost(p_.device.work[work].total_ns));
      stack_.resize(size);
    }
  }
  void push(std::string frame) {
    std::replace(frame.begin(), frame.end(), ';', ',');
    if (!stack_.empty()) stack_ += ';';
    stack_ += frame;
  }
  void add(std::uint64_t value) {
    if (value == 0 || stack_.empty()) return;
    const std::uint32_t number =
        numbers_.of(std::hash<std::string>{}(stack_),
                    [&](std::uint32_t i) { return lines_[i].first == stack_; });
    if (number == lines_.size()) lines_.emplace_back(stack_, 0);
    lines_[number].second += value;
  }
  std::uint64_t value_of(const node_cost& cost) const noexcept {
    switch (options_.value) {
      case folded_value::flops: return cost.flops;
      case folded_value::bytes: return cost.bytes;
      default: return cost.ns;
    }
  }

  const profile& p_;
  const folded_options& options_;
  node_costs costs_;
  work_frames frames_;
  std::vector<std::vector<std::uint32_t>> works_;  // by node
  std::string stack_;
  std::vector<std::size_t> sizes_;  // of the stacks around
  numbering numbers_{64};
  std::vector<std::pair<std::string, std::uint64_t>> lines_;
};

KPROF_DETAIL_LOCAL inline status write_folded(const profile& run, const option_values& values,
                                              text_sink& out) {
  folded_options options;
  values.store_into(options);
  return put_packed_by_name(values.text("path"), out,
                            [&](text_sink& sink) { folded_writer(run, options).put(sink); });
}

inline constexpr output folded_output{"folded",
                                      "the call tree as collapsed stacks, for flame graphs",
                                      folded_option_table, &write_folded};
KPROF_DETAIL_LOCAL
[[gnu::init_priority(101)]] inline const output_registration folded_registered{folded_output};

}  // namespace detail
KPROF_DETAIL_END

#endif
