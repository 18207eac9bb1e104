// SPDX-License-Identifier: MIT

// Advice as a whole: ranking, choice, rules of the program, and what holds whatever the profile.

#include "catch.hpp"

#include "advised.hpp"
#include "machines.hpp"
#include "random_reports.hpp"

#include <kprof/advice.hpp>
#include <kprof/report/text.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

using kprof::advice;
using kprof::profile;
using kprof_test::profile_builder;

namespace {

/// Operators that each took so long, on a machine where all is far from the roof.
profile slow_operators(const std::vector<double>& ns) {
  profile_builder b;
  const auto main = b.thread("main", 1);
  double all = 0;
  for (std::size_t i = 0; i < ns.size(); ++i) {
    const auto op = b.op(main, "Op" + std::to_string(i), "impl=ref n=" + std::to_string(i));
    b.calls(op, 1, ns[i]).work(op, 1000, 1000, 0);
    all += ns[i];
  }
  profile p = b.done();
  p.wall_ns = all;
  p.cpus = 2;
  p.machine.cpu = kprof_test::two_cpus();
  return p;
}

std::string ids(const std::vector<advice>& found) {
  std::string out;
  for (const advice& a : found) out.append(out.empty() ? "" : " ").append(a.id);
  return out;
}

std::string page_of(const profile& p, kprof::report_options options = {}) {
  if (options.width == 0) options.width = 100;
  std::string page;
  const kprof::status done = kprof::write_text(p, options, page);
  return done ? page : done.message;
}
std::string do_first(const std::string& page) {
  const std::size_t from = page.find("Do first\n");
  return from == std::string::npos ? "" : page.substr(from, page.find("\n\n", from) - from);
}

bool own_rule(const kprof::advice_facts& of, std::size_t i, advice& out) {
  if (of.rows[i].name != "Op1") return false;
  out.fact = "is mine";
  out.action = "Do it otherwise\n";
  out.gain_ns = std::numeric_limits<double>::infinity();
  return true;
}
template <std::size_t Row>
bool half_of(const kprof::advice_facts& of, std::size_t i, advice& out) {
  out.fact = "takes long";
  out.gain_ns = of.rows[i].total_ns / 2;
  return i == Row;
}
constexpr const char* names[] = {"MY0", "MY1", "MY2", "MY3", "MY4", "MY5", "MY6"};
template <std::size_t Row>
constexpr kprof::advice_rule of_row{names[Row], kprof::advice_about::rows,
                                    kprof::advice_cause::spread, 0, &half_of<Row>};
constexpr kprof::advice_rule mine{"MY1", kprof::advice_about::calls, kprof::advice_cause::run, 0.01,
                                  &own_rule};
constexpr kprof::advice_rule not_mine{"G3", kprof::advice_about::calls, kprof::advice_cause::run,
                                      0.01, &own_rule};

}  // namespace

TEST_CASE("advice.the_five_that_save_most_come_first") {
  const profile p = slow_operators({1e6, 7e6, 3e6, 5e6, 2e6, 4e6, 0.1e6});
  const kprof::advice_registration a{of_row<0>}, b{of_row<1>}, c{of_row<2>}, d{of_row<3>},
      e{of_row<4>}, f{of_row<5>}, g{of_row<6>};
  const std::vector<advice> found = kprof::advise(p, {"-H4", "-R2"});
  CHECK(ids(found) == "MY1 MY3 MY5 MY2 MY4");
  CHECK(found[0].where == "Op1 impl=ref n=1");
  CHECK(found[0].gain_ns == Approx(3.5e6));
  CHECK(found[0].share == Approx(3.5 / 22.1));
  CHECK(ids(kprof::advise(p, {"-H4", "-R2", "on"})) == "MY1 MY3 MY5 MY2 MY4");
  CHECK(ids(kprof::advise(p, {"-H4", "-R2", "-MY3"})) == "MY1 MY5 MY2 MY4 MY0");
  CHECK(ids(kprof::advise(p, {"-H4", "-R2", "all"})) == "MY1 MY3 MY5 MY2 MY4 MY0 MY6");
  CHECK(kprof::advise(p, {"off"}).empty());
  CHECK(kprof::advise({}).empty());
}

TEST_CASE("advice.a_rule_speaks_once") {
  const profile p = slow_operators({1e6, 7e6, 3e6});
  const std::vector<advice> found = kprof::advise(p);
  REQUIRE(ids(found) == "H4");  // R2, the same cause, comes later
  CHECK(found[0].where == "Op1 impl=ref n=1");
  CHECK(found[0].gain_ns == Approx(7e6).epsilon(0.01));
  CHECK(std::string_view{found[0].action}.ends_with(" says why. The same holds for 2 others"));
  CHECK(ids(kprof::advise(p, {"all"})) == "H4 H4 H4");
  CHECK(ids(kprof::advise(p, {"-H4"})) == "R2");
}

