// SPDX-License-Identifier: MIT
#ifndef KPROF_ATTRIBUTE_PART_NOTES_HPP
#define KPROF_ATTRIBUTE_PART_NOTES_HPP

// The texts of notes on calls that threads share: how a note names a call, the first few of many
// notes, and a part that belongs to no call. Included by shared_calls.hpp. Pure.

#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// An operator's calls as notes name them: "Gemm(M=64 N=64) at gemm.cpp:12".
inline std::string called_at(const profile& p, const scope_node& n) {
  std::string out =
      n.name + '(' + (n.merged ? std::string{"parameters not kept"} : parameter_text(p, n)) + ')';
  if (!n.file.empty())
    out.append(" at ")
        .append(n.file, n.file.find_last_of('/') + 1)
        .append(":")
        .append(std::to_string(n.line));
  return out;
}

/// The first few of many notes, and how many there are more.
class few_notes {
 public:
  explicit few_notes(std::vector<std::string>& notes) : notes_(notes) {}
  few_notes(const few_notes&) = delete;
  few_notes& operator=(const few_notes&) = delete;

  void add(std::string note) {
    if (++count_ <= most) notes_.push_back(std::move(note));
  }
  /// After the last. `what`: "more operators ..."
  void finish(const char* what) {
    if (count_ > most) notes_.push_back(std::to_string(count_ - most) + ' ' + what);
  }

 private:
  static constexpr std::size_t most = 5;
  std::vector<std::string>& notes_;
  std::size_t count_ = 0;
};

/// "Gemm(M=64 N=64): part 2 of 2 belongs to no call; ..."
[[gnu::cold]] inline std::string impossible_part(const profile& p, const scope_node& n,
                                                 std::uint32_t part, std::uint32_t parts) {
  return called_at(p, n)
      .append(": part ")
      .append(std::to_string(part))
      .append(" of ")
      .append(std::to_string(parts))
      .append(" belongs to no call; ")
      .append(part < parts ? "a call has 65536 parts at the most"
                           : "`part` goes from 0 to `parts` - 1");
}

}  // namespace detail
KPROF_DETAIL_END

#endif
