// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_COMPARED_RUNS_HPP
#define KPROF_TESTS_COMPARED_RUNS_HPP

// Runs to compare, from the times of their rows.

#include <kprof/model/compare.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace kprof_test {

/// A row of all runs of a side: its time of a call in each run, in microseconds.
struct row_times {
  std::string name;
  std::vector<double> us;
  std::uint64_t calls = 100;
};

/// A run for each time of the rows, which have as many. Both median and mean are that time; the key
/// is made of the name.
inline std::vector<kprof::compared_run> runs_of(const std::vector<row_times>& rows) {
  std::vector<kprof::compared_run> runs(rows.empty() ? 0 : rows[0].us.size());
  for (std::size_t r = 0; r < runs.size(); ++r) {
    for (const row_times& row : rows) {
      kprof::compared_row out;
      out.key = std::hash<std::string>{}(row.name);
      out.name = row.name;
      out.calls = row.calls;
      out.call_ns.value = out.mean_ns.value = 1e3 * row.us[r];
      out.time_ns = out.call_ns.value * static_cast<double>(row.calls);
      out.flops.value = out.bytes.value = 1000;
      runs[r].ns += out.time_ns;
      runs[r].rows.push_back(out);
    }
    for (kprof::compared_row& row : runs[r].rows) row.share = row.time_ns / runs[r].ns;
    runs[r].program = "program";
  }
  return runs;
}

}  // namespace kprof_test

#endif