TEST_CASE("advice.what_saves_less_than_a_hundredth_is_not_told") {
  const auto others = [](double ns) {
    return kprof::advise(slow_operators({99e6, ns}))[0].action.find("1 other") != std::string::npos;
  };
  CHECK(others(1.01e6));
  CHECK(!others(0.98e6));
  CHECK(kprof::advise(slow_operators({99e6, 0.98e6}), {"all"}).size() == 2);
}

TEST_CASE("advice.scopes_that_were_dropped_silence_all") {
  profile p = slow_operators({1e6, 2e6});
  p.complete.recorded = 2000;
  p.complete.dropped = 2;
  CHECK(kprof::advise(p).size() == 1);
  p.complete.dropped = 3;
  CHECK(kprof::advise(p).empty());
}

TEST_CASE("advice.a_program_may_have_rules_of_its_own") {
  const profile p = slow_operators({1e6, 2e6});
  {
    const kprof::advice_registration known{mine}, twice{mine}, taken{not_mine};
    const std::vector<advice> found = kprof::advise(p);
    CHECK(ids(found) == "H4 MY1");
    CHECK(found[1].gain_ns == -1);  // no number: not stated
    CHECK(ids(kprof::advise(p, {"-MY1"})) == "H4");
    CHECK(page_of(p).find("Op1 impl=ref n=1 is mine. Do it otherwise") != std::string::npos);
    CHECK(kprof::detail::check_advice({"-MY1"}));
  }
  CHECK(ids(kprof::advise(p)) == "H4");
}

TEST_CASE("advice.an_unknown_rule_is_told_in_one_line") {
  const kprof::status s = kprof::detail::check_advice({"all", "-G99"});
  CHECK(!s);
  CHECK(s.message.find(
            "unknown advice \"-G99\"; choose from: on, off, all, prove; or switch rules off, "
            "joined by +: -G1 -G2") == 0);
  CHECK(!kprof::detail::check_advice({"G3"}));
  CHECK(!kprof::detail::check_advice({""}));
  CHECK(kprof::detail::check_advice({}));
  CHECK(page_of(slow_operators({1e6}), {.advice = {"-X"}}).find("unknown advice \"-X\"") == 0);
}

TEST_CASE("advice.the_report_says_what_to_do_first") {
  const profile p = slow_operators({1e6, 30e6});
  CHECK(do_first(page_of(p)).find("[H4]") != std::string::npos);
  CHECK(page_of(p, {.advice = {"off"}}).find("Do first") == std::string::npos);
  for (const int width : {40, 80, 100, 160})
    for (const bool ascii : {false, true}) {
      const std::string page = page_of(p, {.width = width, .advice = {"all"}, .ascii = ascii});
      INFO(page);
      CHECK(page.find("Do first\n  1  Op1 impl=ref") != std::string::npos);
      CHECK(page.find(" 30.0 ms  97%\n") != std::string::npos);
    }
}

TEST_CASE("advice.holds_whatever_the_profile") {
#ifdef KPROF_TEST_SHORT
  constexpr std::uint32_t profiles = 400;
#else
  constexpr std::uint32_t profiles = 5000;
#endif
  std::size_t given = 0;
  for (std::uint32_t seed = 0; seed < profiles; ++seed) {
    profile p = kprof_test::random_report(seed).make(1 + seed % 5);
    if (seed % 4 != 0) p.machine.cpu = kprof_test::two_cpus();
    if (seed % 3 != 0) p.machine.gpus.assign(p.device.devices.size(), kprof_test::h100());
    if (seed % 2 != 0) p.wall_ns = 1e8;
    if (seed % 7 == 0)  // slower, so that less is above every roof
      for (kprof::scope_node& n : p.nodes) n.work.flops %= 1'000'000;
    INFO("seed " << seed);
    const std::vector<kprof::operator_row> rows = kprof::operator_table(p);
    const std::vector<advice> few = kprof::advise(p), all = kprof::advise(p, {"all"});
    CHECK(few.size() <= 5);
    CHECK(few.size() <= all.size());
    given += few.size();
    const std::vector<advice> again = kprof::advise(p);
    REQUIRE(ids(again) == ids(few));
    for (std::size_t i = 0; i < few.size(); ++i) {
      CHECK(again[i].where == few[i].where);
      if (few[i].gain_ns >= 0) CHECK(few[i].share >= 0.01);
    }
    for (const advice& a : all) {
      INFO(a.id << ' ' << a.where << ' ' << a.fact);
      CHECK(a.gain_ns <= a.time_ns);
      CHECK(a.share <= 1.0);
      CHECK(!a.where.empty());
      CHECK(!a.fact.empty());
      for (const kprof::operator_row& row : rows)
        if (row.node == a.node && std::string_view{a.id}[0] != 'C')
          CHECK(row.verdict.bound != kprof::bound_by::impossible);
    }
  }
  CHECK(given > profiles / 2);
}
