// SPDX-License-Identifier: MIT
// needs: guards

// Advice that is tried out: what the report says of measured times, which are scripted; and how an
// operator's parameters are made again of a profile and run.

#include <kprof/kprof.hpp>
#include <kprof/prove.hpp>

#include "advised.hpp"
#include "catch.hpp"
#include "machines.hpp"
#include "profile_builder.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>

using kprof::advised_fields;
using kprof::profile;
using kprof::scope_node;
using kprof::detail::measured_call;
using kprof::detail::rerun_link;
using kprof_test::profile_builder;

namespace {

/// A convolution of 3 channels at 50 % of its roof, and one of 64 at 80 %, of a second together.
profile convolutions() {
  profile_builder b;
  const auto main = b.thread("main", 1);
  const auto stem = b.op(main, "Conv", "C=3 K=64 R=7"), other = b.op(main, "Conv", "C=64 K=64 R=3");
  b.calls(stem, 10, 20e6).work(stem, 1'000'000'000, 1000, 1000);
  b.calls(other, 10, 80e6).work(other, 6'400'000'000, 1000, 1000);
  profile p = b.done();
  p.wall_ns = 1e9;
  p.cpus = 1;
  p.threads[0].in_scopes_ns = 1e9;
  p.machine.cpu = kprof_test::two_cpus();
  p.machine.cpu.threads = 1;
  return p;
}

std::string page_of(const profile& p, std::vector<std::string> advice, bool ascii = false) {
  kprof::report_options options;
  options.width = 400;
  options.advice = std::move(advice);
  options.ascii = ascii;
  std::string out;
  REQUIRE(kprof::write_text(p, options, out));
  return out;
}
bool has(const std::string& page, const std::string& text) {
  return page.find(text) != std::string::npos;
}

/// Says of the operator Conv what a script has: for no change its entry 0, then 1 and 2.
struct scripted : rerun_link {
  scripted() : rerun_link(&name_of_conv, &next_time) {}
  static kprof::text_view name_of_conv() noexcept { return {"Conv", 4}; }
  static measured_call next_time(const rerun_link&, const profile&, const scope_node&,
                                 const advised_fields& changed) {
    ++calls;
    return script[changed.empty() ? (calls > 1 ? 3 : 0) : changed[0].value == 4 ? 1 : 2];
  }
  static inline int calls = 0;
  static inline std::array<measured_call, 4> script{};
  static void says(measured_call as_is, measured_call four, measured_call sixteen) {
    calls = 0;
    script = {as_is, four, sixteen, as_is};
  }
};
measured_call ms(double median, double width = 0.01) {
  return {{}, median * 1e6, median * (1 - width) * 1e6, median * (1 + width) * 1e6};
}

}  // namespace

TEST_CASE("prove.prints_what_was_measured_beside_the_estimate") {
  const scripted link;
  scripted::says(ms(12.1), ms(8.8), ms(24.2));
  const std::string page = page_of(convolutions(), {"prove"});
  CAPTURE(page);
  CHECK(has(page,
            "has C=3 channels, no multiple of 16 (64 bytes): vectors are not full. Pad with zeros "
            "to C=4 or C=16. Measured: 1.38 x with C=4 (12.1 ms \u2192 8.80 ms), 0.500 x with C=16 "
            "(12.1 ms \u2192 24.2 ms). [H11]"));
  CHECK(has(page, "at most"));
  CHECK(scripted::calls == 4);  // as it is, both, as it is again
  CHECK(has(page_of(convolutions(), {"prove"}, true), "(12.1 ms -> 8.80 ms)"));
}

TEST_CASE("prove.runs_nothing_unasked") {
  const scripted link;
  scripted::says(ms(12.1), ms(8.8), ms(24.2));
  for (const char* word : {"on", "all", "off"})
    CHECK_FALSE(has(page_of(convolutions(), {word}), "easured: "));
  CHECK_FALSE(has(page_of(convolutions(), {"prove", "-H11"}), "Measured"));
  CHECK(scripted::calls == 0);
}

TEST_CASE("prove.times_that_overlap_are_no_difference") {
  const scripted link;
  scripted::says(ms(10, 0.02), ms(9.9, 0.02), ms(9, 0.02));
  CHECK(has(page_of(convolutions(), {"prove"}),
            "Measured: no difference with C=4 (10.0 ms \u2192 9.90 ms), 1.11 x with C=16"));
  // A machine that became slower meanwhile: nobody knows which time is right.
  scripted::script[3] = ms(9, 0.02);
  scripted::calls = 0;
  CHECK(has(page_of(convolutions(), {"prove"}),
            "no difference with C=4 (9.50 ms \u2192 9.90 ms), no difference with C=16"));
}

TEST_CASE("prove.says_why_nothing_was_measured") {
  CHECK(has(page_of(convolutions(), {"prove"}),
            "Not measured: kprof::prove does not say how to run Conv."));
  const scripted link;
  scripted::says({"the program threw an exception", 0, 0, 0}, ms(1), ms(1));
  CHECK(has(page_of(convolutions(), {"prove"}), "Not measured: the program threw an exception."));
  CHECK(scripted::calls == 1);
  scripted::says(ms(2), {"the parameters are invalid then", 0, 0, 0}, ms(1));
  CHECK(has(page_of(convolutions(), {"prove"}),
            "Measured: not with C=4: the parameters are invalid then, 2.00 x with C=16"));
  kprof::detail::may_run_again = false;
  CHECK(has(page_of(convolutions(), {"prove"}), "Not measured: a signal ends the program."));
  kprof::detail::may_run_again = true;
}

TEST_CASE("prove.tells_what_is_too_small_to_be_told_else") {
  profile p = convolutions();
  p.wall_ns = p.threads[0].in_scopes_ns = 30e9;  // 0.7 % of it
  CHECK_FALSE(has(page_of(p, {}), "[H11]"));
  CHECK(has(page_of(p, {"prove"}), "[H11]"));
  CHECK(has(page_of(p, {"prove"}), "Do first"));
}

// ---- operators of a program --------------------------------------------------------------------

namespace {

struct Part {
  std::int16_t a = 0;
  bool b = false;
};
struct Mixed {
  std::int64_t n = 0;
  std::uint8_t small_one = 0;
  bool flag = false;
  float scale = 0;
  double factor = 0;
  kprof::dtype type = kprof::dtype::f32;
  std::array<std::int32_t, 3> shape{};
  kprof::fixed_string<16> tag{};
  std::array<Part, 2> parts{};
  constexpr bool valid() const { return n < 100; }
  constexpr kprof::count flops() const { return kprof::count{2} * n; }
};

profile with(const Mixed& params) {
  REQUIRE(kprof::start());
  { KPROF_OP(Mixed, params); }
  kprof::stop();
  return kprof::snapshot();
}
const scope_node& call_of(const profile& p) {
  for (const scope_node& n : p.nodes)
    if (n.kind == kprof::scope_kind::op) return n;
  std::abort();
}
std::string made_again(const profile& p, const advised_fields& changed, Mixed& to) {
  return changed_parameters(kprof::detail::op_desc_of<Mixed>, p, call_of(p), changed,
                            reinterpret_cast<char*>(&to));
}

const Mixed sample{.n = 37,
                   .small_one = 250,
                   .flag = true,
                   .scale = 0.5F,
                   .factor = -1e300,
                   .type = kprof::dtype::bf16,
                   .shape = {3, -224, 7},
                   .tag = "first",
                   .parts = {Part{-5, true}, Part{6, false}}};

}  // namespace

TEST_CASE("prove.parameters_are_made_again_of_a_profile") {
  const profile p = with(sample);
  Mixed again;
  CHECK(made_again(p, {}, again).empty());
  CHECK(again.n == 37);
  CHECK(again.small_one == 250);
  CHECK(again.flag);
  CHECK(again.scale == 0.5F);
  CHECK(again.factor == -1e300);
  CHECK(again.type == kprof::dtype::bf16);
  CHECK(again.shape == sample.shape);
  CHECK(again.tag == sample.tag);
  CHECK(again.parts[0].a == -5);
  CHECK(again.parts[0].b);
  CHECK(again.parts[1].a == 6);
  CHECK_FALSE(again.parts[1].b);
}

TEST_CASE("prove.changes_whole_numbers_that_fit_their_field") {
  const profile p = with(sample);
  Mixed m;
  CHECK(made_again(p, {{"n", 40}, {"type", static_cast<std::int64_t>(kprof::dtype::f16)}}, m)
            .empty());
  CHECK(m.n == 40);
  CHECK(m.type == kprof::dtype::f16);
  CHECK(m.small_one == 250);
  CHECK(made_again(p, {{"small_one", 255}}, m).empty());
  CHECK(made_again(p, {{"small_one", 256}}, m) == "the field small_one cannot be 256");
  CHECK(made_again(p, {{"scale", 1}}, m) == "the field scale cannot be 1");
  CHECK(made_again(p, {{"shape", 1}}, m) == "the field shape cannot be 1");
  CHECK(made_again(p, {{"missing", 1}}, m) == "the field missing cannot be 1");
  CHECK(made_again(p, {{"n", 100}}, m) == "the parameters are invalid then");
}

TEST_CASE("prove.parameters_of_another_program_are_refused") {
  const std::string refusal =
      "the parameters of the call are not those of the operator in this program";
  const profile good = with(sample);
  Mixed m;
  profile p = good;
  p.operators[0].fields.pop_back();
  CHECK(made_again(p, {}, m) == refusal);
  p = good;
  p.operators[0].fields[0].name = "N";
  CHECK(made_again(p, {}, m) == refusal);
  p = good;
  p.operators[0].fields[0].bits = 32;
  CHECK(made_again(p, {}, m) == refusal);
  // Cut anywhere, or longer.
  for (std::size_t i = 0; i < p.nodes.size(); ++i) {
    if (good.nodes[i].kind != kprof::scope_kind::op) continue;
    for (std::size_t size = 0; size <= good.nodes[i].values.packed.size() + 1; ++size) {
      p = good;
      p.nodes[i].values.packed.resize(size, 'x');
      CHECK(made_again(p, {}, m) == (size == good.nodes[i].values.packed.size() ? "" : refusal));
    }
  }
}

namespace {

std::uint64_t spin(std::uint64_t rounds) {
  std::uint64_t x = rounds;
  for (std::uint64_t i = 0; i < rounds; ++i) {
    x = x * 6364136223846793005U + 1442695040888963407U;
    __asm__ volatile("" : "+r"(x));
  }
  return x;
}

struct Spin {
  std::int64_t rounds = 0;
};

bool a_quarter(const kprof::advice_facts& of, std::size_t i, kprof::advice& out) {
  if (of.rows[i].name != "Spin") return false;
  out.fact = "goes round too often";
  out.trials.push_back({{"rounds", 10'000}});
  return true;
}
constexpr kprof::advice_rule fewer_rounds{"SP1", kprof::advice_about::calls,
                                          kprof::advice_cause::work, 0, &a_quarter};

}  // namespace

TEST_CASE("prove.runs_the_operator_with_the_advised_parameters") {
  const kprof::advice_registration known{fewer_rounds};
  int set_ups = 0;
  const auto again = kprof::prove<Spin>([&](const Spin& p) {
    ++set_ups;
    CHECK((p.rounds == 40'000 || p.rounds == 10'000));
    return [p] {
      KPROF_OP(Spin, p);
      return spin(static_cast<std::uint64_t>(p.rounds));
    };
  });
  REQUIRE(kprof::start());
  {
    KPROF_OP(Spin, {.rounds = 40'000});
    static_cast<void>(spin(40'000));
  }
  const profile p = kprof::snapshot();
  const std::string page = page_of(p, {"prove"});
  CHECK(set_ups == 3);
  const std::size_t at = page.find("Measured: ");
  REQUIRE(at != std::string::npos);
  const double times = std::atof(page.c_str() + at + 10);
  CHECK(times > 2);
  CHECK(times < 8);
  CHECK(has(page, " x with rounds=10000 ("));
  CHECK(kprof::snapshot().complete.recorded == 1);  // what was tried out is not recorded
  CHECK(kprof::snapshot().recording);
  kprof::stop();
}

TEST_CASE("prove.the_last_one_of_an_operator_counts_while_it_exists") {
  const profile p = convolutions();
  const rerun_link* const none = kprof::detail::find_rerun(p, p.nodes[1]);
  CHECK(none == nullptr);
  const scripted first;
  {
    const scripted second;
    CHECK(kprof::detail::find_rerun(p, p.nodes[1]) == &second);
  }
  CHECK(kprof::detail::find_rerun(p, p.nodes[1]) == &first);
  CHECK(kprof::detail::find_rerun(p, p.nodes[0]) == nullptr);  // a thread
}
