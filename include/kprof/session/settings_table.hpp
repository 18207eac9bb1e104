// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_SETTINGS_TABLE_HPP
#define KPROF_SESSION_SETTINGS_TABLE_HPP

// The settings that are not outputs, a line each: what the parser accepts, what its error lines
// list, and what settings.hpp and the documentation print. Included by the parser.

#include <kprof/build_options.hpp>
#include <kprof/declare/dtype.hpp>
#include <kprof/report/option.hpp>
#include <kprof/session/settings_value.hpp>
#include <kprof/status.hpp>

#include <charconv>
#include <cstdint>
#include <string_view>
#include <system_error>

KPROF_DETAIL_BEGIN
namespace detail {

inline status validate_ceilings(const option_value& value) {
  if (!value.text.empty()) return {};
  return {"ceilings= says nothing; valid: auto, cache, measure, off, or the path of a file"};
}

inline status validate_step(const option_value& value) {
  if (!value.text.empty()) return {};
  return {
      "step= names no region; write the name of a region that is one step, as in "
      "step=iteration"};
}
inline status validate_schedule(const option_value& value) {
  return step_schedule::parse(value.text).error;
}

/// "all" or a number from 1 on; 0 for anything else.
inline std::uint32_t threads_in(std::string_view text) noexcept {
  if (text == "all") return all_cpus;
  std::uint32_t n = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), n);
  return read.ec == std::errc{} && read.ptr == text.data() + text.size() ? n : 0;
}
inline status validate_threads(const option_value& value) {
  if (threads_in(value.text) != 0) return {};
  return {"threads= is a number from 1 on, or all, for as many as the process may use CPUs"};
}

inline constexpr option settings_table[] = {
    {.name = "on",
     .kind = option_kind::mark,
     .fallback = "on",
     .meaning = "record from the first scope (the default)",
     .store = &store_member<&settings::enabled>},
    {.name = "off",
     .kind = option_kind::mark,
     .fallback = "off",
     .meaning = "do nothing at all",
     .store = &store_member<&settings::enabled>},
    {.name = "nvtx",
     .kind = option_kind::flag,
     .fallback = "on",
     .meaning = "send scopes to an attached NVTX tool",
     .store = &store_member<&settings::nvtx>},
    {.name = "memory",
     .kind = option_kind::size,
     .form = "SIZE",
     .fallback = "64MiB",
     .least = settings::smallest_memory,
     .meaning = "bound of the memory for logs and totals: a number and KiB, MiB or GiB; 1 MiB at "
                "least",
     .store = &store_member<&settings::memory>},
    {.name = "cupti",
     .kind = option_kind::choice,
     .form = "auto|on|off",
     .fallback = "auto",
     .meaning = "attribute the GPU's work to operators: where the program is found to use CUDA, "
                "always, or never",
     .store = &store_member<&settings::cupti>},
    {.name = "device_timeline",
     .kind = option_kind::flag,
     .fallback = "on",
     .meaning = "note when devices worked, and which functions of CUDA's libraries took how long",
     .store = &store_member<&settings::device_timeline>},
    {.name = "clock",
     .kind = option_kind::choice,
     .form = "auto|system",
     .fallback = "auto",
     .meaning = "time with the CPU's counter where it is reliable, or always with clock_gettime",
     .store = &store_member<&settings::clock>},
    {.name = "ceilings",
     .kind = option_kind::text,
     .form = "auto|cache|measure|off|FILE",
     .fallback = "auto",
     .meaning = "what the processors reach: as measured earlier, or measured once by the first "
                "report; as measured earlier only; measured anew, and GPUs too; not known; as a "
                "file says",
     .validate = &validate_ceilings,
     .store = &store_member<&settings::ceilings>},
    {.name = "step",
     .kind = option_kind::text,
     .form = "REGION",
     .meaning = "regions of this name are the steps of the program; else what it says with "
                "kprof::step()",
     .validate = &validate_step,
     .store = &store_member<&settings::step>},
    {.name = "schedule",
     .kind = option_kind::text,
     .form = "(skip=N,wait=N,warmup=N,active=N,repeat=N)",
     .meaning = "record some of the steps that kprof::step() begins: pass over `skip` of them, "
                "then, in each of `repeat` cycles (0: until the end), rest for `wait`, record and "
                "forget `warmup`, and record `active`",
     .validate = &validate_schedule,
     .store = &store_member<&settings::schedule>},
    {.name = "threads",
     .kind = option_kind::text,
     .form = "N|all",
     .meaning = "threads that work in a call of an operator that does not say, as where a library "
                "shares its work; all: as many as the process may use CPUs",
     .validate = &validate_threads,
     .store =
         [](void* into, const option_value& value) {
           static_cast<settings*>(into)->threads = threads_in(value.text);
         }},
    {.name = "signals",
     .kind = option_kind::flag,
     .fallback = "on",
     .meaning = "write the outputs also when SIGINT, SIGTERM or SIGHUP ends the program, or "
                "std::terminate() does",
     .store = &store_member<&settings::signals>},
    {.name = "verbose",
     .kind = option_kind::text,
     .form = "on|off|FILE",
     .fallback = "off",
     .meaning = "print a line for each call of an operator soon after it ends, on standard error "
                "or into a file",
     .store = &store_member<&settings::verbose>},
};

}  // namespace detail
KPROF_DETAIL_END

#endif
