// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_PART_CALLS_HPP
#define KPROF_RECORD_PART_CALLS_HPP

// All shared calls of the process: takes the parts that threads have done out of their logs, in the
// order of time, and joins them. Guarded by the lock of the list of threads.

#include <kprof/build_options.hpp>
#include <kprof/record/part_joining.hpp>
#include <kprof/record/part_payload.hpp>
#include <kprof/record/shared_totals.hpp>
#include <kprof/record/thread_log.hpp>
#include <kprof/write/attempt.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
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

class KPROF_DETAIL_LOCAL part_calls {
 public:
  part_calls(const site_table& sites, tree_budget& budget) : sites_(&sites), budget_(&budget) {}
  ~part_calls() { clear(); }
  part_calls(const part_calls&) = delete;
  part_calls& operator=(const part_calls&) = delete;

  void clear() noexcept {
    groups_.clear();
    numbers_.clear();
    arrived_ = {};
    joined_ = 0;
    done_.clear();
    budget_->remove(std::exchange(charged_, 0));
  }

  /// Takes the parts that ended up to `until`, in ticks, out of the logs, and joins them. Folds the
  /// logs first. `find`: the log of a thread by its number. Without memory it throws, and goes on
  /// the next time.
  template <class Find>
  void join(const std::vector<thread_log*>& logs, std::uint64_t until, Find find) {
    // What is left of a time that memory ran out.
    arrived_.erase(arrived_.begin(), arrived_.begin() + static_cast<std::ptrdiff_t>(joined_));
    joined_ = 0;
    std::sort(arrived_.begin(), arrived_.end(), ended_before);
    std::vector<std::size_t> runs{0};  // where those of a log end: they are in the order of time
    if (!arrived_.empty()) runs.push_back(arrived_.size());
    for (thread_log* log : logs) {
      const std::lock_guard own(log->mutex());
      log->fold();
      if (log->parts.empty()) continue;
      take(*log, until);
      if (runs.back() != arrived_.size()) runs.push_back(arrived_.size());
    }
    merge(runs);
    for (; joined_ < arrived_.size(); ++joined_) join(arrived_[joined_]);
    arrived_ = {};
    joined_ = 0;
    hand_over(find);
  }

  /// The calls that a node's parts belong to; nullptr: none has come yet. `n`: is_part.
  const part_joining* find(const tree_node& n, payload p) const {
    const auto known = numbers_.find(key_of(n.site, p));
    return known == numbers_.end() ? nullptr : groups_[known->second].get();
  }

 private:
  struct arrival {
    std::uint32_t group;
    std::uint32_t part;
    call_place place;  // of part 0
    std::uint64_t begin;
    std::uint64_t end;
  };

  /// What belongs together: call site, number of parts, parameters.
  std::string key_of(std::uint32_t site, payload p) const {
    const op_info& op = *(*sites_)[site].op;
    const std::uint32_t parts = part_number_of(op, p).parts;
    std::string key(reinterpret_cast<const char*>(&site), sizeof site);
    return key.append(reinterpret_cast<const char*>(&parts), sizeof parts)
        .append(p.bytes, op.part_at);
  }

