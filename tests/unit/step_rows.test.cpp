// SPDX-License-Identifier: MIT
// needs: guards
// Rows that are told apart by step: they add up to the rows without steps.

#include <kprof/kprof.hpp>
#include <kprof/tables.hpp>

#include "catch.hpp"
#include "device_profiles.hpp"
#include "report_page.hpp"
#include "ten_profiles.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

using kprof::absence;
using kprof::group_key;
using kprof::group_value;
using kprof::grouping;
using kprof::operator_row;
using kprof::profile;
using kprof::step_share;

namespace {

grouping parsed(const std::string& text) {
  const kprof::parsed_grouping p = grouping::parse(text);
  INFO(text << ": " << p.error.message);
  REQUIRE(p.error);
  return p.value;
}

/// Ends `count` steps of thread 0, of 1000 ns each.
void add_steps(profile& p, std::uint32_t count) {
  kprof::thread_steps& t = p.stepping.threads.emplace_back();
  t.thread = 0;
  t.count = count;
  t.total_ns = 1000.0 * count;
  for (std::uint32_t i = 0; i < count; ++i)
    p.steps.push_back({10 + i, 0, true, 1000 * static_cast<std::int64_t>(i),
                       1000 * static_cast<std::int64_t>(i + 1)});
  p.stepping.whole_from = 0;
}

/// Gives each scope a part in some steps, of whole calls and nanoseconds.
profile with_steps(profile p, unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](std::uint64_t n) { return n == 0 ? 0 : random() % n; };
  add_steps(p, 5);
  for (std::uint32_t step = 0; step < 5; ++step)
    for (std::uint32_t i = 0; i < p.nodes.size(); ++i) {
      const kprof::scope_node& n = p.nodes[i];
      if (n.kind == kprof::scope_kind::root || below(3) == 0) continue;
      step_share s;
      s.step = step;
      s.node = i;
      s.calls = n.calls / 5 - below(n.calls / 5);
      s.total_ns = std::floor(n.total_ns / (5 + static_cast<double>(below(4))));
      s.self_ns = std::floor(n.self_ns / (5 + static_cast<double>(below(4))));
      if (s.calls > 0 || std::fabs(s.total_ns + s.self_ns) >= 1)  // random times may be negative
        p.stepping.shares.push_back(s);
    }
  return p;
}

/// Gives the device's timeline each run of each row of work that was launched by a call, at random
/// times.
profile with_items(profile p, unsigned seed) {
  std::mt19937 random(seed);
  std::uint64_t runs = 0;
  for (kprof::device_work& work : p.device.work) {
    while (work.calls > 50) {  // that many are enough
      work.calls /= 4, work.untimed /= 4, work.gaps /= 4;
      work.total_ns = std::floor(work.total_ns / 4);
    }
    runs += work.calls;
  }
  p.device.timeline.items.reserve(runs);
  std::uint32_t correlation = 0;
  for (std::uint32_t w = 0; w < p.device.work.size(); ++w) {
    const kprof::device_work& work = p.device.work[w];
    const std::uint64_t untimed = std::min(work.untimed, work.calls), timed = work.calls - untimed;
    double left = std::floor(work.total_ns);
    for (std::uint64_t run = 0; run < work.calls; ++run) {
      kprof::device_item& i = p.device.timeline.items.emplace_back();
      i.work = w;
      i.correlation = ++correlation;
      if (work.scope < p.nodes.size()) i.call_begin = static_cast<int>(random() % 7000);
      i.start = 10'000;
      const double ns =
          run + 1 < timed ? std::floor(work.total_ns / static_cast<double>(timed)) : left;
      left -= ns;
      i.end = run < timed ? i.start + static_cast<std::int64_t>(ns) : 0;
    }
  }
  return p;
}

struct sums {
  std::uint64_t calls = 0, captured = 0, replays = 0, open = 0, invalid = 0, kernels = 0,
                copies = 0;
  double self_ns = 0, total_ns = 0, open_ns = 0, device_ns = 0, device_total_ns = 0, flops = 0,
         bytes = 0, share = 0;
  absence no_flops = absence::none, no_bytes = absence::none;

