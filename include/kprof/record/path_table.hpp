// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_PATH_TABLE_HPP
#define KPROF_RECORD_PATH_TABLE_HPP

// Numbers for paths of scopes, so that a context is a plain value: what one thread captured, any thread can look up.

#include <kprof/config.hpp>

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
  };

  std::uint32_t number_of(step s) {
    std::string key(reinterpret_cast<const char*>(&s.parent), sizeof s.parent);
    key.append(reinterpret_cast<const char*>(&s.site), sizeof s.site).append(1, s.merged ? 'm' : 'p').append(s.bytes);
    const std::lock_guard lock(mutex_);
    std::uint32_t& number = numbers_[std::move(key)];
    if (number == 0) {
      steps_.push_back(std::move(s));
      number = static_cast<std::uint32_t>(steps_.size());
    }
    return number;
  }
  step operator[](std::uint32_t path) {
    const std::lock_guard lock(mutex_);
    return steps_[path - 1];
  }
  std::mutex& mutex() noexcept { return mutex_; }

 private:
  std::mutex mutex_;
  std::vector<step> steps_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
