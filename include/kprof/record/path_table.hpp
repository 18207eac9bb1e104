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
#include <unordered_set>
#include <utility>
#include <vector>

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
      entries_.find(known->second)->second.asked = ++asked_;
      return known->second;
    }
    if (budget_->spent()) return s.parent;
    const std::uint64_t cost = cost_of(key, s);
    const std::uint32_t number = last_number_ + 1;
    const auto made = entries_.emplace(number, entry{std::move(s), ++asked_, false}).first;
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
    known->second.asked = ++asked_;
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
  /// A recording begins: what is asked for from now on is of it.
  void begin_recording() noexcept {
    const std::lock_guard lock(mutex_);
    began_ = asked_;
  }
  /// All logs have begun anew: what nobody has asked for since begin_recording() is forgotten. What
  /// is kept stays, unless it takes more than an eighth of the memory for totals: then what has not
  /// been asked for the longest goes. Without memory it throws, and the rest stays.
  void forget_earlier() {
    const std::lock_guard lock(mutex_);
    forget_if([this](std::uint32_t, const entry& e) { return !e.kept && is_earlier(e); });
    forget_long_unasked(budget_->limit() / 8);
    entries_.rehash(0);
    numbers_.rehash(0);
  }
  std::mutex& mutex() noexcept { return mutex_; }

 private:
  struct entry {
    step what{};
    std::uint64_t asked = 0;  // when it was last asked for, as a count of all that was
    bool kept = false;
  };

  bool is_earlier(const entry& e) const noexcept { return e.asked <= began_; }
  template <class Which>
  void forget_if(Which which) {
    for (auto at = entries_.begin(); at != entries_.end();) {
      if (!which(at->first, at->second)) {
        ++at;
        continue;
      }
      const std::string key = key_of(at->second.what);
      budget_->remove(cost_of(key, at->second.what));
      numbers_.erase(key);
      at = entries_.erase(at);
    }
  }
  /// Leaves paths of earlier recordings that take so many bytes. A path stays as long as one that
  /// it is around.
  void forget_long_unasked(std::uint64_t bytes) {
    struct earlier {
      std::uint32_t number;
      std::uint64_t asked, cost;
    };
    std::vector<earlier> all;
    std::uint64_t sum = 0;
    for (const auto& [number, e] : entries_) {
      if (!is_earlier(e)) continue;
      all.push_back({number, e.asked, cost_of(key_of(e.what), e.what)});
      sum += all.back().cost;
    }
    if (sum <= bytes) return;
    // Inner paths come first, whose numbers are higher.
    std::sort(all.begin(), all.end(),
              [](const earlier& a, const earlier& b) { return a.number > b.number; });
    for (earlier& e : all) {
      entry& own = entries_.find(e.number)->second;
      e.asked = own.asked;
      if (const auto around = entries_.find(own.what.parent);
          around != entries_.end() && around->second.asked < own.asked)
        around->second.asked = own.asked;
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const earlier& a, const earlier& b) { return a.asked < b.asked; });
    std::unordered_set<std::uint32_t> going;
    for (const earlier& e : all) {
      if (sum <= bytes) break;
      going.insert(e.number);
      sum -= e.cost;
    }
    forget_if([&](std::uint32_t number, const entry&) { return going.count(number) != 0; });
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
  std::uint64_t asked_ = 0;
  std::uint64_t began_ = 0;  // asked_ when the recording began
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