  void add(const operator_row& r) {
    calls += r.calls, captured += r.captured, replays += r.replays, open += r.open;
    invalid += r.invalid_calls, kernels += r.kernels, copies += r.copies;
    self_ns += r.self_ns, total_ns += r.total_ns, open_ns += r.open_ns, device_ns += r.device_ns;
    share += r.share, device_total_ns += r.device_total_ns;
    const auto lacks = [](absence why) {
      return why == absence::no_calls || why == absence::not_replayed ? absence::none : why;
    };
    no_flops = std::max(no_flops, lacks(r.flops.why));
    no_bytes = std::max(no_bytes, lacks(r.bytes.why));
    flops += r.flops.value;
    bytes += r.bytes.value;
  }
};

/// What rows have in common beside the step.
std::string name_of(const profile& p, const operator_row& row) {
  std::string out;
  for (const group_value& v : row.values) {
    if (v.kind == group_key::step) continue;
    out += v.key + '=' + (v.known ? '+' + v.text : "-");
    if (v.kind == group_key::parameters) out += std::to_string(p.nodes[row.node].op) + row.name;
    if (v.kind == group_key::thread) out += std::to_string(p.nodes[row.node].thread);
    out += '\n';
  }
  return out;
}
std::map<std::string, sums> table_of(const profile& p, const grouping& by) {
  std::map<std::string, sums> out;
  std::map<std::uint64_t, int> keys;
  for (const operator_row& row : operator_table(p, by)) {
    out[name_of(p, row)].add(row);
    REQUIRE(++keys[row.key] == 1);
    REQUIRE(row.values.size() == by.keys().size());
  }
  return out;
}

void check_equal(const profile& p, const grouping& whole, const grouping& by_step) {
  INFO("by " << by_step.text());
  const std::map<std::string, sums> rows = table_of(p, whole), parts = table_of(p, by_step);
  REQUIRE(rows.size() == parts.size());
  for (const auto& [name, row] : rows) {
    INFO(name);
    const auto found = parts.find(name);
    REQUIRE(found != parts.end());
    const sums& sum = found->second;
    REQUIRE(sum.calls == row.calls);
    REQUIRE(sum.captured == row.captured);
    REQUIRE(sum.replays == row.replays);
    REQUIRE(sum.open == row.open);
    REQUIRE(sum.invalid == row.invalid);
    REQUIRE(sum.kernels == row.kernels);
    REQUIRE(sum.copies == row.copies);
    REQUIRE(std::abs(sum.self_ns - row.self_ns) < 0.5);
    REQUIRE(std::abs(sum.total_ns - row.total_ns) < 0.5);
    REQUIRE(std::abs(sum.open_ns - row.open_ns) < 0.5);
    REQUIRE(std::abs(sum.device_ns - row.device_ns) < 1 + 1e-9 * row.device_ns);
    REQUIRE(std::abs(sum.device_total_ns - row.device_total_ns) < 1 + 1e-9 * row.device_ns);
    REQUIRE(sum.share == Approx(row.share).margin(1e-9));
    if (row.no_flops == absence::none && sum.no_flops == absence::none)
      REQUIRE(sum.flops == Approx(row.flops).margin(0.5));
    if (row.no_bytes == absence::none && sum.no_bytes == absence::none)
      REQUIRE(sum.bytes == Approx(row.bytes).margin(0.5));
  }
}

std::vector<std::string> keys_of(const profile& p) {
  std::vector<std::string> keys{"op",     "parameters", "pass",   "dtype",
                                "region", "layer",      "thread", "call_site"};
  for (const std::string& name : kprof::detail::field_names(p))
    if (keys.size() < 11 && kprof::detail::is_field_path(name))
      keys.push_back(grouping::field(name).text());
  return keys;
}

