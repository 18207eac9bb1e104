// SPDX-License-Identifier: MIT
#ifndef KPROF_ATTRIBUTE_PART_NOTES_HPP
#define KPROF_ATTRIBUTE_PART_NOTES_HPP

// What notes say of calls that threads share: how they name a call, how many of many are told, and
// parts that belong to no call. Included by shared_calls.hpp. Pure.

#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
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

/// A call as notes name it, `part` and `parts`.
using impossible_part = std::tuple<std::string, std::uint32_t, std::uint32_t>;

/// A note on a part that came `count` times.
[[gnu::cold]] inline std::string told_of(const impossible_part& what, std::uint64_t count) {
  const auto& [name, part, parts] = what;
  return name + ": " + std::to_string(count) +
         (count == 1 ? " part has the number " : " parts have the number ") + std::to_string(part) +
         " of " + std::to_string(parts) +
         (count == 1 ? " and belongs to no call; " : " and belong to no call; ") +
         (part < parts ? "a call has 65536 parts at the most"
                       : "`part` goes from 0 to `parts` - 1");
}

}  // namespace detail
KPROF_DETAIL_END

#endif
