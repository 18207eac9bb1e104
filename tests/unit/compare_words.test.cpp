// SPDX-License-Identifier: MIT

#include <kprof/model/compare.hpp>
#include <kprof/model/compare/sentences.hpp>

#include "../support/catch.hpp"
#include "../support/compared_runs.hpp"

#include <cstddef>
#include <string>
#include <vector>

using kprof_test::row_times;
using kprof_test::runs_of;

namespace {

/// Six rows of 100 us in four runs, whose noise is 0.1 %; the first one by `factor`.
std::vector<kprof::compared_run> side(double factor, double second = 1) {
  std::vector<row_times> rows;
  for (const char* name : {"Gemm", "Conv", "Norm", "Relu", "Attn", "Loss"})
    rows.push_back({name, {100, 100.1, 99.9, 100}});
  for (double& us : rows[0].us) us *= factor;
  for (double& us : rows[1].us) us *= second;
  return runs_of(rows);
}
std::vector<kprof::compared_run> noisy(double factor) {
  return runs_of({{"Gemm", {100 * factor, 115 * factor, 90 * factor, 104 * factor}}});
}
kprof::comparison_words words(const std::vector<kprof::compared_run>& before,
                              const std::vector<kprof::compared_run>& after) {
  return words_of(compare(before, after));
}

bool holds(const std::vector<std::string>& texts, const std::string& what) {
  for (const std::string& text : texts)
    if (text.find(what) != std::string::npos) return true;
  return false;
}

}  // namespace

TEST_CASE("compare_words.the_conclusion_is_the_first_sentence") {
  CHECK(words(side(1), side(1.6)).first ==
        "The run is slower: it takes 10.0% more time, 9.6 to 10.4%.");
  CHECK(words(side(1.6), side(1)).first ==
        "The run is faster: it takes 9.1% less time, 8.7 to 9.5%.");
  CHECK(words(side(1), side(1)).first == "The run takes the same time: 0.0%, \u22120.4 to +0.4%.");
  CHECK(words(noisy(1), noisy(1.1)).first ==
        "Whether the run became slower or faster is not shown: +10.0%, \u22127.7 to +31.1%; "
        "19 runs a side would show it.");
  CHECK(words({side(1)[0]}, {side(1.6)[0]}).first ==
        "The run takes 10.0% more time; whether by chance cannot be told from 1 run against 1.");
  CHECK(words({side(1)[0]}, {side(1.6)[0]})
            .rest.find("Verdicts take 3 runs a side or more, made in turns.") == 0);
}

TEST_CASE("compare_words.steps_stand_before_the_run") {
  std::vector<kprof::compared_run> before = side(1), after = side(1);
  for (kprof::compared_run& run : before) run.step_ns = 1e6;
  for (kprof::compared_run& run : after) run.step_ns = 1.08e6;
  CHECK(words(before, after).first == "A step is slower: it takes 8.0% more time, 7.6 to 8.4%.");
}

TEST_CASE("compare_words.a_changed_row_stands_before_a_run_that_is_the_same") {
  const kprof::comparison_words w = words(side(1), side(1.1));
  CHECK(w.first == "1 row is slower: Gemm (+10.0%).");
  CHECK(w.rest.find("The run takes the same time: +1.7%") != std::string::npos);
  const kprof::comparison_words both = words(side(1), side(1.1, 0.9));
  CHECK(both.first == "1 row is slower: Gemm (+10.0%). 1 row is faster: Conv (\u221210.0%).");
}

TEST_CASE("compare_words.what_explains_the_change_is_named") {
  CHECK(words(side(1), side(1.6)).rest.find("Nearly all of it is Gemm.") == 0);
  CHECK(words(side(1), side(1.6, 1.4)).rest.find("More than half of it is Gemm.") == 0);
  CHECK(words(side(1), side(1)).rest.find(" of it is ") == std::string::npos);
  CHECK(words(side(1), side(1)).rest.find("No row is slower or faster.") == 0);
}

TEST_CASE("compare_words.what_makes_it_doubtful_is_a_warning") {
  std::vector<kprof::compared_run> before = side(1), after = side(1);
  CHECK(words(before, after).warnings.empty());
  CHECK(holds(words(before, after).below, "Program, machine and ceilings are the same."));
  CHECK(holds(words(before, after).below, "No row appeared or vanished."));
  for (std::size_t i = 0; i < 4; ++i) {
    before[i].start_realtime_ns = 10 + i;
    after[i].start_realtime_ns = 20 + i;
  }
  before[1].cpus = 4;
  after[0].lost = 3;
  after[0].rows[1].bytes.value = 7;
  after[1].rows.pop_back();
  for (kprof::compared_run& run : after) {
    run.rows.push_back(run.rows[0]);
    run.rows.back().key = 1;
    run.rows.back().name = "Fresh";
  }
  const kprof::comparison_words w = words(before, after);
  CHECK(holds(w.warnings, "Make them in turns."));
  CHECK(holds(w.warnings, "CPUs allowed (4 or not known before, not known after)"));
  CHECK(holds(w.warnings, "1 run lost scopes or records."));
  CHECK(holds(w.warnings, "FLOPs or bytes by the formulas differ in 1 row: Conv."));
  CHECK(holds(w.below, "1 row is only after"));
  CHECK(holds(w.below, "1 other row, "));
  CHECK_FALSE(holds(w.below, "No row appeared"));
}

TEST_CASE("compare_words.a_tail_that_moved_is_told") {
  std::vector<kprof::compared_run> after = side(1);
  for (kprof::compared_run& run : after) run.rows[2].mean_ns.value *= 1.2;
  CHECK(holds(words(side(1), after).below, "The mean call of Norm changed by +20.0%"));
}

TEST_CASE("compare_words.numbers_have_a_sign_and_one_decimal") {
  using kprof::detail::signed_percent;
  CHECK(signed_percent(0.0574) == "+5.7");
  CHECK(signed_percent(-0.0574) == "\u22125.7");
  CHECK(signed_percent(0.0004) == "0.0");
  CHECK(signed_percent(-0.0004) == "0.0");
  CHECK(signed_percent(1.264) == "+126");
  CHECK(signed_percent(123.4) == "+12,340");
  CHECK(signed_percent(1e9) == "n/a");
}
