// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_OUTPUT_READ_OPTION_HPP
#define KPROF_REPORT_OUTPUT_READ_OPTION_HPP

// Reads the values of options and settings by their tables. Every mistake becomes a line that says
// what is valid and that a terminal can print, whatever the text holds. Pure.

#include <kprof/build_options.hpp>
#include <kprof/report/option.hpp>
#include <kprof/report/text/format.hpp>
#include <kprof/status.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

KPROF_DETAIL_BEGIN
namespace detail {

/// Text of the user for an error line.
[[gnu::cold]] inline std::string shown(std::string_view text) { return printable(text, 60); }

/// What a text means as the value of an option.
struct option_reading {
  bool valid = false;  ///< `value` can be used, also where there is a complaint
  option_value value{};
  std::string complaint{};
};

inline bool read_flag(std::string_view text, bool& on) noexcept {
  on = text.empty() || text == "on" || text == "1" || text == "true";
  return on || text == "off" || text == "0" || text == "false";
}

/// Reads the digits at the front of `text`, and removes them. False without any, or above 10^18.
inline bool read_digits(std::string_view& text, std::uint64_t& n) noexcept {
  const std::size_t before = text.size();
  for (n = 0; !text.empty() && text[0] >= '0' && text[0] <= '9'; text.remove_prefix(1)) {
    if (n > 100'000'000'000'000'000U) return false;
    n = n * 10 + static_cast<std::uint64_t>(text[0] - '0');
  }
  return text.size() < before;
}

inline bool read_size(std::string_view text, std::uint64_t& bytes) noexcept {
  if (!read_digits(text, bytes)) return false;
  unsigned shift = 0;
  if (text == "K" || text == "KiB") shift = 10;
  else if (text == "M" || text == "MiB") shift = 20;
  else if (text == "G" || text == "GiB") shift = 30;
  else if (!text.empty() && text != "B") return false;
  if (bytes > (std::uint64_t{1} << 46U >> shift)) return false;
  bytes <<= shift;
  return true;
}

/// Calls see(word) for each word of a list such as "auto|on|off", until it returns true.
template <class See>
bool any_word(std::string_view list, See see) {
  for (;;) {
    const std::size_t end = list.find('|');
    if (see(list.substr(0, end))) return true;
    if (end == std::string_view::npos) return false;
    list.remove_prefix(end + 1);
  }
}

/// The place of the word in the list; a flag's other spellings are known where it has on and off.
inline bool read_choice(std::string_view text, std::string_view list, std::uint64_t& place) {
  const auto is_listed = [&](std::string_view wanted) {
    place = 0;
    return any_word(list,
                    [&](std::string_view word) { return word == wanted || (++place, false); });
  };
  bool on = false;
  return is_listed(text) || (read_flag(text, on) && is_listed(on ? "on" : "off"));
}

/// Whether the option's name alone, without a value, is right.
inline bool needs_no_value(const option& of) {
  std::uint64_t place = 0;
  return of.kind == option_kind::flag ||
         (of.kind == option_kind::choice && read_choice({}, of.form, place));
}

/// "cupti=auto, cupti=on, cupti=off".
[[gnu::cold]] inline std::string valid_values(const option& of) {
  std::string out;
  any_word(of.kind == option_kind::flag ? "on|off" : of.form, [&](std::string_view word) {
    out.append(out.empty() ? "" : ", ").append(of.name).append("=").append(word);
    return false;
  });
  return out;
}

/// "width=COLUMNS", as lists of valid options show it.
[[gnu::cold]] inline std::string usage(const option& of) {
  if (of.kind == option_kind::mark) return of.name;
  if (of.form[0] == '(') return std::string{of.name} + of.form;
  return std::string{of.name} + '=' + (of.kind == option_kind::flag ? "on|off" : of.form);
}

inline bool read_number(const option& of, std::string_view text, std::uint64_t& n) noexcept {
  return read_digits(text, n) && text.empty() && n >= of.least && n <= of.most;
}

/// "1 MiB", "1000 B".
[[gnu::cold]] inline std::string exact_size(std::uint64_t bytes) {
  return bytes % 1048576 == 0 ? std::to_string(bytes / 1048576) + " MiB"
                              : std::to_string(bytes) + " B";
}

[[gnu::cold]] inline std::string unreadable(const option& of, const std::string& written) {
  switch (of.kind) {
    case option_kind::number:
      return shown(written) + " is no number from " + std::to_string(of.least) + " to " +
             std::to_string(of.most);
    case option_kind::size:
      return shown(written) + " is no size; write it like " + of.name + "=64MiB (KiB, MiB, GiB)";
    default: return shown(written) + " is unknown; valid: " + valid_values(of);
  }
}

inline bool read_by_kind(const option& of, const std::string& text, option_value& value) {
  switch (of.kind) {
    case option_kind::mark: return text.empty() && read_choice(of.fallback, "off|on", value.number);
    case option_kind::flag: return read_choice(text, "off|on", value.number);
    case option_kind::number: return read_number(of, text, value.number);
    case option_kind::size: return read_size(text, value.number);
    case option_kind::choice: return read_choice(text, of.form, value.number);
    default: return true;
  }
}

inline option_reading read_option(const option& of, const std::string& text) {
  option_reading out{.value = {.of = &of, .text = text}};
  const std::string written = std::string{of.name} + '=' + text;
  out.valid = read_by_kind(of, text, out.value);
  if (!out.valid) {
    out.complaint = unreadable(of, written);
  } else if (of.kind == option_kind::size && out.value.number < of.least) {
    out.value.number = of.least;
    out.complaint = shown(written) + " is too small to work with; the smallest, " +
                    exact_size(of.least) + ", is used";
  } else if (of.validate != nullptr) {
    out.complaint = of.validate(out.value).message;
    out.valid = out.complaint.empty();
  }
  return out;
}

/// Of a list with mistakes those words that are right, where they hold by themselves; else empty.
[[gnu::cold]] inline std::string right_words(const option& of, const std::string& text) {
  std::string out;
  if (!of.by_words || of.validate == nullptr) return out;
  for (const std::string& word : option_value{.of = &of, .text = text}.words())
    if (!word.empty() && of.validate({.of = &of, .text = word}).ok())
      out.append(out.empty() ? "" : "+").append(word);
  return out;
}

/// The value that an option has where none is given; its table says it, and says it right.
inline option_value default_of(const option& of) {
  option_value out{.of = &of, .text = of.fallback};
  if (of.kind != option_kind::mark) read_by_kind(of, out.text, out);
  return out;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
