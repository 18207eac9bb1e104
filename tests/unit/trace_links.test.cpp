// SPDX-License-Identifier: MIT
// needs: exceptions

// Arrows from forward to backward calls, in both forms of a trace.

#include <kprof/report/load.hpp>
#include <kprof/report/trace.hpp>
#include <kprof/report/write.hpp>

#include "../support/catch.hpp"
#include "../support/packet_reader.hpp"
#include "../support/timeline_builder.hpp"
#include "../support/trace_reader.hpp"

#include <boost/json.hpp>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

using kprof_test::trace_text;

namespace {
namespace traced_links {

/// Forward calls on one thread and backward ones on another, as autograd has them; one kernel.
struct training : kprof_test::timeline_builder {
  training() {
    const std::uint32_t main = thread("main", 1), other = thread("autograd", 2);
    const std::uint32_t forward = op(main, "Gemm", "M=1"), backward = op(other, "Gemm", "M=2");
    scope_at(forward, 1'000, 2'000);
    scope_at(forward, 3'000, 4'000);
    scope_at(backward, 5'000, 6'000);
    scope_at(backward, 7'000, 8'500);
    kernel_at({1'100, 1'200, 1'500, 1'900}, {.scope = forward});
    p.device.timeline.items.back().correlation = 2;
    kprof_test::add_device(p);
    p.links = {{2, 1}, {3, 0}};
  }
};

/// Begins at both ends of each arrow of calls.
using ends = std::set<std::pair<std::int64_t, std::int64_t>>;

ends arrows_in_json(const std::string& text) {
  std::map<std::uint64_t, std::pair<std::int64_t, std::int64_t>> by_number;
  const boost::json::value trace = boost::json::parse(text);
  for (const boost::json::value& e : trace.at("traceEvents").as_array()) {
    const boost::json::object& event = e.as_object();
    const boost::json::value* const category = event.if_contains("cat");
    if (category == nullptr || category->as_string() != "fwdbwd") continue;
    CHECK(event.at("name").as_string() == "fwdbwd");
    auto& arrow = by_number[event.at("id").to_number<std::uint64_t>()];
    const bool starts = event.at("ph").as_string() == "s";
    if (!starts) CHECK(event.at("bp").as_string() == "e");
    CHECK(event.at("tid").to_number<int>() == (starts ? 1 : 2));
    (starts ? arrow.first : arrow.second) = kprof_test::ns(event.at("ts"));
  }
  ends out;
  for (const auto& [number, arrow] : by_number) out.insert(arrow);
  return out;
}
ends arrows_in_packets(const std::string& text) {
  const kprof_test::read_packets trace(text);
  ends out;
  for (const kprof_test::packet_flow& f : trace.flows)
    if (trace.slices[f.from].category == "cpu_op" && trace.slices[f.to].category == "cpu_op")
      out.insert({trace.slices[f.from].begin, trace.slices[f.to].begin});
  return out;
}

}  // namespace traced_links
}  // namespace

using namespace traced_links;

TEST_CASE("trace_links.an_arrow_leads_from_a_forward_call_to_its_backward_call") {
  const training run;
  const ends wanted{{1'000, 7'000}, {3'000, 5'000}};
  const std::string json = trace_text(run.p);
  CHECK(arrows_in_json(json) == wanted);
  CHECK(kprof_test::read_trace(json).loose_arrows() == std::vector<std::string>{});
  CHECK(arrows_in_packets(trace_text(run.p, {{"path", "a.pftrace"}})) == wanted);
}

TEST_CASE("trace_links.what_the_timeline_does_not_have_gets_no_arrow") {
  training run;
  run.p.links = {{2, 99}, {99, 0}, {0, 3}, {1, 1}};  // of nothing, backward in time, to itself
  CHECK(arrows_in_json(trace_text(run.p)).empty());
  CHECK(arrows_in_packets(trace_text(run.p, {{"path", "a.pftrace"}})).empty());
  run.p.links = {{2, 0}, {3, 0}};  // two calls that belong to one
  const ends wanted{{1'000, 5'000}, {1'000, 7'000}};
  CHECK(arrows_in_json(trace_text(run.p)) == wanted);
  CHECK(arrows_in_packets(trace_text(run.p, {{"path", "a.pftrace"}})) == wanted);
}
