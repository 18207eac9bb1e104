// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_PATH_TABLE_HPP
#define KPROF_RECORD_PATH_TABLE_HPP

// Numbers for paths of scopes, so that a context is a plain value: what one thread captured, any
// thread can look up.

#include <kprof/build_options.hpp>
#include <kprof/record/call_tree.hpp>
#include <kprof/record/graph_scopes.hpp>
#include <kprof/write/attempt.hpp>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

KPROF_DETAIL_BEGIN
namespace detail {

/// Paths of scopes that were captured on one thread to be adopted on another, or in which devices
/// were given work. Guarded by its own lock.
class path_table {
 public:
  struct step {
    std::uint32_t parent = 0;  // path of the enclosing scopes; 0: none
    std::uint32_t site = 0;
    std::string bytes{};
    bool merged = false;
    work values{};
    std::string shown{};  // as payload::shown
  };

  explicit path_table(tree_budget& budget) : budget_(&budget) {}

  graph_scopes& captured() noexcept { return captured_; }

  /// The number of a path; that of its parent where memory is spent. No number is given out twice.
  std::uint32_t number_of(step s) {
    std::string key = key_of(s);
    const std::lock_guard lock(mutex_);
    if (const auto known = numbers_.find(key); known != numbers_.end()) {
      entries_.find(known->second)->second.used = recording_;
      return known->second;
    }
    if (budget_->spent()) return s.parent;
    const std::uint64_t cost = cost_of(key, s);
    const std::uint32_t number = last_number_ + 1;
    const auto made = entries_.emplace(number, entry{std::move(s), recording_, false}).first;
    if (!attempt([&] { numbers_.emplace(std::move(key), number); })) {
      const std::uint32_t parent = made->second.what.parent;
      entries_.erase(made);
      return parent;
    }
    last_number_ = number;
    budget_->add(cost);
    return number;
  }
  /// What the number stands for; a step without a site where it has been forgotten.
  step operator[](std::uint32_t path) {
    const std::lock_guard lock(mutex_);
    const auto known = entries_.find(path);
    if (known == entries_.end()) return {};
    known->second.used = recording_;
    return known->second.what;
  }

  /// Whoever has the number may use it much later: a program's contexts and graphs outlive a
  /// recording.
  void keep(std::uint32_t path) {
    const std::lock_guard lock(mutex_);
    for (auto at = entries_.find(path); at != entries_.end() && !at->second.kept;
         at = entries_.find(at->second.what.parent))
      at->second.kept = true;
  }
  /// A recording begins: what was last asked for in the one before the last is forgotten. That of
  /// the last stays, since there may be logs that have not begun anew yet. What is kept stays too,
  /// unless it takes more than an eighth of the memory for totals: then what has not been asked for
  /// the longest goes.
  void next_recording() {
    const std::lock_guard lock(mutex_);
    ++recording_;
    forget_if([this](const entry& e) { return !e.kept && is_old(e); });
    while (budget_of_old() > budget_->limit() / 8) {
      std::uint64_t oldest = recording_;
      for (const auto& [number, e] : entries_) oldest = std::min(oldest, e.used);
      forget_if([oldest](const entry& e) { return e.used == oldest; });
    }
  }
  std::mutex& mutex() noexcept { return mutex_; }

 private:
  struct entry {
    step what{};
    std::uint64_t used = 0;  // in which recording it was last asked for
    bool kept = false;
  };

  bool is_old(const entry& e) const noexcept { return e.used + 2 <= recording_; }
  std::uint64_t budget_of_old() const {
    std::uint64_t sum = 0;
    for (const auto& [number, e] : entries_)
      if (is_old(e)) sum += cost_of(key_of(e.what), e.what);
    return sum;
  }
  // A path is asked for only after what is around it, so its parents were used no earlier, and what
  // is forgotten is around nothing that stays.
  template <class Which>
  void forget_if(Which which) {
    for (auto at = entries_.begin(); at != entries_.end();) {
      if (!which(at->second)) {
        ++at;
        continue;
      }
      const std::string key = key_of(at->second.what);
      budget_->remove(cost_of(key, at->second.what));
      numbers_.erase(key);
      at = entries_.erase(at);
    }
  }

  static std::string key_of(const step& s) {
    std::string key(reinterpret_cast<const char*>(&s.parent), sizeof s.parent);
    return key.append(reinterpret_cast<const char*>(&s.site), sizeof s.site)
        .append(1, s.merged ? 'm' : 'p')
        .append(s.bytes);
  }
  static std::uint64_t cost_of(const std::string& key, const step& s) noexcept {
    return 2 * (sizeof(entry) + 2 * key.size() + s.shown.size() + 64);
  }

  tree_budget* budget_;
  graph_scopes captured_;
  std::mutex mutex_;
  std::unordered_map<std::uint32_t, entry> entries_;  // by number
  std::uint32_t last_number_ = 0;
  std::uint64_t recording_ = 1;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