  /// The log's lock is held.
  void take(thread_log& log, std::uint64_t until) {
    const auto later = std::find_if(log.parts.begin(), log.parts.end(),
                                    [until](const part_note& n) { return n.end > until; });
    const auto count = static_cast<std::size_t>(later - log.parts.begin());
    if (count == 0) return;
    std::unordered_map<std::uint32_t, arrival> known;
    for (auto note = log.parts.begin(); note != later; ++note) {
      const auto [at, is_new] = known.try_emplace(note->node);
      if (is_new) at->second = arrival_at(log, note->node);
    }
    reserve_more(arrived_, count);
    // From here on nothing fails.
    for (auto note = log.parts.begin(); note != later; ++note) {
      arrival a = known.find(note->node)->second;
      if (a.group == no_group) continue;
      a.begin = note->begin;
      a.end = note->end;
      arrived_.push_back(a);
    }
    log.parts.erase(log.parts.begin(), later);
    if (log.parts.empty() && log.parts.capacity() > kept_notes) log.parts = {};
  }
  arrival arrival_at(thread_log& log, std::uint32_t node) {
    const tree_node& n = log.tree[node];
    const payload p = log.tree.payload_of(n);
    const part_number number = part_number_of(*(*sites_)[n.site].op, p);
    if (!is_possible(number)) return {no_group, 0, {}, 0, 0};
    arrival out{group_of(n.site, p, number.parts), number.part, {}, 0, 0};
    if (number.part == 0) out.place = {log.paths.path_of(node), log.number};
    return out;
  }
  std::uint32_t group_of(std::uint32_t site, payload p, std::uint32_t parts) {
    std::string key = key_of(site, p);
    if (const auto known = numbers_.find(key); known != numbers_.end()) return known->second;
    auto made = std::make_unique<part_joining>(parts);
    reserve_more(groups_, 1);
    const auto number = static_cast<std::uint32_t>(groups_.size());
    numbers_.emplace(std::move(key), number);
    groups_.push_back(std::move(made));
    return number;
  }

  static bool ended_before(const arrival& a, const arrival& b) noexcept { return a.end < b.end; }

  /// Puts all that has arrived in the order in which the parts ended, run by run.
  void merge(std::vector<std::size_t>& runs) {
    const auto at = [this](std::size_t i) {
      return arrived_.begin() + static_cast<std::ptrdiff_t>(i);
    };
    while (runs.size() > 2) {
      std::size_t kept = 1;
      for (std::size_t i = 0; i + 1 < runs.size(); i += 2) {
        const std::size_t end = runs[std::min(i + 2, runs.size() - 1)];
        std::inplace_merge(at(runs[i]), at(runs[i + 1]), at(end), &ended_before);
        runs[kept++] = end;
      }
      runs.resize(kept);
    }
  }

  void join(const arrival& a) {
    part_joining& calls = *groups_[a.group];
    const std::size_t before = calls.bytes();
    const auto complete = [this](const joined_call& call) {
      const std::uint64_t place = std::uint64_t{call.place.path} << 32U | call.place.thread;
      // Without memory the call counts, and its times are not known.
      static_cast<void>(attempt([&] { done_[place].add(call, [](std::size_t) { return true; }); }));
    };
    calls.add(a.part, a.begin, a.end, a.place, complete, has_room() ? part_joining::window : 0);
    budget_->add(calls.bytes());
    budget_->remove(before);
    charged_ += calls.bytes();
    charged_ -= before;
  }

  /// Calls that are not complete take an eighth of the memory for totals, or parameters would be
  /// merged for them.
  bool has_room() const noexcept { return !budget_->scarce() && charged_ < budget_->limit() / 8; }

  /// Gives the totals of joined calls to the threads that did their part 0.
  template <class Find>
  void hand_over(Find find) {
    for (auto at = done_.begin(); at != done_.end(); at = done_.erase(at)) {
      thread_log* const log = find(static_cast<std::uint32_t>(at->first));
      if (log == nullptr) continue;
      const std::lock_guard own(log->mutex());
      const std::uint32_t node = log->paths.node_of(static_cast<std::uint32_t>(at->first >> 32U));
      // Another one where memory for paths was spent: then only the number of calls is known.
      if (log->tree[node].is_part) log->shared.add(node, at->second);
    }
  }

  static constexpr std::uint32_t no_group = ~std::uint32_t{0};
  static constexpr std::size_t kept_notes = 4096;

  const site_table* sites_;
  tree_budget* budget_;
  std::uint64_t charged_ = 0;
  std::vector<std::unique_ptr<part_joining>> groups_;
  std::unordered_map<std::string, std::uint32_t> numbers_;  // of groups, by key_of
  std::vector<arrival> arrived_;
  std::size_t joined_ = 0;                               // of them, from the first on
  std::unordered_map<std::uint64_t, shared_sums> done_;  // by path and thread, not handed over
};

}  // namespace detail
KPROF_DETAIL_END

#endif
