// SPDX-License-Identifier: MIT
#ifndef KPROF_COLLECT_CUPTI_FAILURES_HPP
#define KPROF_COLLECT_CUPTI_FAILURES_HPP

// Calls of CUPTI without which kprof goes on when they fail, and what a report then has to say.

#include <kprof/build_options.hpp>
#include <kprof/collect/cupti_abi.hpp>
#include <kprof/collect/cupti_refusal.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail::cupti {

enum class failing : std::uint8_t { callbacks, graph_nodes, time, dropped_records, the_end };

/// The first error of each. Any thread may note one.
class failures {
 public:
  void note(failing what, result r) noexcept {
    result none = success;
    if (r != success) first_[static_cast<std::size_t>(what)].compare_exchange_strong(none, r);
  }
  /// A subscription has ended after all.
  void forget(failing what) noexcept { first_[static_cast<std::size_t>(what)] = success; }

  /// A line for each that failed.
  [[gnu::cold]] std::vector<std::string> notes(const functions& f) const {
    // In the order of the enumerators.
    static constexpr struct {
      const char *begin, *end;
    } texts[kinds] = {
        {"CUPTI refuses to tell of some CUDA calls",
         ": what they launch is of unknown launch, and work of graphs may stand under another "
         "scope"},
        {"CUPTI did not say which nodes of graphs were made or updated",
         ": their work may stand under the scope that launched the graph, or of an earlier "
         "capture, and rates of captured operators may be wrong"},
        {"CUPTI does not tell the time",
         ": where its clock is not the time of day, as on WSL, times between launches and their "
         "work are wrong"},
        {"CUPTI does not say how many records it has dropped",
         ": device times and counts may be too low"},
        {"CUPTI did not end kprof's subscription",
         ": other tools cannot use CUPTI until the process ends"}};
    std::vector<std::string> out;
    for (std::size_t i = 0; i < kinds; ++i)
      if (const result r = first_[i]; r != success)
        out.push_back(std::string{texts[i].begin} + " (" + name_of(r, f) + ')' + texts[i].end);
    return out;
  }

 private:
  static constexpr std::size_t kinds = 5;
  std::atomic<result> first_[kinds] = {};
};

}  // namespace detail::cupti
KPROF_DETAIL_END

#endif
