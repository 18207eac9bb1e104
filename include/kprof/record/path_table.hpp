// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_PATH_TABLE_HPP
#define KPROF_RECORD_PATH_TABLE_HPP

// Numbers for paths of scopes, so that a context is a plain value: what one thread captured, any thread can look up.

#include <kprof/config.hpp>
#include <kprof/record/call_tree.hpp>

#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// Paths of scopes that were captured on one thread to be adopted on another. Guarded by its own lock.
class path_table {
 public:
  struct step {
    std::uint32_t parent;   // path of the enclosing scopes; 0: none
    std::uint32_t site;
    std::string bytes;
    bool merged;
    work values;
  };

  explicit path_table(tree_budget& budget) : budget_(&budget) {}

  /// The number of a path; that of its parent where memory is spent.
  std::uint32_t number_of(step s) {
    std::string key(reinterpret_cast<const char*>(&s.parent), sizeof s.parent);
    key.append(reinterpret_cast<const char*>(&s.site), sizeof s.site).append(1, s.merged ? 'm' : 'p').append(s.bytes);
    const std::lock_guard lock(mutex_);
    if (const auto known = numbers_.find(key); known != numbers_.end()) return known->second;
    if (budget_->spent()) return s.parent;
    budget_->add(2 * (sizeof(step) + 2 * key.size() + 64));
    steps_.push_back(std::move(s));
    return numbers_[std::move(key)] = static_cast<std::uint32_t>(steps_.size());
  }
  step operator[](std::uint32_t path) {
    const std::lock_guard lock(mutex_);
    return steps_[path - 1];
  }
  std::mutex& mutex() noexcept { return mutex_; }

 private:
  tree_budget* budget_;
  std::mutex mutex_;
  std::vector<step> steps_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
