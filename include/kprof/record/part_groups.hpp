// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_PART_GROUPS_HPP
#define KPROF_RECORD_PART_GROUPS_HPP

// Which parts of shared calls belong together: groups by call site, number of parts and parameters.
// A part whose parameters a thread had no memory to keep finds its group by a hash of them. A group
// that no thread keeps parameters of lives until all of its parts have come equally often, so that
// memory goes to the calls that lack parts and not to all sets of parameters. Not thread-safe.

#include <kprof/build_options.hpp>
#include <kprof/record/part_joining.hpp>
#include <kprof/record/part_payload.hpp>
#include <kprof/record/shared_totals.hpp>
#include <kprof/record/tree_node.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// Whether there is such a part.
inline bool is_possible(part_number n) noexcept {
  return n.part < n.parts && n.parts <= part_joining::max_parts;
}

/// Where the calls of one place are counted.
struct place_totals {
  shared_totals* all = nullptr;  // of a thread
  shared_sums* sums = nullptr;
  bool of_merged = false;  // the node has no parameters
};

/// The calls that belong together.
struct part_group {
  static constexpr std::uint32_t several_threads = ~std::uint32_t{0};

  part_group(std::uint32_t its_site, std::uint32_t parts, joining_memory& memory, bool kept)
      : site(its_site), calls(parts, memory, kept ? part_joining::fewest : 1) {}

  std::uint32_t site;
  std::string parameters;  // with site and number of parts; empty where no thread has kept them
  part_joining calls;
  std::uint64_t joined_at_merged = 0;  // of the joined calls, those counted at a merged node
  // By part: the number of the log of the thread that does it; 0: none has; or several_threads.
  std::vector<std::uint32_t> threads;
  bool has_mixed_parts = false;    // any that several threads do
  bool has_several_paths = false;  // a thread does a part of it in several places of its tree
  // Where the last call was counted, and in which join: most calls are of the same place.
  call_place last_place;
  place_totals last_totals;
  std::uint64_t last_join = 0;
  std::uint64_t latest_slice = 0;  // in which a part without parameters came
};

/// What is known of the parts of one call site without parameters beside the groups that live.
struct merged_calls {
  std::uint64_t settled = 0;         // calls of groups that were forgotten: all have all parts
  std::uint64_t settled_joined = 0;  // of these, those whose times are known
  std::vector<std::uint64_t> lost;   // by part: how many there was no memory to know the group of
  bool has_lost = false;
};

class part_groups {
 public:
  part_groups(const site_table& sites, tree_budget& budget)
      : sites_(&sites), budget_(&budget), memory_(budget) {}
  ~part_groups() { clear(); }
  part_groups(const part_groups&) = delete;
  part_groups& operator=(const part_groups&) = delete;

  void clear() noexcept {
    groups_.clear();
    merged_.clear();
    budget_->remove(std::exchange(charged_, 0));
  }

  /// The group of a node that has its parameters; made when it is new. Without memory it throws and
  /// changes nothing.
  part_group& of(std::uint32_t site, payload p, std::uint32_t parts) {
    std::string parameters = parameters_of(site, p);
    std::uint64_t key = call_key(site, *(*sites_)[site].op, p);
    for (; groups_.contains(key); ++key) {  // others with the same hash have the next keys
      part_group& known = *groups_[key];
      if (known.parameters.empty()) {
        known.parameters = std::move(parameters);
        uncharge(parts);
        return known;
      }
      if (known.parameters == parameters) return known;
    }
    auto made = std::make_unique<part_group>(site, parts, memory_, true);
    made->parameters = std::move(parameters);
    return *groups_.emplace(key, std::move(made)).first->second;
  }
  /// The group of a part without parameters, by their call_key(); nullptr where memory for such
  /// groups is spent. It stays where it is until the next slice().
  part_group* of_merged(std::uint64_t key, std::uint32_t site, std::uint32_t parts) {
    if (const auto known = groups_.find(key); known != groups_.end()) {
      known->second->latest_slice = slice_;
      return known->second.get();
    }
    const std::size_t bytes = cost_of(parts);
    if (!has_room(bytes)) give_up_old();
    if (!has_room(bytes)) return nullptr;
    auto made = std::make_unique<part_group>(site, parts, memory_, false);
    made->latest_slice = slice_;
    part_group* const out = groups_.emplace(key, std::move(made)).first->second.get();
    charged_ += bytes;
    budget_->add(bytes);
    return out;
  }
  /// A later slice of time begins.
  void next_slice() noexcept { ++slice_; }
  /// Forgets the group with this key, if no thread has kept its parameters and all its calls have
  /// all parts.
  void settle(std::uint64_t key) noexcept {
    const auto known = groups_.find(key);
    if (known == groups_.end() || !known->second->parameters.empty()) return;
    const part_group& g = *known->second;
    const std::uint64_t complete = g.calls.complete();
    for (const std::uint64_t n : g.calls.counts())
      if (n != complete) return;
    forget(g);
    groups_.erase(known);
  }
  /// Of this call site and number of parts; stays where it is until clear(). Without memory it
  /// throws and changes nothing.
  merged_calls& merged_at(std::uint32_t site, std::uint32_t parts) {
    return merged_[{site, parts}];
  }