void check_pairs(const profile& p) {
  check_equal(p, grouping::nothing(), group_key::step);
  const std::vector<std::string> keys = keys_of(p);
  for (const std::string& a : keys) {
    check_equal(p, parsed(a), parsed(a + "+step"));
    for (const std::string& b : keys) check_equal(p, parsed(a + '+' + b), parsed(a + "+step+" + b));
  }
}

/// A run of small_device_profile() with two steps: of the Gemm's 10 calls 3 and 4 are in them.
profile two_steps() {
  profile p = kprof_test::small_device_profile();
  add_steps(p, 2);
  for (std::uint32_t i = 0; i < p.nodes.size(); ++i)
    if (p.nodes[i].name == "Gemm")
      p.stepping.shares = {{0, i, 3, 1500, 1500}, {1, i, 4, 2000, 1000}};
  return p;
}
const operator_row& row_of_step(const std::vector<operator_row>& rows, const std::string& name,
                                const std::string& step) {
  for (const operator_row& row : rows)
    if (row.name == name && row.values.back().text == step) return row;
  FAIL("no row of " << name << " in step " << step);
  std::abort();
}
double value_of(const operator_row& row, const char* metric) {
  const kprof::figure f = kprof::find_metric(metric)->of(row);
  return f.known() ? f.value : -static_cast<double>(f.why);
}

}  // namespace

TEST_CASE("step_rows.rows_of_steps_add_up_for_every_two_keys") {
  for (const auto& [name, run] : kprof_test::ten_profiles()) {
    INFO(name);
    check_pairs(with_steps(run, 1));
    check_pairs(with_items(with_steps(run, 2), 2));
  }
#ifdef KPROF_TEST_SHORT
  constexpr unsigned seeds = 1;
#else
  constexpr unsigned seeds = 8;
#endif
  for (unsigned seed = 0; seed < seeds; ++seed) {
    INFO("seed " << seed);
    check_pairs(with_steps(kprof_test::random_profile(seed), seed));
    check_pairs(with_steps(kprof_test::random_device_profile(100 + seed), seed));
    check_pairs(with_items(with_steps(kprof_test::random_device_profile(100 + seed), seed), seed));
  }
}

