// SPDX-License-Identifier: MIT
#include "query_answer.hpp"

#include <kprof/model/kernel_table.hpp>
#include <kprof/model/outside_scopes.hpp>
#include <kprof/model/row_keys.hpp>
#include <kprof/model/summary.hpp>
#include <kprof/report/text/footer.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kprof_tool {
namespace {

/// Keys of rows that are faster than the machine can be.
struct impossible_rows {
  std::vector<std::string> keys;

  template <class Row>
  void look_at(const std::vector<Row>& table) {
    for (const Row& row : table)
      if (row.verdict.bound == kprof::bound_by::impossible)
        keys.push_back(json_quoted(kprof::row_key_text(row.key)));
  }
};

void add_problems(const std::vector<kprof::detail::oddity>& found, const char* of,
                  std::vector<std::string>& problems) {
  for (const kprof::detail::oddity& o : found) {
    if (o.count == 0 || o.harmless) continue;
    json_object problem;
    problem.text("of", of);
    problem.text("what", o.what);
    problem.integer("count", o.count);
    problem.text("meaning", o.meaning);
    problems.push_back(problem.whole());
  }
}

/// Time of threads outside all scopes, and its share of their whole time.
void add_outside(const kprof::profile& run, json_object& trust) {
  const kprof::detail::time_of_threads threads = kprof::detail::time_of_threads_in(run);
  if (threads.wall_ns > 0) {
    trust.number("outside_ns", threads.outside_ns);
    trust.number("outside_share", threads.outside_ns / threads.wall_ns);
  } else {
    trust.unknown("outside_ns", "the profile does not say how long threads ran");
    trust.unknown("outside_share", "the profile does not say how long threads ran");
  }
}

/// Whether other programs disturbed the measurement of what the machine reaches.
bool was_disturbed(const kprof::cpu_ceilings& cpu) {
  return std::any_of(cpu.arithmetic.begin(), cpu.arithmetic.end(),
                     [](const auto& a) { return a.operations.is_lower_bound; }) ||
         std::any_of(cpu.memory.begin(), cpu.memory.end(),
                     [](const auto& m) { return m.read.is_lower_bound || m.triad.is_lower_bound; });
}

}  // namespace

std::string trust_in(const kprof::profile& run) {
  constexpr std::size_t most_keys = 5;
  json_object trust;
  trust.truth("complete", kprof::detail::is_complete(run));
  trust.integer("dropped_scopes", run.complete.dropped);
  trust.integer("dropped_records", run.device.complete.dropped);
  add_outside(run, trust);
  trust.integer("launches_outside", run.device.complete.outside);

  impossible_rows impossible;
  impossible.look_at(kprof::operator_table(run));
  impossible.look_at(kprof::kernel_table(run));
  trust.integer("impossible_rows", impossible.keys.size());
  impossible.keys.resize(std::min(impossible.keys.size(), most_keys));
  trust.raw("impossible_keys", json_list(impossible.keys));

  if (kprof::detail::has_ceilings(run.machine))
    trust.truth("machine_disturbed", was_disturbed(run.machine.cpu));
  else trust.unknown("machine_disturbed", "nobody measured what the machine reaches");

  std::vector<std::string> problems, notes;
  add_problems(kprof::detail::scope_oddities(run), "scopes", problems);
  if (kprof::detail::uses_device(run))
    add_problems(kprof::detail::device_oddities(run), "device", problems);
  trust.raw("problems", json_list(problems));
  for (const std::string& note : run.notes) notes.push_back(json_quoted(note));
  trust.raw("notes", json_list(notes));
  return trust.with_reasons();
}

}  // namespace kprof_tool
