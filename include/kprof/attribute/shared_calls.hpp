// SPDX-License-Identifier: MIT
#ifndef KPROF_ATTRIBUTE_SHARED_CALLS_HPP
#define KPROF_ATTRIBUTE_SHARED_CALLS_HPP

// What a profile says of the calls that several threads share: how many they are, what they took,
// and which parts do not fit together. Included by build.hpp.

#include <kprof/attribute/part_notes.hpp>
#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>
#include <kprof/record/clock.hpp>
#include <kprof/record/part_groups.hpp>
#include <kprof/record/part_payload.hpp>
#include <kprof/record/slow_calls.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
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

/// Gathers the nodes that are parts of shared calls, and finishes them when all threads are there.
class KPROF_DETAIL_LOCAL shared_calls_of_profile {
 public:
  shared_calls_of_profile(profile& out, const timebase& time, const part_groups& groups)
      : out_(out), time_(time), known_(groups) {}

  /// The node of this index is complete but for `shared`. `group`: the calls that it is a part of;
  /// nullptr where none has come. `sums`: what its thread's log has of them, or nullptr.
  void add(std::uint32_t index, part_number number, const part_group* group,
           const shared_sums* sums) {
    scope_node& n = out_.nodes[index];
    if (!add_part(index, number, sums) || group == nullptr) return;
    gathered& g = of(*group);
    if (g.first_node == scope_node::none) g.first_node = index;
    add_open(g, number.part, n.open);
    if (number.part == 0) g.first_parts.push_back(index);
  }

  /// The same of a node whose parameters were not kept: of parts of several groups.
  void add_merged(std::uint32_t site, std::uint32_t index, part_number number,
                  const shared_sums* sums) {
    if (!add_part(index, number, sums)) return;
    merged_site& m = merged_sites_[{site, number.parts}];
    m.first_node = std::min(m.first_node, index);
    if (number.part == 0) m.first_parts.push_back(index);
  }
  /// A part without parameters is open. `key`: its call_key().
  void add_open_merged(std::uint64_t key, part_number number) {
    if (const part_group* const group = known_.find(key); group != nullptr && is_possible(number))
      add_open(of(*group), number.part, 1);
  }

  /// After the last node, in the same turn of the list of threads: until that ends, no group that a
  /// node was added with is forgotten. Returns notes for the profile.
  [[gnu::cold]] std::vector<std::string> finish() {
    std::vector<std::string> told;
    few_notes notes(told);
    std::map<std::string, std::vector<std::uint32_t>> parts_of;  // of incomplete calls
    known_.each([this](const part_group& g) { static_cast<void>(of(g)); });
    for (const gathered& g : groups_) {
      const std::uint64_t elsewhere = count_calls(g);
      if (merged_site* const merged = site_of(g); merged != nullptr)
        add_group(*merged, g, elsewhere);
    }
    for (auto& [at, merged] : merged_sites_) finish_merged(at.first, at.second, merged, notes);
    for (const gathered& g : groups_) {
      merged_site* const merged = site_of(g);
      const shortage lack = shortage_of(g);
      if (lack.calls == 0 || (merged != nullptr && merged->has_lost())) continue;
      out_.complete.incomplete_calls += lack.calls;
      if (g.first_node == scope_node::none) {
        if (merged != nullptr) merged->incomplete += lack.calls;
        continue;
      }
      const std::string name = called_at(out_, out_.nodes[g.first_node]);
      parts_of[name].push_back(g.group->calls.parts());
      notes.add(name + trouble(g, lack));
    }
    for (auto& [name, parts] : parts_of)
      if (parts.size() > 1) notes.add(name + disagreement(parts));
    for (const auto& [at, merged] : merged_sites_)
      if (merged.incomplete != 0)
        notes.add(place_of(merged, at.second) +
                  without_all_parts(merged.incomplete, "whose parameters were not kept "));
    for (const gathered& g : groups_)
      for (const std::uint32_t index : g.first_parts)
        if (!out_.nodes[index].work.valid) out_.complete.invalid += out_.nodes[index].shared.calls;
    notes.finish("more lines like these, on calls whose parts do not fit together");
    std::map<std::string, std::vector<std::uint32_t>> nodes;  // of all threads
    for (const auto& [index, number] : impossible_)
      nodes[impossible_part(out_, out_.nodes[index], number.part, number.parts)].push_back(index);
    few_notes impossible(told);
    for (const auto& [what, of] : nodes) {
      std::uint64_t count = 0;
      for (const std::uint32_t index : of)
        count += out_.nodes[index].calls + out_.nodes[index].open;
      impossible.add(what + "; it came " + std::to_string(count) +
                     (count == 1 ? " time" : " times"));
    }
    impossible.finish("more lines like these, on parts that belong to no call");
    return told;
  }