TEST_CASE("step_rows.a_row_of_a_step_has_what_its_scopes_did_and_no_more") {
  const profile p = two_steps();
  const std::vector<operator_row> rows = operator_table(p, parsed("op+step"));
  REQUIRE(rows.size() == 5);  // two operators without steps
  const operator_row& second = row_of_step(rows, "Gemm", "11");
  CHECK(second.of_step);
  CHECK(second.calls == 4);
  CHECK(second.total_ns == Approx(2000));
  CHECK(second.self_ns == Approx(1000));
  CHECK(second.flops.value == Approx(4 * 4e6));
  CHECK(second.bytes.value == Approx(4 * 1000));
  CHECK(second.flops_per_call.value == Approx(4e6));
  // Its kernels are of no step that anybody noted.
  const double not_by_step = -static_cast<double>(absence::not_by_step);
  for (const char* id :
       {"device",  "device_share", "device_total", "kernels", "copies", "gap",    "waited",
        "replays", "open",         "gflops",       "gbs",     "mean",   "median", "p99",
        "min",     "max",          "first",        "cpu",     "roof",   "ideal",  "lost"}) {
    INFO(id);
    CHECK(value_of(second, id) == not_by_step);
  }
  CHECK(std::string{explain(absence::not_by_step)} == "not recorded for single steps");
  const operator_row& rest = row_of_step(rows, "Gemm", "");
  CHECK_FALSE(rest.of_step);
  CHECK_FALSE(rest.values.back().known);
  CHECK(rest.calls == 3);
  CHECK(value_of(rest, "device") == Approx(40'000));
  CHECK(value_of(rest, "gflops") == not_by_step);
  // On the host, a rate is of the calls that ended in the step over the time in it.
  profile host = p;
  host.device = {};
  const std::vector<operator_row> on_host = operator_table(host, parsed("op+step"));
  CHECK(row_of_step(on_host, "Gemm", "11").flops_per_s.value == Approx(16e6 / 2e-6));
}

TEST_CASE("step_rows.shares_that_say_more_than_their_scope_are_left_out") {
  const profile good = two_steps();
  for (int damage = 0; damage < 5; ++damage) {
    profile p = good;
    step_share& s = p.stepping.shares[1];
    if (damage == 0) s.calls = 8;
    if (damage == 1) s.total_ns = 4'000;
    if (damage == 2) s.self_ns = 1e300;
    if (damage == 3) s.step = 2;
    if (damage == 4) s.node = 4'000'000;
    INFO(damage);
    check_equal(p, grouping::op, parsed("op+step"));
    std::uint64_t of_steps = 0;
    for (const operator_row& row : operator_table(p, parsed("op+step")))
      of_steps += row.of_step ? row.calls : 0;
    CHECK(of_steps == (damage == 4 ? 3U : 0U));
  }
  profile odd = good;
  odd.stepping.shares[0].total_ns = std::nan("");
  odd.stepping.shares[1].self_ns = -1e9;
  check_equal(odd, grouping::op, parsed("op+step"));
}

TEST_CASE("step_rows.the_report_tells_rows_apart_by_step") {
  const profile p = two_steps();
  kprof::report_options options = kprof_test::at_width(100);
  options.by = parsed("op+step");
  const std::string page = kprof_test::page_of(p, options);
  INFO(page);
  CHECK(kprof_test::has(page, "Operators by op and step, sorted by self"));
  CHECK(kprof_test::has(kprof_test::line_with(page, "step 11"), " n/a"));
  CHECK(kprof_test::has(page, "n/a beside a step: not recorded for single steps"));
  CHECK(kprof_test::has(page, "no step: calls outside steps, and calls that threads share"));
  CHECK(kprof_test::has(page, "devices, whose timeline has that of no such step whole"));
  CHECK_FALSE(kprof_test::has(page, "does not have whole"));
  CHECK_FALSE(kprof_test::has(kprof_test::section(page, "Kernels"), "no step"));

  profile half = p;
  half.stepping.whole_from = 1000;
  options.width = 200;
  CHECK(kprof_test::has(kprof_test::page_of(half, options),
                        "those of 1 step of 2 that the timeline does"));
  half.stepping.threads[0].count = 9;
  CHECK(kprof_test::has(kprof_test::page_of(half, options),
                        "not have whole; and those of 7 steps of 9 whose marks are not kept"));
  // Steps of other threads are no steps of a row, whole or not.
  profile two = p;
  two.stepping.threads.push_back(two.stepping.threads[0]);
  two.stepping.threads[1].thread = kprof::thread_steps::none;
  two.stepping.threads[1].count = 3;
  const std::string others = kprof_test::page_of(two, options);
  INFO(others);
  CHECK(kprof_test::has(
      others, "those of 3 steps of threads other than main 1, whose steps take most time"));
  CHECK_FALSE(kprof_test::has(others, "does not have whole"));
}

TEST_CASE("step_rows.without_steps_a_line_says_how_to_get_them") {
  profile p = two_steps();
  const auto complaints = [&] { return check_grouping(p, parsed("op+step")).complaints; };
  CHECK(complaints().empty());
  p.stepping.shares.clear();
  REQUIRE(complaints().size() == 1);
  CHECK(kprof_test::has(complaints()[0], "by=op+step: the timeline holds no whole step"));
  p.stepping = {};
  REQUIRE(complaints().size() == 1);
  CHECK(kprof_test::has(complaints()[0], "no steps were recorded; write KPROF_STEP();"));
  CHECK(kprof_test::has(complaints()[0], "KPROF=step=REGION"));
  CHECK(check_grouping(p, parsed("op+step")).value == grouping::op);
  CHECK(check_grouping(p, parsed("step")).value == grouping::parameters);
  kprof::report_options options = kprof_test::plain_at_width(100);
  options.by = parsed("step");
  CHECK(kprof_test::has(kprof_test::page_of(p, options), "! by=step: no steps were recorded"));
}
