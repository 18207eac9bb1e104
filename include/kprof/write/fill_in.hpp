// SPDX-License-Identifier: MIT
#ifndef KPROF_WRITE_FILL_IN_HPP
#define KPROF_WRITE_FILL_IN_HPP

// Puts numbers into a text, in few bytes of code where it is called.

#include <kprof/build_options.hpp>

#include <cstdint>
#include <initializer_list>
#include <string>

KPROF_DETAIL_BEGIN
namespace detail {

/// Appends the text with the next of the numbers for each #.
[[gnu::cold, gnu::noinline]] inline void fill_in(std::string& out, const char* text,
                                                 std::initializer_list<std::uint64_t> numbers) {
  const std::uint64_t* next = numbers.begin();
  for (; *text != '\0'; ++text) {
    if (*text == '#' && next != numbers.end()) out += std::to_string(*next++);
    else out += *text;
  }
}

}  // namespace detail
KPROF_DETAIL_END

#endif
