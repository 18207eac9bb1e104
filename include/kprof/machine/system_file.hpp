// SPDX-License-Identifier: MIT
#ifndef KPROF_MACHINE_SYSTEM_FILE_HPP
#define KPROF_MACHINE_SYSTEM_FILE_HPP

// Reads the small files in which the system says what it is. Included by usable_cpus.hpp.

#include <kprof/build_options.hpp>
#include <kprof/write/descriptor.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

KPROF_DETAIL_BEGIN
namespace detail {

/// What a file says, at most 64 KiB of it, without the end of its last line; nothing where it
/// cannot be read.
[[gnu::cold]] inline std::string system_file(const std::string& path) {
  std::string text;
  const int descriptor = open_file(path.c_str(), O_RDONLY);
  if (descriptor < 0) return text;
  char block[4096];
  while (text.size() < (std::size_t{64} << 10U)) {
    const ssize_t size = ::read(descriptor, block, sizeof block);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    text.append(block, static_cast<std::size_t>(size));
  }
  close_file(descriptor);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

/// The number that a text is; none where it is more or less than one.
[[gnu::cold]] inline std::optional<std::uint64_t> whole_number(std::string_view text) noexcept {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
