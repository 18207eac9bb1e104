// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_SAVED_READ_PARAMETERS_HPP
#define KPROF_REPORT_SAVED_READ_PARAMETERS_HPP

// Packs the values of an operator's fields as a saved profile lists them, and bounds what an
// operator may be. Included by load.hpp.

#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/saved/encoding.hpp>
#include <kprof/report/saved/json_tape.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// A number, or the text "inf", "-inf", "nan" or "-nan".
template <class T>
bool read_floating(const json_tape& tape, std::uint32_t at, T& out) noexcept {
  using limits = std::numeric_limits<T>;
  const std::string_view text = tape.text_of(tape[at]);
  if (tape[at].kind == json_kind::number) {
    const auto read = std::from_chars(text.data(), text.data() + text.size(), out);
    return read.ec == std::errc{} && read.ptr == text.data() + text.size();
  }
  if (tape[at].kind != json_kind::text) return false;
  const bool negative = text.starts_with('-');
  const std::string_view name = text.substr(negative ? 1 : 0);
  if (name != "inf" && name != "nan") return false;
  out = std::copysign(name == "inf" ? limits::infinity() : limits::quiet_NaN(),
                      negative ? T{-1} : T{1});
  return true;
}

/// A text, or {"bytes": TEXT}.
inline bool read_text(const json_tape& tape, std::uint32_t at, std::string& out) {
  if (tape[at].kind == json_kind::text) {
    out = tape.text_of(tape[at]);
    return true;
  }
  return tape[at].kind == json_kind::object && tape[at].next == at + 3 &&
         tape.text_of(tape[at + 1]) == "bytes" && tape[at + 2].kind == json_kind::text &&
         utf8_to_bytes(tape.text_of(tape[at + 2]), out);
}

/// What an operator's parameters come to: their values and their text, at most.
struct operator_sizes {
  static constexpr std::uint64_t most_values = 4096, most_text = 1U << 20U;
  std::uint64_t values = 0, text = 0;

  /// `times`: elements of the arrays around. False where there are too many values or too much
  /// text, or where a field has a width that no type has.
  bool add(const std::vector<operator_field>& fields, std::uint64_t times) {
    for (const operator_field& f : fields) {
      const std::uint64_t elements = times * std::max<std::uint64_t>(f.extent, 1);
      std::size_t longest = 48;
      for (const enumerator_name& e : f.enumerators) longest = std::max(longest, e.name.size());
      values += elements;
      if (elements > most_values || values > most_values) return false;
      text += times * (f.name.size() + 4) + elements * longest;
      if (text > most_text || !has_width(f)) return false;
      if (f.kind == parameter_kind::aggregate && !add(f.fields, elements)) return false;
    }
    return true;
  }

 private:
  static bool has_width(const operator_field& f) noexcept {
    const std::uint32_t bits = f.bits;
    switch (f.kind) {
      case parameter_kind::boolean: return bits == 8;
      case parameter_kind::signed_integer:
      case parameter_kind::unsigned_integer:
      case parameter_kind::enumeration: return bits == 8 || bits == 16 || bits == 32 || bits == 64;
      case parameter_kind::floating: return bits == 32 || bits == 64 || bits == 80 || bits == 128;
      case parameter_kind::text:
      case parameter_kind::aggregate: return bits == 0;
      case parameter_kind::none: return false;
    }
    return false;
  }
};

/// Packs a list of values, [1024, "fprop", true], by the fields of an operator.
class parameter_packer {
 public:
  parameter_packer(const json_tape& tape, std::uint32_t list) : tape_(tape), list_(list) {}

  bool pack(const std::vector<operator_field>& fields, std::string& out) {
    if (tape_[list_].kind != json_kind::array) return false;
    next_ = list_ + 1;
    return pack_fields(fields, out) && next_ == tape_[list_].next;
  }

 private:
  bool pack_fields(const std::vector<operator_field>& fields, std::string& out) {
    for (const operator_field& f : fields)
      for (std::uint32_t i = 0; i < (f.extent == 0 ? 1 : f.extent); ++i) {
        if (f.kind == parameter_kind::aggregate) {
          if (!pack_fields(f.fields, out)) return false;
          continue;
        }
        if (next_ >= tape_[list_].next || !pack_value(f, next_, out)) return false;
        next_ = tape_[next_].next;
      }
    return true;
  }

  bool pack_value(const operator_field& f, std::uint32_t at, std::string& out) {
    switch (f.kind) {
      case parameter_kind::boolean:
        if (tape_[at].kind != json_kind::boolean) return false;
        out += tape_[at].truth ? '\1' : '\0';
        return true;
      case parameter_kind::text: {
        std::string text;
        if (!read_text(tape_, at, text)) return false;
        append_varint(out, text.size());
        out += text;
        return true;
      }
      case parameter_kind::floating: return pack_floating(f, at, out);
      default: return pack_integer(f, at, out);
    }
  }

  bool pack_floating(const operator_field& f, std::uint32_t at, std::string& out) {
    if (f.bits == 32) return pack_as<float>(at, out);
    if (f.bits == 64) return pack_as<double>(at, out);
    std::string bytes;
    if (tape_[at].kind != json_kind::text || !from_base64(tape_.text_of(tape_[at]), bytes) ||
        bytes.size() != f.bits / 8)
      return false;
    out += bytes;
    return true;
  }
  template <class T>
  bool pack_as(std::uint32_t at, std::string& out) {
    T value{};
    if (!read_floating(tape_, at, value)) return false;
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
    return true;
  }

  bool pack_integer(const operator_field& f, std::uint32_t at, std::string& out) {
    const std::string_view text = tape_.text_of(tape_[at]);
    const char* const end = text.data() + text.size();
    if (tape_[at].kind != json_kind::number) return false;
    const unsigned unused = 64 - f.bits;
    std::uint64_t bits = 0;
    const bool is_signed = f.kind == parameter_kind::signed_integer ||
                           (f.kind == parameter_kind::enumeration && f.is_signed);
    if (is_signed) {
      std::int64_t value = 0;
      const auto read = std::from_chars(text.data(), end, value);
      bits = static_cast<std::uint64_t>(value);
      if (read.ec != std::errc{} || read.ptr != end ||
          static_cast<std::int64_t>(bits << unused) >> unused != value)
        return false;
    } else {
      const auto read = std::from_chars(text.data(), end, bits);
      if (read.ec != std::errc{} || read.ptr != end || bits << unused >> unused != bits)
        return false;
    }
    out.append(reinterpret_cast<const char*>(&bits), f.bits / 8);
    return true;
  }

  const json_tape& tape_;
  std::uint32_t list_;
  std::uint32_t next_ = 0;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
