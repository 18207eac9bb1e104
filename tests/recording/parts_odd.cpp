// SPDX-License-Identifier: MIT
// Calls that several threads share, where something is odd: parts that are missing, come twice or
// have impossible numbers, calls that are open, memory that is spent, and threads that share a call
// with KPROF_OP.

#include <kprof/kprof.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "shared_calls.hpp"

namespace {

void parts_that_do_not_fit() {
  // missing: part 1 of the last three calls
  static_cast<void>(kprof::start());
  for (int c = 0; c < 10; ++c)
    for (int part = 0; part < (c < 7 ? 2 : 1); ++part) compute({.m = 1, .n = 1}, part, 2);
  kprof::profile p = kprof::snapshot();
  check_equal("calls with all parts", static_cast<double>(row_of(p, "MatMul").calls), 7);
  check_equal("their FLOPs", row_of(p, "MatMul").flops.value, 14);
  check_equal("calls that lack parts", static_cast<double>(p.complete.incomplete_calls), 3);
  check("the note says which part", noted(p, "part 0 came 10 times and part 1 7 times"));

  // twice: part 0 of one call
  static_cast<void>(kprof::start());
  for (int c = 0; c < 10; ++c)
    for (int part = 0; part < 2; ++part) compute({.m = 1, .n = 1}, part, 2);
  compute({.m = 1, .n = 1}, 0, 2);
  p = kprof::snapshot();
  check_equal("calls beside a part that came twice", static_cast<double>(row_of(p, "MatMul").calls),
              10);
  check_equal("a part too many", static_cast<double>(p.complete.incomplete_calls), 1);
  check("the note says that", noted(p, "part 0 came 11 times and part 1 10 times"));

  // differing numbers of parts
  static_cast<void>(kprof::start());
  for (int c = 0; c < 5; ++c)
    for (int part = 0; part < 3; ++part)
      compute({.m = 1, .n = 1}, part, c == 4 && part == 2 ? 4 : 3);
  p = kprof::snapshot();
  check_equal("calls with the same number", static_cast<double>(row_of(p, "MatMul").calls), 4);
  check_equal("two halves", static_cast<double>(p.complete.incomplete_calls), 2);
  check("the note tells both numbers", noted(p, "different numbers of parts (3, 4)"));

  // impossible numbers
  static_cast<void>(kprof::start());
  for (int part = 0; part < 2; ++part) compute({.m = 1, .n = 1}, part, 2);
  compute({.m = 1, .n = 1}, 2, 2);
  compute({.m = 1, .n = 1}, -1, 2);
  compute({.m = 1, .n = 1}, 0, 0);
  compute({.m = 1, .n = 1}, 0, 1 << 20);
  p = kprof::snapshot();
  check_equal("calls beside impossible parts", static_cast<double>(row_of(p, "MatMul").calls), 1);
  check_equal("impossible parts", static_cast<double>(p.complete.impossible_parts), 4);
  check_equal("all are recorded", static_cast<double>(p.complete.recorded), 6);
  check("the note says what is right", noted(p, "`part` goes from 0 to `parts` - 1"));
  check("and how many are too many", noted(p, "a call has 65536 parts at the most"));

  // the same in several threads
  static_cast<void>(kprof::start());
  on_threads(3, [](int) { compute({.m = 1, .n = 1}, 7, 2); });
  p = kprof::snapshot();
  check_equal("one note for all threads", static_cast<double>(p.notes.size()), 1);
  check("which counts",
        noted(p, ": part 7 of 2 belongs to no call; ") && noted(p, "; it came 3 times"));
}

/// While a call is half done, it is open, and none is missing.
void a_call_that_is_open() {
  static_cast<void>(kprof::start());
  meeting_point meeting(2);
  on_threads(2, [&](int thread) {
    if (thread == 1) {
      compute({.m = 4, .n = 4}, thread, 2);
      meeting.wait();
      return;
    }
    KPROF_PART(MatMul, {.m = 4, .n = 4}, thread, 2);
    meeting.wait();
    const kprof::profile p = kprof::snapshot();
    const kprof::operator_row row = row_of(p, "MatMul");
    check("an open call is open", row.calls == 0 && row.open == 1);
  });
}

/// More parameters than there is memory for: calls are still calls.
void merged_parameters() {
  static_cast<void>(kprof::start(with_memory(1)));
  constexpr int parameters = 2000, threads = 2;
  on_threads(threads, [](int thread) {
    for (int i = 0; i < parameters; ++i) { KPROF_PART(MatMul, {.m = i}, thread, threads); }
  });
  const kprof::profile p = kprof::snapshot();
  check("parameters are merged", p.complete.merged != 0 && p.complete.dropped == 0);
  check_equal("calls with merged parameters", static_cast<double>(row_of(p, "MatMul").calls),
              parameters);
}

/// The same with threads in step and parts that never come: each call is known all the same.
void merged_parameters_without_some_parts() {
  constexpr int calls = 2000, threads = 8, sets = 1000;
  const auto set = [](int call) { return call * 7 % sets; };
  const auto lacks = [](int call, int thread) { return call % 50 == 3 && call / 50 % 8 == thread; };
  static_cast<void>(kprof::start(with_memory(1)));
  meeting_point meeting(threads);
  on_threads(threads, [&](int thread) {
    for (int c = 0; c < calls; ++c) {
      if (!lacks(c, thread)) compute({.m = set(c), .n = 1}, thread, threads);
      meeting.wait();
    }
  });
  std::vector<std::array<int, threads>> came(sets);
  int complete = 0, incomplete = 0;
  for (int c = 0; c < calls; ++c)
    for (int thread = 0; thread < threads; ++thread)
      came[static_cast<std::size_t>(set(c))][static_cast<std::size_t>(thread)] +=
          lacks(c, thread) ? 0 : 1;
  for (const auto& n : came) {
    const auto [least, most] = std::minmax_element(n.begin(), n.end());
    complete += *least;
    incomplete += *most - *least;
  }
  const kprof::profile p = kprof::snapshot();
  std::uint64_t merged = 0;
  for (const kprof::scope_node& n : p.nodes) merged += n.merged ? n.calls : 0;
  check("most parameters are merged", p.complete.merged > p.complete.recorded / 2);
  check_equal("each part is told", static_cast<double>(p.complete.merged),
              static_cast<double>(merged));
  const auto counted = static_cast<double>(row_of(p, "MatMul").calls),
             lack_parts = static_cast<double>(p.complete.incomplete_calls);
  // Threads that the system holds up for long need more memory than there is.
  if (noted(p, "kprof had no memory to find out which calls")) {
    check("calls with all parts are among those counted", counted >= complete && counted <= calls);
    check("no more calls are told to lack parts than do", lack_parts <= incomplete);
    return;
  }
  check_equal("calls with all parts, parameters merged", counted, complete);
  check_equal("calls that lack parts, parameters merged", lack_parts, incomplete);
  check("the note says what they are",
        noted(p, "MatMul(parameters not kept)") || noted(p, "more lines like these"));
}

/// The same operator as a whole and in parts is one operator.
void whole_calls_and_parts() {
  static_cast<void>(kprof::start());
  for (int part = 0; part < 2; ++part) compute({.m = 1, .n = 2}, part, 2);
  { KPROF_OP(MatMul, {.m = 1, .n = 2}); }
  const kprof::profile p = kprof::snapshot();
  std::size_t rows = 0;
  for (const kprof::operator_row& row : operator_table(p)) rows += row.name == "MatMul" ? 1 : 0;
  check_equal("rows", static_cast<double>(rows), 1);
  check_equal("calls", static_cast<double>(row_of(p, "MatMul").calls), 2);
  check_equal("FLOPs", row_of(p, "MatMul").flops.value, 8);
}

/// KPROF_OP on every thread, in step: each is inside while the others are.
void plain_guards_on_all_threads() {
  constexpr int threads = 3;
  meeting_point inside(threads), outside(threads);
  kprof::profile p;
  // On a busy machine a thread may come so late that its calls do not overlap for half of the time.
  for (int attempts = 20; attempts > 0 && !noted(p, "KPROF_PART"); --attempts) {
    static_cast<void>(kprof::start());
    on_threads(threads, [&](int) {
      for (int c = 0; c < 20; ++c) {
        outside.wait();
        KPROF_OP(MatMul, {.m = 3, .n = 5});
        inside.wait();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        inside.wait();
      }
    });
    p = kprof::snapshot();
  }
  check("a note proposes KPROF_PART",
        noted(p, "MatMul(m=3 n=5) at parts_odd.cpp:") &&
            noted(p, "ran on 3 threads at once, 20 times on each: if they share each call"));
  check_equal("they count as the program says", static_cast<double>(row_of(p, "MatMul").calls), 60);

  // one after the other, or with other parameters
  static_cast<void>(kprof::start());
  for (int t = 0; t < threads; ++t)
    std::thread([] {
      for (int c = 0; c < 20; ++c) { KPROF_OP(MatMul, {.m = 3, .n = 5}); }
    }).join();
  on_threads(threads, [&](int thread) {
    for (int c = 0; c < 20; ++c) {
      outside.wait();
      KPROF_OP(MatMul, {.m = thread, .n = 5});
      inside.wait();
    }
  });
  p = kprof::snapshot();
  check("no note without cause", !noted(p, "KPROF_PART"));
  show_notes(p);
}

}  // namespace

int main() {
  parts_that_do_not_fit();
  a_call_that_is_open();
  merged_parameters();
  merged_parameters_without_some_parts();
  whole_calls_and_parts();
  plain_guards_on_all_threads();
  return result();
}
