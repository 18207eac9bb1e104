// SPDX-License-Identifier: MIT
// The table that `kprof ceilings` prints.

#include "ceilings.hpp"

#include <kprof/model/names.hpp>
#include <kprof/write/printable.hpp>

#include <cstdio>
#include <string>

namespace kprof_tool {
namespace {

/// Giga a second, with four digits; n/a where it is not known.
std::string number(double per_second, bool is_lower_bound) {
  if (!(per_second > 0)) return "n/a";
  const double giga = per_second / 1e9;
  char text[32];
  std::snprintf(text, sizeof text, "%s%.*f", is_lower_bound ? ">= " : "",
                giga < 10     ? 2
                : giga < 1000 ? 1
                              : 0,
                giga);
  return text;
}

std::string line(const std::string& what, const kprof::rate_ceiling& rate, bool has_threads,
                 const std::string& unit, const std::string& how) {
  char text[160];
  const std::string one = number(rate.one_thread, rate.is_lower_bound);
  const std::string all = has_threads ? number(rate.all_threads, rate.is_lower_bound) : "";
  std::snprintf(text, sizeof text, "%-10s %12s %*s  %-7s %s\n", what.c_str(), one.c_str(),
                has_threads ? 12 : 0, all.c_str(), unit.c_str(), how.c_str());
  return text;
}

std::string size_of_cache(std::uint64_t bytes) {
  const bool is_mib = bytes >= (std::uint64_t{1} << 20U);
  return std::to_string(bytes >> (is_mib ? 20U : 10U)) + (is_mib ? " MiB" : " KiB");
}

bool is_integer(kprof::dtype type) {
  return type >= kprof::dtype::int64 && type <= kprof::dtype::boolean;
}

}  // namespace

std::string ceilings_table(const kprof::cpu_ceilings& c, double seconds) {
  const bool has_threads = c.threads > 1;
  char head[160];
  std::snprintf(head, sizeof head, ", %u thread%s, %.2f GHz, measured in %.2f s\n\n", c.threads,
                has_threads ? "s" : "", c.clock_hz / 1e9, seconds);
  std::string text =
      kprof::detail::one_line(c.model.empty() ? "unknown processor" : c.model) + head;
  std::snprintf(head, sizeof head, "%-10s %12s %*s\n", "", "1 thread", has_threads ? 12 : 0,
                has_threads ? (std::to_string(c.threads) + " threads").c_str() : "");
  text += head;
  for (const kprof::arithmetic_ceiling& a : c.arithmetic)
    text += line(kprof::detail::dtype_name(a.type), a.operations, has_threads,
                 is_integer(a.type) ? "GOP/s" : "GFLOP/s", a.instructions);
  for (const kprof::memory_ceiling& m : c.memory) {
    const std::string name = m.bytes == 0 ? m.level : m.level + ' ' + size_of_cache(m.bytes);
    text += line(name, m.read, has_threads, "GB/s", "read");
    text += line("", m.triad, has_threads, "GB/s", "triad: a[i] = b[i] + s c[i]");
  }
  for (const std::string& note : c.notes) text += "note: " + kprof::detail::one_line(note) + '\n';
  return text;
}

}  // namespace kprof_tool
