// SPDX-License-Identifier: MIT
// alone: it looks at all outputs of the program
// The grammar of KPROF: what is valid holds, what is not is described, nothing stops.

#include <kprof/record/recorder.hpp>
#include <kprof/report/text/format.hpp>
#include <kprof/settings.hpp>

#include "catch.hpp"

#include "groupings.hpp"

#include <random>
#include <string>
#include <string_view>
#include <vector>

using kprof::output_request;
using kprof::parsed_settings;
using kprof::settings;

namespace {

/// The one complaint about `text`; empty when there is none.
std::string complaint(const std::string& text) {
  const parsed_settings p = settings::parse(text);
  if (p.errors.empty()) return {};
  return p.errors.size() == 1
             ? p.errors[0]
             : "(" + std::to_string(p.errors.size()) + " complaints) " + p.errors[0];
}
bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

bool fit_to_print(std::string_view text) {
  while (!text.empty()) {
    const kprof::detail::code_point c = kprof::detail::first_character(text);
    if (c.size == 0 || kprof::detail::is_unsafe(c.value)) return false;
    text.remove_prefix(c.size);
  }
  return true;
}

}  // namespace

TEST_CASE("settings.nothing_means_the_defaults") {
  for (const char* text : {"", " ", "\t\n", "on"}) {
    const parsed_settings p = settings::parse(text);
    CHECK(p.errors.empty());
    CHECK(p.value.enabled);
    CHECK(p.value.nvtx);
    CHECK(p.value.memory == 64U << 20U);
    CHECK(p.value.clock == kprof::clock_choice::automatic);
    CHECK(p.value.outputs.empty());
  }
}

TEST_CASE("settings.every_word_is_understood") {
  CHECK_FALSE(settings::parse("off").value.enabled);
  CHECK(settings::parse("off,on").value.enabled);
  const std::vector<output_request> report{{"report"}};
  for (const char* text : {"report", "report()", "report=on", "report,report", "report,report=1"}) {
    INFO(text);
    CHECK(settings::parse(text).value.outputs == report);
  }
  CHECK(settings::parse("report,report=off").value.outputs.empty());
  CHECK_FALSE(settings::parse("nvtx=off").value.nvtx);
  CHECK(settings::parse("clock=system").value.clock == kprof::clock_choice::system);
  CHECK(settings::parse("clock=system,clock=auto").value.clock == kprof::clock_choice::automatic);
  for (const char* text : {"off", "report", "report()", "report,report=off", "nvtx=off",
                           "clock=system", " on , nvtx = off ,report( ) "}) {
    INFO(text);
    CHECK(complaint(text).empty());
  }
}

TEST_CASE("settings.ceilings_come_from_words_or_a_file") {
  const auto parsed = kprof::settings::parse("ceilings=measure");
  CHECK(parsed.errors.empty());
  CHECK(parsed.value.ceilings == "measure");
  CHECK(kprof::settings::parse("ceilings=\"/a(b),c\"").value.ceilings == "/a(b),c");
  for (const char* nothing : {"ceilings=", "ceilings", "ceilings=\"\""}) {
    const auto wrong = kprof::settings::parse(nothing);
    REQUIRE(wrong.errors.size() == 1);
    CHECK_THAT(wrong.errors[0],
               Catch::Matchers::Contains("valid: auto, cache, measure, off, or the path"));
    CHECK(wrong.value.ceilings == "auto");
  }
}

TEST_CASE("settings.threads_are_a_number_or_all") {
  CHECK(settings::parse("threads=4").value.threads == 4);
  CHECK(settings::parse("threads=all").value.threads == kprof::all_cpus);
  CHECK(complaint("threads=all") == "");
  for (const char* wrong : {"threads", "threads=", "threads=0", "threads=-1", "threads=4x",
                            "threads=99999999999", "threads=All"}) {
    INFO(wrong);
    CHECK(contains(complaint(wrong), "threads= is a number from 1 on, or all, for as many"));
    CHECK(settings::parse(wrong).value.threads == 0);
  }
}

