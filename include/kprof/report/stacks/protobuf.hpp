// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_STACKS_PROTOBUF_HPP
#define KPROF_REPORT_STACKS_PROTOBUF_HPP

// Messages of Protocol Buffers as bytes: numbers, texts and messages in messages. Included by
// pprof.hpp and trace.hpp. Pure.

#include <kprof/build_options.hpp>

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// A message as it grows.
class proto_message {
 public:
  void number(std::uint32_t field, std::uint64_t value) {
    varint(std::uint64_t{field} << 3U);
    varint(value);
  }
  void bytes(std::uint32_t field, std::string_view value) {
    varint(std::uint64_t{field} << 3U | 2U);
    varint(value.size());
    text_ += value;
  }
  void message(std::uint32_t field, const proto_message& value) { bytes(field, value.text_); }
  /// A list of numbers, packed.
  void numbers(std::uint32_t field, const std::vector<std::uint64_t>& values) {
    proto_message list;
    for (const std::uint64_t v : values) list.varint(v);
    message(field, list);
  }
  /// Eight bytes, as the types fixed64 and double have them.
  void fixed(std::uint32_t field, std::uint64_t value) {
    varint(std::uint64_t{field} << 3U | 1U);
    for (unsigned i = 0; i < 8; ++i) text_ += static_cast<char>(value >> (8 * i) & 0xFFU);
  }
  void real(std::uint32_t field, double value) {
    fixed(field, std::bit_cast<std::uint64_t>(value));
  }
  /// The fields of another message.
  void fields(std::string_view of) { text_ += of; }
  void clear() noexcept { text_.clear(); }
  const std::string& text() const noexcept { return text_; }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7U) text_ += static_cast<char>((value & 0x7FU) | 0x80U);
    text_ += static_cast<char>(value);
  }

  std::string text_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
