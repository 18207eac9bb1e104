// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_ADVISED_HPP
#define KPROF_TESTS_ADVISED_HPP

// Asks single rules of advice about a profile.

#include <kprof/advice.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace kprof_test {

/// Every rule but this switched off.
inline kprof::advice_words only(std::string_view id) {
  kprof::advice_words words{"all"};
  for (std::size_t i = 0; kprof::detail::rule_number(i) != nullptr; ++i)
    if (kprof::detail::rule_number(i)->id != id)
      words.push_back(std::string{"-"} + kprof::detail::rule_number(i)->id);
  return words;
}

/// What a rule says of a profile.
inline std::vector<kprof::advice> asked(const kprof::profile& p, std::string_view id) {
  return kprof::advise(p, only(id));
}

/// The gain of the first advice that a rule gives; -1: not stated, -2: it gives none.
inline double gain(const kprof::profile& p, std::string_view id) {
  const std::vector<kprof::advice> found = asked(p, id);
  return found.empty() ? -2 : found[0].gain_ns;
}
inline constexpr double silent = -2, not_stated = -1;

inline std::string text_of(const kprof::advice& a) {
  return a.where + ' ' + a.fact + ". " + a.action;
}

}  // namespace kprof_test

#endif