TEST_CASE("settings.sizes_have_units") {
  CHECK(settings::parse("memory=1234567").value.memory == 1234567);
  CHECK(settings::parse("memory=1234567B").value.memory == 1234567);
  CHECK(settings::parse("memory=4096KiB").value.memory == 4096 * 1024);
  CHECK(settings::parse("memory=4096K").value.memory == 4096 * 1024);
  CHECK(settings::parse("memory=256MiB").value.memory == 256U << 20U);
  CHECK(settings::parse("memory=2G").value.memory == 2ULL << 30U);
  for (const char* text : {"memory=", "memory", "memory=lots", "memory=-1", "memory=1.5G",
                           "memory=1TB", "memory=99999999999999999999", "memory=99999999G"}) {
    INFO(text);
    CHECK(contains(complaint(text), "memory=64MiB"));
    CHECK(settings::parse(text).value.memory == 64U << 20U);
  }
}

TEST_CASE("settings.too_little_memory_is_told_and_raised") {
  STATIC_REQUIRE(settings::smallest_memory == kprof::detail::recorder::smallest_memory);
  for (const char* text : {"memory=0", "memory=1KiB", "memory=1048575"}) {
    INFO(text);
    CHECK(complaint(text) ==
          std::string(text) + " is too small to work with; the smallest, 1 MiB, is used");
    CHECK(settings::parse(text).value.memory == 1U << 20U);
  }
  CHECK(complaint("memory=1MiB").empty());
}

TEST_CASE("settings.report_options_are_read") {
  const parsed_settings p = settings::parse(
      "report(path=run-%p.txt,width=160,top=7,sort=total,by=parameters+call_site,filter=\"^(Gemm|"
      "Conv),"
      "\\\"x\",columns=operator+calls+p99,table=off,tree=on,ascii,legend),memory=1MiB");
  CHECK(p.errors.empty());
  const kprof::report_options& r = p.value.report;
  CHECK(p.value.outputs == std::vector<output_request>{{"report"}});
  CHECK(r.path == "run-%p.txt");
  CHECK(r.width == 160);
  CHECK(r.top == 7);
  CHECK(r.sort == "total");
  CHECK(r.by == kprof_test::by_call_site());
  CHECK(r.filter == "^(Gemm|Conv),\"x");
  CHECK(r.columns == std::vector<std::string>{"operator", "calls", "p99"});
  CHECK_FALSE(r.table);
  CHECK(r.tree);
  CHECK(r.ascii);
  CHECK(r.legend);
  CHECK(p.value.memory == 1U << 20U);
}

TEST_CASE("settings.what_is_wrong_names_what_is_valid") {
  CHECK(contains(complaint("reprot"),
                 "unknown setting 'reprot'; did you mean report? Valid: on, off, nvtx=on|off, "
                 "memory=SIZE"));
  CHECK(contains(complaint("xyzzy"), "unknown setting 'xyzzy'; valid: on, off, nvtx=on|off, "));
  CHECK(complaint("report,tree") ==
        "tree is no setting but an option of report; write report(tree)");
  CHECK(complaint("top=5") == "top is no setting but an option of report; write report(top=5)");
  CHECK(contains(complaint("trace(path=x)"),
                 "unknown output 'trace'; this program has: report(...)"));
  CHECK(contains(complaint("reporte(tree)"),
                 "unknown output 'reporte'; did you mean report? This program has: report(...)"));
  CHECK(contains(complaint("report(tre)"), "unknown option 'tre' of report; did you mean tree? "));
  CHECK(contains(complaint("report("), "report( has no closing ')'"));
  CHECK(contains(complaint("nvtx=maybe"), "valid: nvtx=on, nvtx=off"));
  CHECK(contains(complaint("clock=atomic"), "valid: clock=auto, clock=system"));
  CHECK(contains(complaint("report(colour=red)"),
                 "unknown option 'colour=red' of report; did you mean color? Valid: path=FILE"));
  CHECK(contains(complaint("report(width=wide)"), "no number from 40 to 1000"));
  CHECK(contains(complaint("report(width=39)"), "no number"));
  CHECK(contains(complaint("report(by=co.)"),
                 "choose from op, parameters, pass, dtype, region, layer"));
  CHECK(contains(complaint("report(width=100"), "no closing ')'"));
  CHECK(contains(complaint("report(filter=\"abc"), "no closing '\"'"));
  CHECK(contains(complaint(",on"), "a setting is missing"));
  CHECK(contains(complaint("on off"), "unknown setting 'on off'"));
  CHECK(contains(complaint("report()x"), "separated by commas"));
}