 private:
  struct gathered {
    const part_group* group;
    std::vector<std::uint32_t> first_parts{};  // nodes with parameters
    std::vector<std::uint64_t> open{};         // by part
    std::uint32_t first_node = scope_node::none;
  };
  /// The calls of one call site and number of parts, where some parts have no parameters.
  struct merged_site {
    std::uint32_t first_node = scope_node::none;
    std::vector<std::uint32_t> first_parts{};  // nodes without parameters
    std::vector<std::uint32_t> kept{};         // nodes of part 0 with them
    std::vector<std::uint64_t> came{};         // by part
    std::uint64_t complete = 0;                // calls certain to have all parts
    std::uint64_t to_count = 0;                // of these, those that no node counts yet
    std::uint64_t incomplete = 0;              // of groups without parameters
    const merged_calls* beside = nullptr;

    bool has_lost() const noexcept { return beside != nullptr && beside->has_lost; }
  };
  /// Of one group: which parts came most and least often, and how many calls lack parts.
  struct shortage {
    std::size_t most, least;
    std::uint64_t calls;
  };

  gathered& of(const part_group& group) {
    const auto [at, is_new] = numbers_.try_emplace(&group, groups_.size());
    if (is_new) groups_.push_back({&group});
    return groups_[at->second];
  }
  static void add_open(gathered& g, std::uint32_t part, std::uint64_t open) {
    g.open.resize(std::max<std::size_t>(g.open.size(), part + std::size_t{1}));
    g.open[part] += open;
  }

  /// False where there is no such part.
  bool add_part(std::uint32_t index, part_number number, const shared_sums* sums) {
    scope_node& n = out_.nodes[index];
    n.shared.part = number.part;
    n.shared.parts = std::max(number.parts, 1U);
    if (!is_possible(number)) {
      out_.complete.impossible_parts += n.calls;
      if (n.calls + n.open != 0) impossible_.push_back({index, number});
      return false;
    }
    if (sums != nullptr) add_times(n, *sums);
    return true;
  }

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

  /// Counts calls whose times are not known at nodes whose part 0 came more often than it was
  /// counted. Returns how many are left.
  std::uint64_t count_at(const std::vector<std::uint32_t>& first_parts, std::uint64_t rest) {
    for (const std::uint32_t index : first_parts) {
      scope_node& n = out_.nodes[index];
      const std::uint64_t here = std::min(rest, n.calls - std::min(n.calls, n.shared.calls));
      n.shared.calls += here;
      out_.complete.unjoined_calls += here;
      rest -= here;
    }
    return rest;
  }
  /// Returns how many calls nodes without parameters have to count, beside those joined there.
  std::uint64_t count_calls(const gathered& g) {
    std::uint64_t rest = g.group->calls.complete();
    rest -= std::min(rest, g.group->joined_at_merged);
    for (const std::uint32_t index : g.first_parts)
      rest -= std::min(rest, out_.nodes[index].shared.joined);
    return count_at(g.first_parts, rest);
  }

