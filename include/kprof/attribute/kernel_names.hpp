// SPDX-License-Identifier: MIT
#ifndef KPROF_ATTRIBUTE_KERNEL_NAMES_HPP
#define KPROF_ATTRIBUTE_KERNEL_NAMES_HPP

// Numbers for the names of kernels. CUPTI owns the text of a name, which may disappear when the
// kernel's library is unloaded.

#include <kprof/build_options.hpp>
#include <kprof/record/device_totals.hpp>
#include <kprof/write/attempt.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

class kernel_names {
 public:
  explicit kernel_names(tree_budget& budget) : budget_(&budget) {}
  ~kernel_names() { budget_->remove(charged_); }
  kernel_names(const kernel_names&) = delete;
  kernel_names& operator=(const kernel_names&) = delete;

  void clear() {
    for (slot& s : recent_) s = {};
    numbers_.clear();
    names_.clear();
    budget_->remove(charged_);
    charged_ = 0;
  }

  /// 1, 2, ...; device_key::merged_name once the memory is used up.
  std::uint32_t number_of(const char* name) {
    if (name == nullptr) name = "(no name)";
    // The records of one kernel share one text. Comparing it again is cheap, and needed: another
    // library's name may have come to the same address.
    slot& s = recent_[reinterpret_cast<std::uintptr_t>(name) / 16 % recent_size];
    if (s.text == name && names_[s.number - 1] == name) return s.number;
    const std::uint32_t number = look_up(name);
    if (number != device_key::merged_name) s = {name, number};
    return number;
  }
  const std::vector<std::string>& all() const noexcept { return names_; }

 private:
  static constexpr std::size_t recent_size = 512;
  struct slot {
    const char* text = nullptr;
    std::uint32_t number = 0;
  };

  std::uint32_t look_up(const char* name) {
    std::string text(name);
    if (const auto known = numbers_.find(text); known != numbers_.end()) return known->second;
    if (budget_->nearly_spent()) return device_key::merged_name;
    const std::size_t takes = 2 * text.size() + 160;
    const auto number = static_cast<std::uint32_t>(names_.size() + 1);
    reserve_more(names_, 1);
    numbers_.emplace(text, number);
    names_.push_back(std::move(text));
    budget_->add(takes);
    charged_ += takes;
    return number;
  }

  tree_budget* budget_;
  std::uint64_t charged_ = 0;
  slot recent_[recent_size];
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