TEST_CASE("settings.several_outputs_are_asked_for") {
  const parsed_settings p = settings::parse(
      "report(path=a.txt,top=20),report(path=b.txt,by=op,ascii),report,report(tree=off)");
  CHECK(p.errors.empty());
  CHECK(p.value.report.path == "a.txt");
  CHECK(p.value.report.top == 20);
  CHECK(p.value.report.by == kprof::grouping::parameters);
  const std::vector<output_request> wanted{
      {"report"},
      {"report", {{"path", "b.txt"}, {"by", "op"}, {"ascii", ""}}},
      {"report", {{"tree", "off"}}}};
  CHECK(p.value.outputs == wanted);
  CHECK(settings::parse("report(top=20),report(top=3),report=off").value.outputs.empty());
}

TEST_CASE("settings.two_outputs_to_one_file_are_refused") {
  const std::string already = "another output writes to \"a.txt\" already; choose another path";
  for (const char* text : {"report(path=a.txt),report(path=a.txt,by=op)",
                           "report,report(path=a.txt),report(path=a.txt)"}) {
    INFO(text);
    CHECK(complaint(text) == already);
    CHECK(settings::parse(text).value.outputs.size() == (text[6] == ',' ? 2 : 1));
  }
  CHECK(complaint("report(path=a.txt),report=off,report(path=a.txt)").empty());
  CHECK(complaint("report(tree=off),report(table=off)").empty());  // both to standard output
}

TEST_CASE("settings.a_mistake_leaves_the_rest_valid") {
  const parsed_settings p =
      settings::parse("bad,memory=2MiB,report(bad=1,width=80,top=x)garbage,nvtx=off");
  CHECK(p.value.memory == 2U << 20U);
  CHECK(p.value.report.width == 80);
  CHECK(p.value.report.top == kprof::report_options{}.top);
  CHECK_FALSE(p.value.nvtx);
  CHECK(p.errors.size() == 4);
}

TEST_CASE("settings.what_a_report_would_refuse_is_told_and_left_out") {
  const parsed_settings p =
      settings::parse("report(sort=gflosp,columns=operator+colour,filter=\"(\",top=7)");
  REQUIRE(p.errors.size() == 3);
  CHECK(contains(p.errors[0], "unknown sort \"gflosp\"; choose from: operator, parameters, "));
  CHECK(contains(p.errors[1], "unknown column \"colour\"; choose from: operator, parameters, "));
  CHECK(contains(p.errors[2], "filter \"(\" is not a POSIX extended regular expression"));
  CHECK(p.value.outputs.size() == 1);
  CHECK(p.value.report.sort.empty());
  CHECK(p.value.report.columns.empty());
  CHECK(p.value.report.filter.empty());
  CHECK(p.value.report.top == 7);
  CHECK(contains(complaint("report(columns=)"), "unknown column \"\""));
  for (const char* text :
       {"report(sort=name)", "report(sort=GFLOP/s)", "report(columns=name+p99)", "report(filter=)",
        "report(sort=)", "report(kernels=off,copies=off,full_names)", "cupti=auto", "cupti=on",
        "cupti=off", "cupti"}) {
    INFO(text);
    CHECK(complaint(text).empty());
  }
  CHECK(settings::parse("report(sort=total,sort=colour)").value.report.sort == "total");
}

TEST_CASE("settings.a_value_with_parentheses_wants_quotes") {
  const parsed_settings p = settings::parse("report(filter=^(Gemm|Conv),top=7),memory=2MiB");
  REQUIRE(p.errors.size() == 1);
  CHECK(p.errors[0] ==
        "unexpected '(' after \"filter=^\" in report(...); options are separated by commas, and a "
        "value with parentheses or commas goes in double quotes");
  CHECK(p.value.report.filter.empty());
  CHECK(p.value.report.top == 7);
  CHECK(p.value.memory == 2U << 20U);
  CHECK(contains(
      complaint("report(filter=\"^(Gemm)\"x)"),
      "unexpected 'x' after \"filter=^(Gemm)\" in report(...); options are separated by commas"));
  CHECK_FALSE(contains(complaint("report(filter=\"a\"x)"), "double quotes"));
  // What is not read to its end is not half applied.
  const parsed_settings half =
      settings::parse("nvtx=off,nvtx=(on),clock=\"system\"x,report(ascii(off))");
  CHECK(half.errors.size() == 3);
  CHECK_FALSE(half.value.nvtx);
  CHECK(half.value.clock == kprof::clock_choice::automatic);
  CHECK_FALSE(half.value.report.ascii);
}

