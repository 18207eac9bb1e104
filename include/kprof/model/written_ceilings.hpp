// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_WRITTEN_CEILINGS_HPP
#define KPROF_MODEL_WRITTEN_CEILINGS_HPP

// Ceilings that were written down: by a person, and by kprof after it measured. Writes them, and
// puts those of a person over those that were measured. ceilings_text.hpp reads them. Pure.

#include <kprof/build_options.hpp>
#include <kprof/declare/dtype.hpp>
#include <kprof/model/names.hpp>
#include <kprof/profile/ceilings.hpp>
#include <kprof/write/printable.hpp>

#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// What a text says. GPUs are those that it names, in its order.
struct written_ceilings {
  machine_ceilings value;
  std::string machine;                // of a measurement: all that it holds for
  std::string date;                   // of a measurement
  std::vector<std::string> mistakes;  // a line each, fit to print
};

/// Whether a machine can have this rate: what is not above 0 is no rate, and what is above 10^24 a
/// second overflows in sums.
inline bool is_rate(double rate) noexcept { return rate > 0 && rate < 1e24; }

inline constexpr const char* memory_levels[] = {"L1", "L2", "L3", "L4", "DRAM"};

[[gnu::cold]] inline arithmetic_ceiling& entry_of(cpu_ceilings& c, dtype type) {
  for (arithmetic_ceiling& a : c.arithmetic)
    if (a.type == type) return a;
  arithmetic_ceiling& added = c.arithmetic.emplace_back();
  added.type = type;
  return added;
}
[[gnu::cold]] inline memory_ceiling& entry_of(cpu_ceilings& c, std::string_view level) {
  for (memory_ceiling& m : c.memory)
    if (m.level == level) return m;
  memory_ceiling& added = c.memory.emplace_back();
  added.level = level;
  return added;
}

/// What read_ceilings() reads back to six digits: the processors' ceilings, and before them the
/// lines of `head`, each with its end.
[[gnu::cold]] inline std::string write_ceilings(const cpu_ceilings& cpu, std::string head) {
  std::string& out = head;
  const auto put = [&out](const char* word, double number) {
    char text[40];
    const auto [end, error] =
        std::to_chars(text, text + sizeof text, number, std::chars_format::general, 6);
    out.append(word).append(text, static_cast<std::size_t>(end - text));
  };
  const auto put_rates = [&](const std::string& key, const rate_ceiling& rate, const char* unit) {
    if (!is_rate(rate.one_thread) && !is_rate(rate.all_threads)) return;
    out.append(key).append(rate.is_lower_bound ? " = >=" : " =");
    for (const double r : {rate.one_thread, rate.all_threads})
      if (is_rate(r)) put(" ", r / 1e9);
      else out += " -";
    out.append(unit);
  };
  if (!cpu.model.empty()) out.append("processor = ").append(one_line(cpu.model)).append("\n");
  if (cpu.threads != 0) out.append("threads = ").append(std::to_string(cpu.threads)).append("\n");
  if (is_rate(cpu.clock_hz)) {
    put("clock = ", cpu.clock_hz / 1e9);
    out += " GHz\n";
  }
  for (const arithmetic_ceiling& a : cpu.arithmetic) {
    const std::string name = dtype_name(a.type);
    put_rates(name, a.operations, " GFLOP/s\n");
    if (!a.instructions.empty())
      out.append(name).append(".instructions = ").append(one_line(a.instructions)).append("\n");
  }
  for (const memory_ceiling& m : cpu.memory) {
    const std::string level = one_line(m.level);
    if (m.bytes != 0)
      out.append(level).append(".size = ").append(std::to_string(m.bytes)).append(" B\n");
    put_rates(level + ".read", m.read, " GB/s\n");
    put_rates(level + ".triad", m.triad, " GB/s\n");
  }
  for (const std::string& note : cpu.notes)
    out.append("note = ").append(one_line(note)).append("\n");
  return head;
}

/// Whether a person's ceilings say anything.
[[gnu::cold]] inline bool says_something(const machine_ceilings& m) noexcept {
  return !m.cpu.arithmetic.empty() || !m.cpu.memory.empty() || !m.gpus.empty() ||
         is_rate(m.cpu.clock_hz) || m.cpu.threads != 0;
}

[[gnu::cold]] inline void put_rate_over(rate_ceiling& to, const rate_ceiling& from) {
  if (is_rate(from.one_thread)) to.one_thread = from.one_thread;
  if (is_rate(from.all_threads)) to.all_threads = from.all_threads;
  if (is_rate(from.one_thread) || is_rate(from.all_threads))
    to.is_lower_bound = from.is_lower_bound;
}

/// Each ceiling that `from` has replaces that of `to`.
[[gnu::cold]] inline void put_over(cpu_ceilings& to, const cpu_ceilings& from) {
  if (is_rate(from.clock_hz)) to.clock_hz = from.clock_hz;
  for (const arithmetic_ceiling& a : from.arithmetic) {
    arithmetic_ceiling& entry = entry_of(to, a.type);
    put_rate_over(entry.operations, a.operations);
    entry.instructions = a.instructions;
  }
  for (const memory_ceiling& m : from.memory) {
    memory_ceiling& entry = entry_of(to, m.level);
    if (m.bytes != 0) entry.bytes = m.bytes;
    put_rate_over(entry.read, m.read);
    put_rate_over(entry.triad, m.triad);
  }
}
[[gnu::cold]] inline void put_over(gpu_ceilings& to, const gpu_ceilings& from) {
  for (const gpu_arithmetic_ceiling& a : from.arithmetic) {
    if (!is_rate(a.operations)) continue;
    bool is_known = false;
    for (gpu_arithmetic_ceiling& old : to.arithmetic) {
      if (old.type != a.type || old.on != a.on || (a.sums != dtype::unknown && a.sums != old.sums))
        continue;
      if (old.operations > 0) old.sparse_operations *= a.operations / old.operations;
      old.operations = a.operations;
      old.clock_hz = a.clock_hz;
      old.source = a.source;
      is_known = true;
    }
    if (!is_known) to.arithmetic.push_back(a);
  }
  if (is_rate(from.memory_bytes)) to.memory_bytes = from.memory_bytes;
  if (is_rate(from.l2_bytes)) to.l2_bytes = from.l2_bytes;
  if (is_rate(from.shared_bytes)) to.shared_bytes = from.shared_bytes;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
