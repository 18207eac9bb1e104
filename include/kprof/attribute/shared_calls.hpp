// SPDX-License-Identifier: MIT
#ifndef KPROF_ATTRIBUTE_SHARED_CALLS_HPP
#define KPROF_ATTRIBUTE_SHARED_CALLS_HPP

// What a profile says of the calls that several threads share: how many they are, what they took,
// and which parts do not fit together. Included by build.hpp.

#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>
#include <kprof/record/clock.hpp>
#include <kprof/record/part_calls.hpp>
#include <kprof/record/slow_calls.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// Their times, since the session's start.
template <class Calls>
std::vector<single_call> to_single_calls(const Calls& from, const timebase& time) {
  std::vector<single_call> out;
  std::size_t count = 0;
  from.each([&](const slow_calls::call&) { ++count; });
  out.reserve(count);
  from.each([&](const slow_calls::call& c) {
    out.push_back({static_cast<double>(c.ticks) * time.ns_per_tick(),
                   std::max(0.0, time.since_start_ns(c.end - c.ticks))});
  });
  return out;
}

/// An operator's calls as notes name them: "Gemm(M=64 N=64) at gemm.cpp:12".
inline std::string called_at(const profile& p, const scope_node& n) {
  std::string out = n.name + '(' + parameter_text(p, n) + ')';
  if (!n.file.empty())
    out.append(" at ")
        .append(n.file, n.file.find_last_of('/') + 1)
        .append(":")
        .append(std::to_string(n.line));
  return out;
}

/// Whether the node's scopes are parts of calls that another node counts.
inline bool is_further_part(const scope_node& n) noexcept {
  return n.shared.parts != 0 && n.shared.part != 0;
}

/// The first few of many notes, and how many there are more.
class few_notes {
 public:
  explicit few_notes(std::vector<std::string>& notes) : notes_(notes) {}
  few_notes(const few_notes&) = delete;
  few_notes& operator=(const few_notes&) = delete;

  void add(std::string note) {
    if (++count_ <= most) notes_.push_back(std::move(note));
  }
  /// After the last. `what`: "more operators ..."
  void finish(const char* what) {
    if (count_ > most) notes_.push_back(std::to_string(count_ - most) + ' ' + what);
  }

 private:
  static constexpr std::size_t most = 5;
  std::vector<std::string>& notes_;
  std::size_t count_ = 0;
};

/// Gathers the nodes that are parts of shared calls, and finishes them when all threads are there.
class KPROF_DETAIL_LOCAL shared_calls_of_profile {
 public:
  shared_calls_of_profile(profile& out, const timebase& time) : out_(out), time_(time) {}

  /// The node of this index is complete but for `shared`. `group`: the calls that it is a part of;
  /// nullptr where none has come. `sums`: what its thread's log has of them, or nullptr.
  void add(std::uint32_t site, std::uint32_t index, part_number number, const part_joining* group,
           const shared_sums* sums) {
    scope_node& n = out_.nodes[index];
    n.shared.part = number.part;
    n.shared.parts = std::max(number.parts, 1U);
    if (!is_possible(number)) {
      out_.complete.impossible_parts += n.calls;
      if (n.calls + n.open != 0) impossible_.push_back({index, number});
      return;
    }
    if (sums != nullptr) add_times(n, *sums);
    if (group == nullptr) return;
    const auto [number_of, is_new] = numbers_.try_emplace(group, groups_.size());
    if (is_new) groups_.push_back({group, {}, {}, index, site});
    gathered& g = groups_[number_of->second];
    g.open.resize(std::max<std::size_t>(g.open.size(), number.part + std::size_t{1}));
    g.open[number.part] += n.open;
    if (number.part == 0) g.first_parts.push_back(index);
  }

  /// A node whose parameters were not kept: parts of calls that cannot be joined. Part 0 stands for
  /// the call, with its own time.
  void add_merged(std::uint32_t site, scope_node& n, part_number number) {
    merged_sites_.insert(site);
    if (number.part == 0) return;
    n.shared.part = number.part;
    n.shared.parts = std::max(number.parts, 1U);
  }

  /// After the last node.
  void finish() {
    few_notes notes(out_.notes);
    std::map<std::string, std::vector<std::uint32_t>> parts_of;  // of incomplete calls
    for (const gathered& g : groups_) {
      count_calls(g);
      if (const std::string trouble = trouble_of(g); !trouble.empty()) {
        const std::string name = called_at(out_, out_.nodes[g.first_node]);
        parts_of[name].push_back(g.calls->parts());
        notes.add(name + trouble);
      }
    }
    for (auto& [name, parts] : parts_of)
      if (parts.size() > 1) notes.add(name + disagreement(parts));
    for (const auto& [index, number] : impossible_)
      notes.add(impossible(out_.nodes[index], number));
    notes.finish("more lines like these, on calls whose parts do not fit together");
  }

