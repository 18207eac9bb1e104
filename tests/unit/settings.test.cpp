// SPDX-License-Identifier: MIT
// The grammar of KPROF: what is valid holds, what is not is described, nothing stops.

#include <kprof/settings.hpp>

#include "catch.hpp"

#include <random>
#include <string>

using kprof::config;
using kprof::parsed_config;

namespace {

/// The one complaint about `text`; empty when there is none.
std::string complaint(const std::string& text) {
  const parsed_config p = config::parse(text);
  if (p.errors.empty()) return {};
  return p.errors.size() == 1 ? p.errors[0] : "(" + std::to_string(p.errors.size()) + " complaints) " + p.errors[0];
}
bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("settings.nothing_means_the_defaults") {
  for (const char* text : {"", " ", "\t\n", "on"}) {
    const parsed_config p = config::parse(text);
    CHECK(p.errors.empty());
    CHECK(p.value.enabled);
    CHECK(p.value.nvtx);
    CHECK(p.value.memory == 64U << 20U);
    CHECK(p.value.clock == kprof::clock_choice::automatic);
    CHECK_FALSE(p.value.report_at_exit);
  }
}

TEST_CASE("settings.every_word_is_understood") {
  CHECK_FALSE(config::parse("off").value.enabled);
  CHECK(config::parse("off,on").value.enabled);
  CHECK(config::parse("report").value.report_at_exit);
  CHECK(config::parse("report()").value.report_at_exit);
  CHECK_FALSE(config::parse("report,report=off").value.report_at_exit);
  CHECK_FALSE(config::parse("nvtx=off").value.nvtx);
  CHECK(config::parse("clock=system").value.clock == kprof::clock_choice::system);
  CHECK(config::parse("clock=system,clock=auto").value.clock == kprof::clock_choice::automatic);
  for (const char* text : {"off", "report", "report()", "report,report=off", "nvtx=off", "clock=system", " on , nvtx = off ,report( ) "}) {
    INFO(text);
    CHECK(complaint(text).empty());
  }
}

TEST_CASE("settings.sizes_have_units") {
  CHECK(config::parse("memory=123").value.memory == 123);
  CHECK(config::parse("memory=123B").value.memory == 123);
  CHECK(config::parse("memory=4KiB").value.memory == 4096);
  CHECK(config::parse("memory=4K").value.memory == 4096);
  CHECK(config::parse("memory=256MiB").value.memory == 256U << 20U);
  CHECK(config::parse("memory=2G").value.memory == 2ULL << 30U);
  for (const char* text : {"memory=", "memory", "memory=lots", "memory=-1", "memory=1.5G", "memory=1TB", "memory=99999999999999999999", "memory=99999999G"}) {
    INFO(text);
    CHECK(contains(complaint(text), "memory=64MiB"));
    CHECK(config::parse(text).value.memory == 64U << 20U);
  }
}

TEST_CASE("settings.report_options_are_read") {
  const parsed_config p = config::parse("report(path=run-%p.txt,width=160,top=7,sort=total,by=call_site,filter=\"^(Gemm|Conv),\\\"x\",columns=operator+calls+p99,table=off,tree=on,ascii,legend),memory=1MiB");
  CHECK(p.errors.empty());
  const kprof::report_options& r = p.value.report;
  CHECK(p.value.report_at_exit);
  CHECK(r.path == "run-%p.txt");
  CHECK(r.width == 160);
  CHECK(r.top == 7);
  CHECK(r.sort == "total");
  CHECK(r.by == kprof::grouping::call_site);
  CHECK(r.filter == "^(Gemm|Conv),\"x");
  CHECK(r.columns == std::vector<std::string>{"operator", "calls", "p99"});
  CHECK_FALSE(r.table);
  CHECK(r.tree);
  CHECK(r.ascii);
  CHECK(r.legend);
  CHECK(p.value.memory == 1U << 20U);
}

TEST_CASE("settings.what_is_wrong_names_what_is_valid") {
  CHECK(contains(complaint("reprot"), "unknown setting 'reprot'; valid: on, off, report"));
  CHECK(contains(complaint("trace(path=x)"), "unknown setting 'trace(...)'"));
  CHECK(contains(complaint("nvtx=maybe"), "valid: nvtx=on, nvtx=off"));
  CHECK(contains(complaint("clock=atomic"), "valid: clock=auto, clock=system"));
  CHECK(contains(complaint("report(colour=red)"), "unknown option 'colour=red' of report; valid: path=FILE"));
  CHECK(contains(complaint("report(width=wide)"), "no number from 40 to 1000"));
  CHECK(contains(complaint("report(width=39)"), "no number"));
  CHECK(contains(complaint("report(by=colour)"), "valid: op, parameters, call_site, thread"));
  CHECK(contains(complaint("report(width=100"), "no closing ')'"));
  CHECK(contains(complaint("report(filter=\"abc"), "no closing '\"'"));
  CHECK(contains(complaint(",on"), "a setting is missing"));
  CHECK(contains(complaint("on off"), "unknown setting 'on off'"));
  CHECK(contains(complaint("report()x"), "separated by commas"));
}

TEST_CASE("settings.a_mistake_leaves_the_rest_valid") {
  const parsed_config p = config::parse("bad,memory=2MiB,report(bad=1,width=80,top=x)garbage,nvtx=off");
  CHECK(p.value.memory == 2U << 20U);
  CHECK(p.value.report.width == 80);
  CHECK(p.value.report.top == kprof::report_options{}.top);
  CHECK_FALSE(p.value.nvtx);
  CHECK(p.errors.size() == 4);
}

TEST_CASE("settings.any_text_is_survived") {
  std::mt19937 random(1);
  const std::string alphabet = "on,off=()\"\\report width%1 \n\t\xFF";
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (auto n = random() % 40; n > 0; --n) text += alphabet[random() % alphabet.size()];
    const parsed_config p = config::parse(text);
    CHECK(p.errors.size() <= text.size() + 1);
  }
}
