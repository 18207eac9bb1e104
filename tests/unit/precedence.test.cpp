// SPDX-License-Identifier: MIT
#include "catch.hpp"

#include <kprof/session/exit_outputs.hpp>
#include <kprof/session/precedence.hpp>

#include <string>

using kprof::cupti_choice;
using kprof::settings;
using kprof::detail::combine;
using kprof::detail::effective_settings;
using kprof::detail::outputs_at_exit;

TEST_CASE("precedence.the_program_decides_where_the_environment_says_nothing") {
  const settings program{.nvtx = false,
                         .cupti = cupti_choice::on,
                         .memory = 12345678,
                         .clock = kprof::clock_choice::system,
                         .report = {.top = 3},
                         .outputs = {{"report"}}};
  const effective_settings all = combine(program, {});
  CHECK(all.value.enabled);
  CHECK_FALSE(all.value.nvtx);
  CHECK(all.value.cupti == cupti_choice::on);
  CHECK(all.value.memory == 12345678);
  CHECK(all.value.clock == kprof::clock_choice::system);
  CHECK(all.value.outputs == program.outputs);
  CHECK(all.value.report.top == 3);
  CHECK(all.off_reason == std::string());
  CHECK(all.cupti_off_reason == std::string());
}

TEST_CASE("precedence.either_turns_recording_and_nvtx_off_and_the_reason_names_who") {
  CHECK_FALSE(combine({}, {.enabled = false}).value.enabled);
  CHECK(combine({}, {.enabled = false}).off_reason == std::string("off (KPROF=off)"));
  CHECK(combine({.enabled = false}, {.enabled = false}).off_reason ==
        std::string("off (KPROF=off)"));
  CHECK_FALSE(combine({.enabled = false}, {}).value.enabled);
  CHECK(combine({.enabled = false}, {}).off_reason ==
        std::string("off (settings::enabled is false)"));
  CHECK(combine({}, {}).value.nvtx);
  CHECK_FALSE(combine({}, {.nvtx = false}).value.nvtx);
  CHECK_FALSE(combine({.nvtx = false}, {}).value.nvtx);
}

TEST_CASE("precedence.the_environment_chooses_where_ceilings_come_from") {
  const auto choice = [](const char* program, const char* environment) {
    return combine({.ceilings = program}, {.ceilings = environment}).value.ceilings;
  };
  CHECK(choice("auto", "off") == "off");
  CHECK(choice("measure", "off") == "off");
  CHECK(choice("measure", "auto") == "measure");
  CHECK(choice("a.txt", "b.txt") == "b.txt");
}

TEST_CASE("precedence.the_environment_says_how_many_threads_work_in_calls") {
  CHECK(combine({.threads = 4}, {}).value.threads == 4);
  CHECK(combine({.threads = 4}, {.threads = 2}).value.threads == 2);
  CHECK(combine({}, {.threads = kprof::all_cpus}).value.threads == kprof::all_cpus);
}

TEST_CASE("precedence.the_environment_chooses_whether_cupti_is_used") {
  const auto choice = [](cupti_choice program, cupti_choice environment) {
    return combine({.cupti = program}, {.cupti = environment}).value.cupti;
  };
  CHECK(choice(cupti_choice::off, cupti_choice::on) == cupti_choice::on);
  CHECK(choice(cupti_choice::on, cupti_choice::off) == cupti_choice::off);
  CHECK(choice(cupti_choice::off, cupti_choice::automatic) == cupti_choice::off);
  CHECK(choice(cupti_choice::automatic, cupti_choice::automatic) == cupti_choice::automatic);
  CHECK(combine({.cupti = cupti_choice::off}, {}).cupti_off_reason ==
        std::string("off (settings::cupti is off)"));
  CHECK(combine({.cupti = cupti_choice::off}, {.cupti = cupti_choice::off}).cupti_off_reason ==
        std::string("off (KPROF=cupti=off)"));
  CHECK(combine({.cupti = cupti_choice::off}, {.cupti = cupti_choice::on}).cupti_off_reason ==
        std::string());
}

TEST_CASE("precedence.the_report_at_exit_is_the_environments_where_it_asks_for_one") {
  const settings program{.report = {.top = 3}, .outputs = {{"report"}}};
  const settings environment{.report = {.top = 7}, .outputs = {{"report"}}};
  CHECK(outputs_at_exit(program, environment).report.top == 7);
  CHECK(outputs_at_exit(program, {}).report.top == 3);
  CHECK(outputs_at_exit({}, environment).report.top == 7);
}

TEST_CASE("precedence.what_both_ask_for_is_written_once") {
  const kprof::output_request report{"report"}, a{"a", {{"path", "x"}}}, b{"a", {{"path", "y"}}};
  const settings program{.outputs = {report, b, a}}, environment{.outputs = {a, report}};
  CHECK(outputs_at_exit(program, environment).requests ==
        std::vector<kprof::output_request>{a, report, b});
  CHECK(outputs_at_exit(program, program).requests == program.outputs);
  CHECK(outputs_at_exit({}, {}).requests.empty());
}
