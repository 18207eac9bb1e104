// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_PATH_TABLE_HPP
#define KPROF_RECORD_PATH_TABLE_HPP

// Numbers for paths of scopes, so that a context is a plain value: what one thread captured, any
// thread can look up.

#include <kprof/build_options.hpp>
#include <kprof/record/call_tree.hpp>

#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
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
  };

  explicit path_table(tree_budget& budget) : budget_(&budget) {}

  /// The number of a path; that of its parent where memory is spent.
  std::uint32_t number_of(step s) {
    std::string key = key_of(s);
    const std::lock_guard lock(mutex_);
    if (const auto known = numbers_.find(key); known != numbers_.end()) {
      entries_[known->second - 1].used = recording_;
      return known->second;
    }
    if (budget_->spent()) return s.parent;
    budget_->add(cost_of(key));
    std::uint32_t number = free_;
    if (number == 0)
      number = static_cast<std::uint32_t>(entries_.size() + 1), entries_.emplace_back();
    else free_ = entries_[number - 1].next_free;
    entries_[number - 1] = {std::move(s), recording_, false, 0};
    return numbers_[std::move(key)] = number;
  }
  step operator[](std::uint32_t path) {
    const std::lock_guard lock(mutex_);
    return entries_[path - 1].what;
  }

  /// Whoever has the number may keep it for ever: a program's contexts and graphs outlive a
  /// recording.
  void keep(std::uint32_t path) {
    const std::lock_guard lock(mutex_);
    for (; path != 0 && !entries_[path - 1].kept; path = entries_[path - 1].what.parent)
      entries_[path - 1].kept = true;
  }
  /// A recording begins: what was last asked for in the one before the last is forgotten, but for
  /// what is kept. That of the last stays, since there may be logs that have not begun anew yet.
  void next_recording() {
    const std::lock_guard lock(mutex_);
    // A path is asked for only after what is around it, so its parents were used no earlier.
    for (std::uint32_t i = 0; i < entries_.size(); ++i) {
      entry& e = entries_[i];
      if (e.kept || e.used == free_entry || e.used + 1 > recording_) continue;
      const std::string key = key_of(e.what);
      budget_->remove(cost_of(key));
      numbers_.erase(key);
      e = {step{}, free_entry, false, free_};
      free_ = i + 1;
    }
    ++recording_;
  }
  std::mutex& mutex() noexcept { return mutex_; }

 private:
  static constexpr std::uint64_t free_entry = ~std::uint64_t{0};
  struct entry {
    step what{};
    std::uint64_t used = 0;  // in which recording it was last asked for
    bool kept = false;
    std::uint32_t next_free = 0;
  };

  static std::string key_of(const step& s) {
    std::string key(reinterpret_cast<const char*>(&s.parent), sizeof s.parent);
    return key.append(reinterpret_cast<const char*>(&s.site), sizeof s.site)
        .append(1, s.merged ? 'm' : 'p')
        .append(s.bytes);
  }
  static std::uint64_t cost_of(const std::string& key) noexcept {
    return 2 * (sizeof(entry) + 2 * key.size() + 64);
  }

  tree_budget* budget_;
  std::mutex mutex_;
  std::vector<entry> entries_;
  std::uint32_t free_ = 0;  // number of the first free entry
  std::uint64_t recording_ = 1;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
