// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_STEP_SCHEDULE_HPP
#define KPROF_SESSION_STEP_SCHEDULE_HPP

// Which steps of a program are recorded: `skip` steps are passed over once, and then cycles of
// `wait` steps without recording, `warmup` steps whose recording is forgotten and `active` steps
// that count follow each other, as in PyTorch's profiler. Included by settings.hpp. Pure.

#include <kprof/build_options.hpp>
#include <kprof/status.hpp>
#include <kprof/write/printable.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

KPROF_DETAIL_BEGIN

struct parsed_step_schedule;

/// Counts of steps. The step that runs when the recording begins is number 0, and each call of
/// kprof::step() begins the next one.
///     kprof::set_schedule({.wait = 1, .warmup = 1, .active = 3, .repeat = 2});
struct step_schedule {
  std::uint32_t skip = 0;    ///< not recorded, once
  std::uint32_t wait = 0;    ///< not recorded, in each cycle
  std::uint32_t warmup = 0;  ///< recorded and forgotten
  std::uint32_t active = 0;  ///< recorded; 0: there is no schedule, every step counts
  std::uint32_t repeat = 0;  ///< cycles; 0: until the program ends

  /// Whether there is a schedule.
  constexpr bool is_on() const noexcept { return active != 0; }

  /// Reads "skip=1,wait=1,warmup=1,active=3,repeat=1", each count once and in any order.
  static parsed_step_schedule parse(std::string_view text);

  friend bool operator==(const step_schedule&, const step_schedule&) = default;
};

/// A schedule, or what is wrong with its text; there is none then.
struct parsed_step_schedule {
  step_schedule value{};
  status error{};
};

namespace detail {

/// What is done with a step.
enum class step_action : std::uint8_t {
  nothing,
  warm_up,
  record,
  record_last,  // of a cycle
};

/// How many steps of its cycle come before this one, which is no step of `skip`.
constexpr std::uint64_t place_in_cycle(const step_schedule& s, std::uint64_t step) noexcept {
  return (step - s.skip) % (std::uint64_t{s.wait} + s.warmup + s.active);
}

constexpr step_action action_of(const step_schedule& s, std::uint64_t step) noexcept {
  if (!s.is_on()) return step_action::record;
  if (step < s.skip) return step_action::nothing;
  const std::uint64_t idle = s.wait, warm = idle + s.warmup, cycle = warm + s.active,
                      done = step - s.skip, place = place_in_cycle(s, step);
  if (s.repeat != 0 && done / cycle >= s.repeat) return step_action::nothing;
  if (place < idle) return step_action::nothing;
  if (place < warm) return step_action::warm_up;
  return place + 1 < cycle ? step_action::record : step_action::record_last;
}

/// The cycle that a step is in, from 1; behind the last one that one.
constexpr std::uint64_t cycle_of(const step_schedule& s, std::uint64_t step) noexcept {
  if (step < s.skip) return 1;
  const std::uint64_t number = 1 + (step - s.skip) / (std::uint64_t{s.wait} + s.warmup + s.active);
  return s.repeat != 0 && number > s.repeat ? s.repeat : number;
}

using schedule_count = std::uint32_t step_schedule::*;  // named: nvcc writes it with parentheses
struct schedule_word {
  const char* name;
  schedule_count count;
};
inline constexpr schedule_word schedule_words[] = {{"skip", &step_schedule::skip},
                                                   {"wait", &step_schedule::wait},
                                                   {"warmup", &step_schedule::warmup},
                                                   {"active", &step_schedule::active},
                                                   {"repeat", &step_schedule::repeat}};
inline constexpr std::uint32_t most_scheduled_steps = 1'000'000'000;

/// What is wrong with a schedule that somebody wants.
[[gnu::cold]] inline status check_schedule(const step_schedule& s) {
  if (!s.is_on())
    return {
        "a schedule with active=0 records no step; give the steps to record, as in "
        "schedule(wait=1,warmup=1,active=3)"};
  for (const schedule_word& w : schedule_words)
    if (s.*w.count > most_scheduled_steps)
      return {std::string{w.name} + '=' + std::to_string(s.*w.count) + " is no number from 0 to " +
              std::to_string(most_scheduled_steps)};
  return {};
}

/// One "wait=1"; false where it is none.
[[gnu::cold]] inline bool read_scheduled(std::string_view text, std::uint32_t& seen,
                                         step_schedule& into) {
  const auto without_spaces = [](std::string_view t) {
    while (!t.empty() && t.front() == ' ') t.remove_prefix(1);
    while (!t.empty() && t.back() == ' ') t.remove_suffix(1);
    return t;
  };
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return false;
  const std::string_view name = without_spaces(text.substr(0, equals)),
                         digits = without_spaces(text.substr(equals + 1));
  std::uint64_t number = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return false;
    number = number * 10 + static_cast<std::uint64_t>(c - '0');
    if (number > most_scheduled_steps) return false;
  }
  for (std::uint32_t i = 0; i < std::size(schedule_words); ++i)
    if (name == schedule_words[i].name && (seen >> i & 1U) == 0 && !digits.empty()) {
      seen |= 1U << i;
      into.*schedule_words[i].count = static_cast<std::uint32_t>(number);
      return true;
    }
  return false;
}

}  // namespace detail

[[gnu::cold]] inline parsed_step_schedule step_schedule::parse(std::string_view text) {
  parsed_step_schedule out;
  std::uint32_t seen = 0;
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    const std::string_view word = rest.substr(0, comma);
    if (!detail::read_scheduled(word, seen, out.value)) {
      out.error.message = "schedule(" + detail::printable(text, 60) + "): \"" +
                          detail::printable(word, 40) +
                          "\" is none of skip=N, wait=N, warmup=N, active=N and repeat=N, each "
                          "once, with N from 0 to " +
                          std::to_string(detail::most_scheduled_steps);
      break;
    }
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  if (out.error) out.error = detail::check_schedule(out.value);
  if (!out.error) out.value = {};
  return out;
}

KPROF_DETAIL_END

#endif
