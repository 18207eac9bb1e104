// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_FOLDED_HPP
#define KPROF_REPORT_FOLDED_HPP

// The output "folded": the call tree as Brendan Gregg's collapsed stacks, for flamegraph.pl,
// speedscope and inferno (docs/files.md). Including it makes KPROF="folded(path=run.folded)" and
// kprof::write(profile, "folded", ...) known in this binary.
//
// A line is a path and its own value, "layer;Gemm(M=64 N=64);gemm_kernel 1200"; a `;` in a name
// becomes a comma. Paths are in the order of the call tree, each once: those of several threads are
// summed, unless `threads` tells them apart. Of very deep stacks the middle is left out.

#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/option.hpp>
#include <kprof/report/output.hpp>
#include <kprof/report/output/gzip_sink.hpp>
#include <kprof/report/stacks/deep_stacks.hpp>
#include <kprof/report/stacks/merged_tree.hpp>
#include <kprof/report/stacks/node_costs.hpp>
#include <kprof/status.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
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
      : options_(options),
        tree_(p, {.parameters = options.parameters,
                  .threads = options.threads,
                  .work = options.value == folded_value::device,
                  .append_name = &append_frame}) {}

  void put(text_sink& out) {
    tree_.walk([&](std::uint32_t node, bool) { enter(node, out); },
               [&](std::uint32_t node) { leave(node); });
  }

 private:
  static void append_frame(std::string& to, std::string_view name) {
    const std::size_t before = to.size();
    to += name;
    std::replace(to.begin() + static_cast<std::ptrdiff_t>(before), to.end(), ';', ',');
  }

  void enter(std::uint32_t node, text_sink& out) {
    if (node == 0) return;  // it stands for all threads
    path_.push_back(node);
    sizes_.push_back(stack_.size());
    if (path_.size() <= most_frames) push(stack_, node);
    const std::uint64_t value = value_of(tree_.nodes()[node].own);
    if (value == 0) return;
    out.put(path_.size() <= most_frames ? stack_ : cut_stack());
    out.put(' ' + std::to_string(value) + '\n');
  }
  void leave(std::uint32_t node) {
    if (node == 0) return;
    stack_.resize(sizes_.back());
    sizes_.pop_back();
    path_.pop_back();
  }
  void push(std::string& stack, std::uint32_t node) const {
    if (!stack.empty()) stack += ';';
    stack += tree_.nodes()[node].name;
  }
  std::string cut_stack() const {
    std::string out = stack_.substr(0, sizes_[frames_at_an_end]);
    out += ';';
    out += left_out_frame(path_.size());
    for (std::size_t i = path_.size() - frames_at_an_end; i < path_.size(); ++i)
      push(out, path_[i]);
    return out;
  }
  std::uint64_t value_of(const node_cost& cost) const noexcept {
    switch (options_.value) {
      case folded_value::device: return cost.device_ns;
      case folded_value::flops: return cost.flops;
      case folded_value::bytes: return cost.bytes;
      default: return cost.ns;
    }
  }

  const folded_options& options_;
  merged_tree tree_;
  std::vector<std::uint32_t> path_;  // nodes, from the outermost one
  std::string stack_;                // their names, of `most_frames` at the most
  std::vector<std::size_t> sizes_;   // of the stacks around
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
