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

// nvcc writes a member of this type with parentheses that g++ warns about.
using gpu_number_member = double gpu_ceilings::*;
/// What is said of a GPU in one number: "gpu.memory".
struct gpu_number {
  std::string_view key;
  gpu_number_member to;
  bool is_clock = false;
};
inline constexpr gpu_number gpu_numbers[] = {{"memory", &gpu_ceilings::memory_bytes},
                                             {"l2", &gpu_ceilings::l2_bytes},
                                             {"shared", &gpu_ceilings::shared_bytes},
                                             {"to_device", &gpu_ceilings::to_device_bytes},
                                             {"from_device", &gpu_ceilings::from_device_bytes},
                                             {"clock", &gpu_ceilings::measured_clock_hz, true}};

/// "118.1", six digits at most, behind a word.
[[gnu::cold]] inline void put_number(std::string& out, const char* word, double number) {
  char text[40];
  const auto [end, error] =
      std::to_chars(text, text + sizeof text, number, std::chars_format::general, 6);
  out.append(word).append(text, static_cast<std::size_t>(end - text));
}

/// What read_ceilings() reads back to six digits: the ceilings of a GPU, behind lines of `head`.
[[gnu::cold]] inline std::string write_gpu_ceilings(const gpu_ceilings& gpu, std::string head) {
  std::string& out = head;
  out.append("gpu = ").append(one_line(gpu.device)).append("\n");
  for (const gpu_arithmetic_ceiling& a : gpu.arithmetic) {
    if (!is_rate(a.operations)) continue;
    out.append("gpu.").append(dtype_name(a.type));
    if (a.on == arithmetic_unit::tensor_core) out += ".tensor";
    if (a.sums != dtype::unknown) out.append(".").append(dtype_name(a.sums));
    put_number(out, " = ", a.operations / 1e9);
    out += " GFLOP/s\n";
  }
  for (const gpu_number& n : gpu_numbers) {
    if (!is_rate(gpu.*n.to)) continue;
    out.append("gpu.").append(n.key);
    put_number(out, " = ", gpu.*n.to / 1e9);
    out += n.is_clock ? " GHz\n" : " GB/s\n";
  }
  for (const std::string& note : gpu.notes)
    out.append("note = ").append(one_line(note)).append("\n");
  return head;
}

/// What read_ceilings() reads back to six digits: the processors' ceilings, and before them the
/// lines of `head`, each with its end.
[[gnu::cold]] inline std::string write_ceilings(const cpu_ceilings& cpu, std::string head) {
  std::string& out = head;
  const auto put_rates = [&](const std::string& key, const rate_ceiling& rate, const char* unit) {
    if (!is_rate(rate.one_thread) && !is_rate(rate.all_threads)) return;
    out.append(key).append(rate.is_lower_bound ? " = >=" : " =");
    for (const double r : {rate.one_thread, rate.all_threads})
      if (is_rate(r)) put_number(out, " ", r / 1e9);
      else out += " -";
    out.append(unit);
  };
  if (!cpu.model.empty()) out.append("processor = ").append(one_line(cpu.model)).append("\n");
  if (cpu.threads != 0) out.append("threads = ").append(std::to_string(cpu.threads)).append("\n");
  if (is_rate(cpu.clock_hz)) {
    put_number(out, "clock = ", cpu.clock_hz / 1e9);
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
    if (m.sharers > 1)
      out.append(level).append(".sharers = ").append(std::to_string(m.sharers)).append("\n");
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

/// Whether nothing of `old` is left when `from` is put over it.
[[gnu::cold]] inline bool gives_all_of(const cpu_ceilings& from, const cpu_ceilings& old) {
  const auto gives = [](const rate_ceiling& a, const rate_ceiling& b) {
    return (is_rate(a.one_thread) || !is_rate(b.one_thread)) &&
           (is_rate(a.all_threads) || !is_rate(b.all_threads));
  };
  cpu_ceilings by_name = from;  // entry_of() adds what is not there
  for (const arithmetic_ceiling& a : old.arithmetic)
    if (!gives(entry_of(by_name, a.type).operations, a.operations)) return false;
  for (const memory_ceiling& m : old.memory) {
    const memory_ceiling& given = entry_of(by_name, m.level);
    if (!gives(given.read, m.read) || !gives(given.triad, m.triad)) return false;
  }
  return true;
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
    if (m.bytes != 0) entry.bytes = m.bytes, entry.sharers = m.sharers;
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
      old.table_operations = 0;
      old.clock_hz = a.clock_hz;
      old.source = a.source;
      is_known = true;
    }
    if (!is_known) to.arithmetic.push_back(a);
  }
  if (is_rate(from.memory_bytes)) to.memory_bytes = from.memory_bytes, to.table_memory_bytes = 0;
  if (is_rate(from.l2_bytes)) to.l2_bytes = from.l2_bytes, to.table_l2_bytes = 0;
  if (is_rate(from.shared_bytes)) to.shared_bytes = from.shared_bytes;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
