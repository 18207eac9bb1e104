// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_COMPARE_RUN_DIFFERENCES_HPP
#define KPROF_MODEL_COMPARE_RUN_DIFFERENCES_HPP

// Whether two sets of runs are of the same program on the same machine, and in which order they
// were made. Included by compare.hpp. Pure.

#include <kprof/build_options.hpp>
#include <kprof/model/compare/compared_run.hpp>
#include <kprof/model/compare/comparison.hpp>
#include <kprof/model/names.hpp>
#include <kprof/model/number_text.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

[[gnu::cold]] inline run_order order_of_runs(const std::vector<compared_run>& before,
                                             const std::vector<compared_run>& after) {
  std::uint64_t first[2] = {~0ULL, ~0ULL}, last[2] = {0, 0};
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}})
    for (const compared_run& run : side == 0 ? before : after) {
      if (run.start_realtime_ns == 0) return run_order::unknown;
      first[side] = std::min(first[side], run.start_realtime_ns);
      last[side] = std::max(last[side], run.start_realtime_ns);
    }
  return last[0] < first[1] || last[1] < first[0] ? run_order::apart : run_order::interleaved;
}

/// Ceilings are measured anew now and then, and differ by some percent.
inline constexpr double same_ceiling = 0.05;

/// A highest rate of a machine by its name.
using named_rate = std::pair<std::string, double>;

[[gnu::cold]] inline std::vector<named_rate> highest_rates(const machine_ceilings& m) {
  std::vector<named_rate> out;
  const auto add = [&](const std::string& name, double rate) {
    if (rate > 0) out.emplace_back(name, rate);
  };
  for (const gpu_ceilings& gpu : m.gpus) {
    for (const gpu_arithmetic_ceiling& a : gpu.arithmetic)
      if (a.on != arithmetic_unit::tensor_core || a.sums == dtype::f32)
        add(std::string{dtype_name(a.type)} + " of " + gpu.device +
                (a.on == arithmetic_unit::tensor_core ? ", tensor cores" : ""),
            a.operations);
    add("memory of " + gpu.device, gpu.memory_bytes);
  }
  for (const arithmetic_ceiling& a : m.cpu.arithmetic)
    add(std::string{dtype_name(a.type)} + " of a thread", a.operations.one_thread);
  for (const memory_ceiling& level : m.cpu.memory)
    add(level.level + " of a thread", level.read.one_thread);
  return out;
}

/// Texts that a side's runs have, each once.
template <class Text>
std::vector<std::string> texts_of_runs(const std::vector<compared_run>& side, Text text_of) {
  std::vector<std::string> texts;
  for (const compared_run& run : side)
    if (std::string text = text_of(run); std::find(texts.begin(), texts.end(), text) == texts.end())
      texts.push_back(std::move(text));
  std::sort(texts.begin(), texts.end());
  return texts;
}
/// "4", or "4 or 8".
[[gnu::cold]] inline std::string joined_by_or(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += (out.empty() ? "" : " or ") + text;
  return out;
}

/// The ceilings that differ most between the first runs of both sides; none where either knows none
/// of them.
[[gnu::cold]] inline void add_ceiling_difference(const compared_run& before,
                                                 const compared_run& after,
                                                 std::vector<run_difference>& out) {
  const std::vector<named_rate> first = highest_rates(before.machine),
                                second = highest_rates(after.machine);
  double most = same_ceiling;
  run_difference found;
  for (const named_rate& a : first)
    for (const named_rate& b : second)
      if (a.first == b.first && std::fabs(std::log(b.second / a.second)) > most) {
        most = std::fabs(std::log(b.second / a.second));
        found = {"ceiling, " + a.first, format_si(a.second, "/s"), format_si(b.second, "/s")};
      }
  if (!found.what.empty()) out.push_back(std::move(found));
}

[[gnu::cold]] inline std::vector<run_difference> differences_of_runs(
    const std::vector<compared_run>& before, const std::vector<compared_run>& after) {
  std::vector<run_difference> out;
  // Runs of one side that differ in it spoil the comparison too.
  const auto look_at = [&](const char* what, const auto& text_of) {
    const std::vector<std::string> first = texts_of_runs(before, text_of),
                                   second = texts_of_runs(after, text_of);
    if (first != second || first.size() > 1)
      out.push_back({what, joined_by_or(first), joined_by_or(second)});
  };
  const auto or_unknown = [](std::string text) {
    return text.empty() ? std::string{"not known"} : text;
  };
  look_at("program", [&](const compared_run& run) { return or_unknown(run.program); });
  look_at("processor", [&](const compared_run& run) { return or_unknown(run.machine.cpu.model); });
  look_at("CPUs allowed", [&](const compared_run& run) {
    return run.cpus > 0 ? format_count(run.cpus) : std::string{"not known"};
  });
  look_at("GPUs", [](const compared_run& run) {
    std::string names;
    for (const std::string& name : run.gpus) names += (names.empty() ? "" : ", ") + name;
    return names.empty() ? std::string{"none"} : names;
  });
  if (!before.empty() && !after.empty()) add_ceiling_difference(before[0], after[0], out);
  return out;
}

}  // namespace detail

/// Where a run is given twice, on one side or on both: its number among those before, then those
/// after, and that of the run it is the same as; else nothing.
struct repeated_run {
  bool found = false;
  std::size_t first = 0, second = 0;
};
/// The same run counted twice would look like a run without noise.
[[gnu::cold]] inline repeated_run find_repeated_run(const std::vector<compared_run>& before,
                                                    const std::vector<compared_run>& after) {
  std::vector<const compared_run*> all;
  for (const auto* side : {&before, &after})
    for (const compared_run& run : *side) all.push_back(&run);
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (all[i]->start_realtime_ns != 0 && all[i]->ns == all[j]->ns &&
          all[i]->start_realtime_ns == all[j]->start_realtime_ns)
        return {true, j, i};
  return {};
}

KPROF_DETAIL_END

#endif