  merged_site* site_of(const gathered& g) {
    const auto at = merged_sites_.find({g.group->site, g.group->calls.parts()});
    if (at == merged_sites_.end()) return nullptr;
    return &at->second;
  }
  static void add_group(merged_site& to, const gathered& g, std::uint64_t to_count) {
    const std::vector<std::uint64_t>& counts = g.group->calls.counts();
    to.came.resize(g.group->calls.parts());
    for (std::size_t i = 0; i < counts.size(); ++i) to.came[i] += counts[i];
    to.kept.insert(to.kept.end(), g.first_parts.begin(), g.first_parts.end());
    to.complete += g.group->calls.complete();
    to.to_count += to_count;
  }
  void finish_merged(std::uint32_t site, std::uint32_t parts, merged_site& m, few_notes& notes) {
    m.beside = known_.find_merged(site, parts);
    if (m.beside != nullptr) {
      m.complete += m.beside->settled;
      m.to_count += m.beside->settled - m.beside->settled_joined;
    }
    if (m.has_lost()) notes.add(place_of(m, parts) + estimate(parts, m));
    // Where calls are estimated, part 0 of some may have parameters.
    static_cast<void>(count_at(m.kept, count_at(m.first_parts, m.to_count)));
  }
  std::string place_of(const merged_site& m, std::uint32_t parts) const {
    return called_at(out_, out_.nodes[m.first_node]) + ", in " + std::to_string(parts) + " parts: ";
  }
  /// Of parts for whose group there was no memory it is not known which belong together. As many
  /// calls as there can be count.
  std::string estimate(std::uint32_t parts, merged_site& m) {
    const merged_calls& beside = *m.beside;
    m.came.resize(parts);
    std::uint64_t lost = 0;
    for (std::size_t i = 0; i < beside.lost.size(); ++i) {
      m.came[i] += beside.lost[i];
      lost += beside.lost[i];
    }
    const auto [least, most] = std::minmax_element(m.came.begin(), m.came.end());
    out_.complete.incomplete_calls += *most - *least;
    const std::uint64_t calls = *least + beside.settled;
    std::string text = "kprof had no memory to find out which calls " + std::to_string(lost) +
                       (lost == 1 ? " part belongs" : " parts belong") + " to: ";
    if (calls == m.complete) text += std::to_string(calls) + " calls have all parts";
    else
      text += "between " + std::to_string(m.complete) + " and " + std::to_string(calls) +
              " calls have all parts, and " + std::to_string(calls) + " are counted";
    m.to_count += calls - m.complete;
    return text + "; at least " + std::to_string(*most - *least) +
           " have not. With more `memory` the numbers are exact";
  }

  /// No calls where all fits together, or may yet.
  static shortage shortage_of(const gathered& g) {
    const std::vector<std::uint64_t>& counts = g.group->calls.counts();
    const auto finished = [&](std::size_t i) { return i < counts.size() ? counts[i] : 0; };
    shortage out{0, 0, 0};
    std::uint64_t reached = ~std::uint64_t{0};  // calls of which all parts have begun
    for (std::size_t i = 0; i < g.group->calls.parts(); ++i) {
      if (finished(i) > finished(out.most)) out.most = i;
      if (finished(i) < finished(out.least)) out.least = i;
      reached = std::min(reached, finished(i) + (i < g.open.size() ? g.open[i] : 0));
    }
    if (reached < finished(out.most)) out.calls = finished(out.most) - reached;
    return out;
  }
  static std::string trouble(const gathered& g, const shortage& lack) {
    const std::vector<std::uint64_t>& counts = g.group->calls.counts();
    const auto came = [&](std::size_t i) {
      return std::to_string(i < counts.size() ? counts[i] : 0) + " times";
    };
    return ", in " + std::to_string(g.group->calls.parts()) + " parts: part " +
           std::to_string(lack.most) + " came " + came(lack.most) + " and part " +
           std::to_string(lack.least) + ' ' + came(lack.least) + ", so " +
           without_all_parts(lack.calls, "");
  }
  static std::string without_all_parts(std::uint64_t calls, const char* which) {
    return std::to_string(calls) + (calls == 1 ? " call " : " calls ") + which +
           (calls == 1 ? "has" : "have") +
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

  profile& out_;
  const timebase& time_;
  const part_groups& known_;
  std::vector<gathered> groups_;
  std::unordered_map<const part_group*, std::size_t> numbers_;  // of groups
  std::map<std::pair<std::uint32_t, std::uint32_t>, merged_site> merged_sites_;
  std::vector<std::pair<std::uint32_t, part_number>> impossible_;  // nodes
};

}  // namespace detail
KPROF_DETAIL_END

#endif
