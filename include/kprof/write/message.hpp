// SPDX-License-Identifier: MIT
#ifndef KPROF_WRITE_MESSAGE_HPP
#define KPROF_WRITE_MESSAGE_HPP

// Lines on standard error, the only way in which kprof speaks of its own accord. Included by
// whatever has something to say.

#include <kprof/build_options.hpp>
#include <kprof/write/descriptor.hpp>
#include <kprof/write/printable.hpp>
#include <kprof/write/quiet_writes.hpp>
#include <kprof/write/standard_streams.hpp>

#include <limits.h>
#include <unistd.h>

#include <cstddef>
#include <initializer_list>
#include <string_view>

KPROF_DETAIL_BEGIN
namespace detail {

/// A line for standard error, of a length that a pipe takes in one piece.
class message_line {
 public:
  [[gnu::cold]] void add(std::string_view text) noexcept {
    each_printable(text, [this](std::string_view piece) {
      if (is_cut_ || size_ + piece.size() + room_for_end > sizeof text_) is_cut_ = true;
      else size_ += piece.copy(text_ + size_, piece.size());
    });
  }
  std::string_view end() noexcept {
    for (const char c : std::string_view{is_cut_ ? "...\n" : "\n"}) text_[size_++] = c;
    return {text_, size_};
  }

 private:
  static constexpr std::size_t room_for_end = 4;
  char text_[PIPE_BUF];
  std::size_t size_ = 0;
  bool is_cut_ = false;
};

/// Prints "kprof: " and the parts as one line, past the program's streams and their buffers. Needs
/// no memory, and harms nothing: a reader that has ended does not kill the program, one that takes
/// nothing has it wait for a second or two, and a file that is not standard error gets nothing; the
/// line is lost then.
[[gnu::cold]] KPROF_DETAIL_LOCAL inline void tell(
    std::initializer_list<std::string_view> parts) noexcept {
  const quiet_writes quiet;
  if (!is_standard_stream(STDERR_FILENO)) return;
  message_line line;
  line.add("kprof: ");
  for (const std::string_view part : parts) line.add(part);
  if (wait_for_room(STDERR_FILENO, 1000))
    static_cast<void>(write_all(STDERR_FILENO, line.end(), 1000));
}

}  // namespace detail
KPROF_DETAIL_END

#endif