  const merged_calls* find_merged(std::uint32_t site, std::uint32_t parts) const {
    const auto known = merged_.find({site, parts});
    return known == merged_.end() ? nullptr : &known->second;
  }
  /// nullptr: no part of the group has come.
  const part_group* find(std::uint32_t site, payload p) const {
    const std::string parameters = parameters_of(site, p);
    std::uint64_t key = call_key(site, *(*sites_)[site].op, p);
    for (auto at = groups_.find(key); at != groups_.end(); at = groups_.find(++key))
      if (at->second->parameters == parameters) return at->second.get();
    return nullptr;
  }
  /// The group that parts without parameters belong to.
  const part_group* find(std::uint64_t key) const {
    const auto known = groups_.find(key);
    return known == groups_.end() ? nullptr : known->second.get();
  }
  template <class Visit>
  void each(Visit visit) const {
    for (const auto& [key, group] : groups_) visit(*group);
  }

 private:
  std::string parameters_of(std::uint32_t site, payload p) const {
    const op_info& op = *(*sites_)[site].op;
    const std::uint32_t parts = part_number_of(op, p).parts;
    std::string out(reinterpret_cast<const char*>(&site), sizeof site);
    return out.append(reinterpret_cast<const char*>(&parts), sizeof parts)
        .append(p.bytes, op.part_at);
  }
  /// Bytes of a group without parameters; its numbers by part, its place in the table.
  static constexpr std::size_t cost_of(std::uint32_t parts) noexcept {
    return sizeof(part_group) + 64 +
           std::size_t{parts} * (sizeof(std::uint64_t) + sizeof(std::uint32_t));
  }
  bool has_room(std::size_t bytes) const noexcept {
    return !budget_->spent() && charged_ + bytes <= budget_->limit() / 4;
  }
  /// Makes room: forgets groups of which no part has come for long, since most of theirs that come
  /// yet came when there was no room. Younger ones stay: each that is completed is known for sure.
  void give_up_old() noexcept {
    if (slice_ < given_up_in_ + long_ago) return;
    given_up_in_ = slice_;
    std::erase_if(groups_, [this](const auto& entry) {
      const part_group& g = *entry.second;
      if (!g.parameters.empty() || g.latest_slice + long_ago > slice_) return false;
      forget(g);
      return true;
    });
  }
  /// Keeps only the numbers of a group that is about to go.
  void forget(const part_group& g) noexcept {
    merged_calls& all = merged_.find({g.site, g.calls.parts()})->second;
    const std::vector<std::uint64_t>& counts = g.calls.counts();
    const std::uint64_t complete = g.calls.complete();
    all.settled += complete;
    all.settled_joined += g.joined_at_merged;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (counts[i] == complete) continue;
      all.lost[i] += counts[i] - complete;
      all.has_lost = true;
    }
    uncharge(g.calls.parts());
  }
  void uncharge(std::uint32_t parts) noexcept {
    charged_ -= cost_of(parts);
    budget_->remove(cost_of(parts));
  }

  static constexpr std::uint64_t long_ago = 64;  // slices

  const site_table* sites_;
  tree_budget* budget_;
  joining_memory memory_;
  std::uint64_t charged_ = 0;  // for groups without parameters
  std::uint64_t slice_ = 1;
  std::uint64_t given_up_in_ = 0;                                           // slice
  std::unordered_map<std::uint64_t, std::unique_ptr<part_group>> groups_;   // by call_key
  std::map<std::pair<std::uint32_t, std::uint32_t>, merged_calls> merged_;  // by site and parts
};

}  // namespace detail
KPROF_DETAIL_END

#endif