 private:
  struct gathered {
    const part_joining* calls;
    std::vector<std::uint32_t> first_parts;  // nodes
    std::vector<std::uint64_t> open;         // by part
    std::uint32_t first_node;
    std::uint32_t site;
  };

  void add_times(scope_node& n, const shared_sums& sums) {
    if (sums.calls == 0) return;
    const auto ns = [&](std::uint64_t ticks) {
      return static_cast<double>(ticks) * time_.ns_per_tick();
    };
    n.shared.joined = n.shared.calls = sums.calls;
    n.shared.wall_ns = ns(sums.wall);
    n.shared.elapsed_ns = ns(sums.elapsed);
    n.shared.busy_ns = ns(sums.busy);
    n.shared.longest_ns = ns(sums.longest);
    n.shared.min_ns = ns(sums.min_wall);
    n.shared.max_ns = ns(sums.slowest.longest());
    n.slowest = to_single_calls(sums.slowest, time_);
    n.sampled = to_single_calls(sums.samples, time_);
    n.shared.first_ns = ns(sums.first_wall);
    n.shared.first_end_ns = std::max(0.0, time_.since_start_ns(sums.first_end));
    n.shared.durations = sums.durations;
    out_.complete.imprecise += sums.imprecise;
  }

  /// Calls whose times are not known belong to nodes whose part 0 came more often than it was
  /// joined.
  void count_calls(const gathered& g) {
    // Where some threads could not keep parameters, the parts of a call are not found together, and
    // each part 0 stands for a call.
    const std::vector<std::uint64_t>& counts = g.calls->counts();
    std::uint64_t rest = !merged_sites_.contains(g.site) ? g.calls->complete()
                         : counts.empty()                ? 0
                                                         : counts[0];
    for (const std::uint32_t index : g.first_parts)
      rest -= std::min(rest, out_.nodes[index].shared.joined);
    out_.complete.unjoined_calls += rest;
    for (const std::uint32_t index : g.first_parts) {
      scope_node& n = out_.nodes[index];
      const std::uint64_t here = std::min(rest, n.calls - std::min(n.calls, n.shared.joined));
      n.shared.calls += here;
      rest -= here;
      if (!n.work.valid) out_.complete.invalid += n.shared.calls;
    }
  }

  /// What does not fit together; empty where all does, or may yet.
  std::string trouble_of(const gathered& g) {
    if (merged_sites_.contains(g.site)) return {};
    const part_joining& group = *g.calls;
    const std::vector<std::uint64_t>& counts = group.counts();
    const auto finished = [&](std::size_t i) { return i < counts.size() ? counts[i] : 0; };
    std::size_t most = 0, least = 0;
    std::uint64_t reached = ~std::uint64_t{0};  // calls of which all parts have begun
    for (std::size_t i = 0; i < group.parts(); ++i) {
      if (finished(i) > finished(most)) most = i;
      if (finished(i) < finished(least)) least = i;
      reached = std::min(reached, finished(i) + (i < g.open.size() ? g.open[i] : 0));
    }
    if (reached >= finished(most)) return {};
    const std::uint64_t incomplete = finished(most) - reached;
    out_.complete.incomplete_calls += incomplete;
    return ", in " + std::to_string(group.parts()) + " parts: part " + std::to_string(most) +
           " came " + std::to_string(finished(most)) + " times and part " + std::to_string(least) +
           ' ' + std::to_string(finished(least)) + " times, so " + std::to_string(incomplete) +
           (incomplete == 1 ? " call has" : " calls have") +
           " not all parts and count as none; a thread passed no KPROF_PART, or two passed it "
           "with the same `part`. Times of calls after the first such one are not reliable";
  }

  static std::string disagreement(std::vector<std::uint32_t>& parts) {
    std::sort(parts.begin(), parts.end());
    std::string text;
    for (const std::uint32_t n : parts)
      text.append(text.empty() ? "" : ", ").append(std::to_string(n));
    return ": threads gave different numbers of parts (" + text +
           "); parts of one call must have the same `parts`";
  }

  std::string impossible(const scope_node& n, part_number number) const {
    const std::string what = called_at(out_, n) + ": " + std::to_string(n.calls + n.open) +
                             " parts have the number " + std::to_string(number.part) + " of " +
                             std::to_string(number.parts) + " and belong to no call; ";
    return what + (number.part < number.parts ? "a call has 65536 parts at the most"
                                              : "`part` goes from 0 to `parts` - 1");
  }

  profile& out_;
  const timebase& time_;
  std::vector<gathered> groups_;
  std::set<std::uint32_t> merged_sites_;  // whose calls' parameters were not all kept
  std::unordered_map<const part_joining*, std::size_t> numbers_;   // of groups
  std::vector<std::pair<std::uint32_t, part_number>> impossible_;  // nodes
};

}  // namespace detail
KPROF_DETAIL_END

#endif