TEST_CASE("settings.complaints_are_fit_to_print") {
  const std::string esc = "\x1b[31mred\n\xff", much(100'000, 'x');
  for (const std::string& bad : {esc, much, much + "\u202e"})
    for (const std::string& text : {bad,
                                    bad + "=" + bad,
                                    bad + "(" + bad + ")",
                                    "nvtx=" + bad,
                                    "memory=" + bad,
                                    "memory=1" + bad,
                                    "clock=" + bad,
                                    "report=" + bad,
                                    "=" + bad,
                                    "on,," + bad,
                                    "report(" + bad + ")",
                                    "report(" + bad + "=" + bad + ")",
                                    "report(width=" + bad + ")",
                                    "report(by=" + bad + ")",
                                    "report(tree=" + bad + ")",
                                    "report(sort=" + bad + ")",
                                    "report(columns=" + bad + ")",
                                    "report(filter=\"(" + bad + "\")",
                                    "report()" + bad,
                                    "report(filter=\"a\"" + bad + ")",
                                    "report(" + bad,
                                    "report(filter=\"" + bad,
                                    "memory=" + std::string(100'000, '0')}) {
      const parsed_settings p = settings::parse(text);
      CHECK_FALSE(p.errors.empty());
      for (const std::string& error : p.errors) {
        INFO(error);
        CHECK(error.size() < 600);
        CHECK(fit_to_print(error));
      }
    }
  CHECK(contains(complaint(esc), "unknown setting '\\x1b[31mred\\n\\xff'"));
}

TEST_CASE("settings.many_mistakes_are_counted") {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "a,";
  const parsed_settings p = settings::parse(text + "memory=2MiB");
  CHECK(p.errors.size() == 20);
  CHECK(p.errors.back() == "more mistakes: 981");
  CHECK(p.value.memory == 2U << 20U);
}

TEST_CASE("settings.any_text_is_survived") {
  std::mt19937 random(1);
  const std::string alphabet = "on,off=()\"\\report width%1 \n\t\xFF";
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (auto n = random() % 40; n > 0; --n) text += alphabet[random() % alphabet.size()];
    const parsed_settings p = settings::parse(text);
    CHECK(p.errors.size() <= text.size() + 1);
    for (const std::string& error : p.errors) CHECK(fit_to_print(error));
  }
}

TEST_CASE("settings.a_further_report_is_not_the_sessions_own") {
  const parsed_settings p = settings::parse("report(path=a.txt,top=3),report()");
  CHECK(p.errors.empty());
  REQUIRE(p.value.outputs.size() == 2);
  CHECK(p.value.outputs[0].options.empty());
  CHECK_FALSE(p.value.outputs[1].options.empty());
  CHECK(p.value.report.path == "a.txt");
}

TEST_CASE("settings.a_further_output_of_mistakes_alone_is_left_out") {
  const parsed_settings p = settings::parse("report(top=3),report(tpo=3)");
  CHECK(p.errors.size() == 1);
  CHECK(p.value.outputs.size() == 1);
  CHECK(settings::parse("report(tpo=3)").value.outputs.size() == 1);
}

TEST_CASE("settings.words_on_advice_that_are_right_hold_beside_those_that_are_wrong") {
  const kprof::parsed_settings parsed =
      settings::parse("report(advice=-H1+-XX+-R2,columns=calls+bad)");
  REQUIRE(parsed.errors.size() == 2);
  CHECK(parsed.errors[0].find("unknown advice \"-XX\"") != std::string::npos);
  CHECK(parsed.value.report.advice == std::vector<std::string>{"-H1", "-R2"});
  CHECK(parsed.value.report.columns.empty());
}
