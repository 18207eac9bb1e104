// SPDX-License-Identifier: MIT
#ifndef KPROF_ATTRIBUTE_UNSHARED_CALLS_HPP
#define KPROF_ATTRIBUTE_UNSHARED_CALLS_HPP

// Finds operators whose guards look as if several threads shared each call, and each thread counted
// it: the same call site with the same parameters, equally often on several threads, at the same
// times. That may be right, in a program whose threads do equal work on different data. Included by
// build.hpp.

#include <kprof/attribute/shared_calls.hpp>
#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>
#include <kprof/record/thread_log.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// When the latest calls of one thread began and ended, in ticks; the latest is the last.
struct call_times {
  static constexpr std::size_t most = 64;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> all;

  void add(std::uint64_t begin, std::uint64_t end) {
    if (all.size() == most) all.erase(all.begin());
    all.emplace_back(begin, end);
  }
  /// Whether the calls of two threads ran at the same times: the latest with the latest, and so on,
  /// and for at least half of the time that the shorter one of each two took.
  bool coincide_with(const call_times& other) const noexcept {
    const std::size_t both = std::min(all.size(), other.all.size());
    std::uint64_t together = 0, shorter = 0;
    for (std::size_t i = 1; i <= both; ++i) {
      const auto& [begin, end] = all[all.size() - i];
      const auto& [other_begin, other_end] = other.all[other.all.size() - i];
      const std::uint64_t from = std::max(begin, other_begin), to = std::min(end, other_end);
      together += to > from ? to - from : 0;
      shorter += std::min(end > begin ? end - begin : 0,
                          other_end > other_begin ? other_end - other_begin : 0);
    }
    return shorter != 0 && together >= shorter - shorter / 2;
  }
};

class KPROF_DETAIL_LOCAL unshared_calls {
 public:
  /// Fewer calls are no pattern.
  static constexpr std::uint64_t fewest_calls = 8;

  /// A thread's nodes; `base`: index in the profile of the first. Its log is locked.
  void count(const thread_log& log, const site_table& sites, std::uint32_t base) {
    if (log.counts.merged_threads != 0) return;
    each_call_node(log, sites, [&](std::uint32_t node, const tree_node& n) {
      std::vector<thread_calls>& threads = threads_of_[key_of(log, n)];
      if (threads.empty() || threads.back().log != log.number)
        threads.push_back({log.number, base + node, 0, {}});
      threads.back().calls += n.calls;
    });
  }

  /// Whether there are operators whose times are worth a look, after the last count().
  bool has_candidates() {
    for (auto at = threads_of_.begin(); at != threads_of_.end();) {
      if (keep_equal(at->second)) ++at;
      else at = threads_of_.erase(at);
    }
    return !threads_of_.empty();
  }
  /// Looks when the candidates' latest calls ran on a thread. Its log is locked.
  void look_at(const thread_log& log, const site_table& sites) {
    std::vector<call_times*> times(log.tree.nodes().size(), nullptr);
    bool any = false;
    each_call_node(log, sites, [&](std::uint32_t node, const tree_node& n) {
      const auto known = threads_of_.find(key_of(log, n));
      if (known == threads_of_.end()) return;
      for (thread_calls& t : known->second)
        if (t.log == log.number) times[node] = &t.times, any = true;
    });
    if (!any) return;
    log.visit_timeline(
        [&](std::uint32_t node, std::uint64_t begin, std::uint64_t end) {
          if (times[node] != nullptr) times[node]->add(begin, end);
        },
        latest_chunks);
  }
  [[gnu::cold]] void tell(profile& out) const {
    std::vector<std::pair<std::uint32_t, std::string>> found;  // in the order of nodes
    for (const auto& calls : threads_of_) {
      const thread_calls& first = calls.second.front();
      const auto at_once =
          std::count_if(calls.second.begin(), calls.second.end(), [&](const thread_calls& t) {
            return &t == &first || t.times.coincide_with(first.times);
          });
      if (at_once > 1)
        found.emplace_back(first.node,
                           called_at(out, out.nodes[first.node]) + " ran on " +
                               std::to_string(at_once) + " threads at once, " +
                               std::to_string(first.calls) +
                               " times on each: if they share each call, use KPROF_PART, or its "
                               "FLOPs and bytes count once a thread");
    }
    std::sort(found.begin(), found.end());
    few_notes notes(out.notes);
    for (auto& [node, text] : found) notes.add(std::move(text));
    notes.finish("more operators ran on several threads at once in the same way");
  }

 private:
  static constexpr std::size_t latest_chunks = 16;

  struct thread_calls {
    std::uint32_t log;   // its number
    std::uint32_t node;  // index in the profile of the first
    std::uint64_t calls;
    call_times times;
  };

  template <class Visit>
  static void each_call_node(const thread_log& log, const site_table& sites, Visit visit) {
    for (std::uint32_t i = 1; i < log.tree.nodes().size(); ++i) {
      const tree_node& n = log.tree.nodes()[i];
      if (!n.merged && !n.is_part && n.calls != 0 && sites[n.site].op != nullptr) visit(i, n);
    }
  }
  /// A hash: two that are the same by chance cost a wrong note.
  static std::uint64_t key_of(const thread_log& log, const tree_node& n) noexcept {
    const payload p = log.tree.payload_of(n);
    const std::uint64_t hash = std::hash<std::string_view>{}({p.bytes, p.size});
    return (hash ^ n.site) * 0x9E3779B97F4A7C15U;
  }

  /// Keeps the threads with the most frequent number of calls; false where that is only one.
  static bool keep_equal(std::vector<thread_calls>& threads) {
    if (threads.size() == 1) return false;
    std::vector<std::uint64_t> counts;
    for (const thread_calls& t : threads) counts.push_back(t.calls);
    std::sort(counts.begin(), counts.end());
    std::uint64_t calls = 0;
    std::size_t most = 1, equal = 1;
    for (std::size_t i = 1; i < counts.size(); ++i) {
      equal = counts[i] == counts[i - 1] ? equal + 1 : 1;
      if (equal > most) most = equal, calls = counts[i];
    }
    if (calls < fewest_calls) return false;
    threads.erase(std::remove_if(threads.begin(), threads.end(),
                                 [&](const thread_calls& t) { return t.calls != calls; }),
                  threads.end());
    return true;
  }

  std::unordered_map<std::uint64_t, std::vector<thread_calls>> threads_of_;  // by key_of
};

}  // namespace detail
KPROF_DETAIL_END

#endif
