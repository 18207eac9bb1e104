// SPDX-License-Identifier: MIT
// needs: exceptions

// Traces of random and hostile profiles: an independent parser reads each, no slice crosses another
// of its row, every arrow leads somewhere, and nothing of the profile is missing.

#include <kprof/report/load.hpp>
#include <kprof/report/trace.hpp>
#include <kprof/report/write.hpp>

#include "../support/catch.hpp"
#include "../support/child.hpp"
#include "../support/sample_profile.hpp"
#include "../support/timeline_oracle.hpp"
#include "../support/trace_chaos.hpp"
#include "../support/trace_reader.hpp"
#include "../support/utf8.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

using kprof::detail::time_order;
using kprof::detail::trace_event;
using kprof_test::add_chaos;
using kprof_test::number_launches;
using kprof_test::read_trace;
using kprof_test::trace_slice;
using kprof_test::trace_text;

namespace {

/// Scopes, items and steps that have a place and a time, and one slice for each.
std::size_t placed_items(const kprof::profile& p) {
  std::size_t n = 0;
  for (const kprof::device_item& i : p.device.timeline.items)
    n += i.work < p.device.work.size() && i.end >= i.start ? 1U : 0U;
  return n;
}
std::size_t placed_scopes(const kprof::profile& p, kprof::scope_kind kind) {
  std::size_t n = 0;
  for (const kprof::timeline_scope& s : p.timeline)
    n += s.node < p.nodes.size() && p.nodes[s.node].kind == kind &&
                 p.nodes[s.node].thread < p.threads.size()
             ? 1U
             : 0U;
  return n;
}
std::size_t counted_steps(const kprof::profile& p) {
  std::size_t n = 0;
  for (const kprof::step_mark& s : p.steps)
    n += s.thread < p.threads.size() && s.end >= s.begin && s.counts ? 1U : 0U;
  return n;
}

void check_whole(const kprof::profile& p, unsigned seed, const char* detail) {
  const std::string text = trace_text(p, {{"detail", detail}});
  CAPTURE(seed, detail);
  const read_trace trace(text);
  CHECK(trace.crossing() == std::vector<std::string>{});
  CHECK(trace.loose_arrows() == std::vector<std::string>{});
  CHECK(trace.of("cpu_op").size() == placed_scopes(p, kprof::scope_kind::op));
  CHECK(trace.of("user_annotation").size() ==
        placed_scopes(p, kprof::scope_kind::region) + counted_steps(p));
  CHECK(trace.of("kernel").size() + trace.of("gpu_memcpy").size() + trace.of("gpu_memset").size() ==
        placed_items(p));
  for (const trace_slice& s : trace.slices) {
    CHECK(s.begin >= 0);
    CHECK(s.end >= s.begin);
    CHECK(trace.rows.count(s.row) == 1);
    CHECK(trace.processes.count(s.row.first) == 1);
  }
  for (const std::string& line : kprof_test::lines_of(text)) CHECK(kprof_test::is_plain_text(line));
}
void check_whole(const kprof::profile& p, unsigned seed) {
  for (const char* const detail : {"short", "kineto"}) check_whole(p, seed, detail);
}

}  // namespace

TEST_CASE("trace_random.random_timelines_come_whole") {
  for (std::uint32_t seed = 0; seed < kprof_test::seeds / 20; ++seed) {
    kprof_test::random_timeline run(seed);
    number_launches(run.p);
    check_whole(run.p, seed);
  }
}

TEST_CASE("trace_random.what_has_no_sense_is_left_out_and_harms_nothing_else") {
  for (std::uint32_t seed = 0; seed < kprof_test::seeds / 20; ++seed) {
    kprof_test::random_timeline run(seed);
    kprof::profile p = seed % 2 == 0 ? kprof_test::random_profile(seed) : run.p;
    add_chaos(p, seed);
    number_launches(p);
    check_whole(p, seed);
  }
}

TEST_CASE("trace_random.names_are_what_every_viewer_reads") {
  kprof::profile p = kprof_test::hostile_profile();
  for (std::uint32_t i = 0; i < p.nodes.size(); ++i)
    if (p.nodes[i].kind != kprof::scope_kind::root) p.timeline.push_back({i, i, 1});
  check_whole(p, 0);
  const std::string text = trace_text(p);
  CHECK(text.find("\\u") == std::string::npos);  // Perfetto shows such escapes as they are
  CHECK(text.find("\"name\":\"two\u240A"
                  "lines\u240D\u240A\u2409"
                  "and a tab\"") != std::string::npos);
  CHECK(text.find("nul \u2400 inside") != std::string::npos);
  CHECK(text.find("\"name\":\"(no name)\"") != std::string::npos);
  CHECK(text.find("not utf-8: \uFFFD\uFFFD \uFFFD\uFFFD \uFFFD\uFFFD\uFFFD ") != std::string::npos);
  CHECK(text.find("quotes \\\"double\\\" 'single' `back`") != std::string::npos);
  CHECK(text.find('"' + std::string(1'000, 'x') + "\u2026\"") != std::string::npos);
  CHECK(text.find(std::string(1'001, 'x')) == std::string::npos);
}

TEST_CASE("trace_random.events_come_in_order_through_small_windows_too") {
  const auto order = [](const kprof::profile& p, std::size_t most) {
    std::vector<std::tuple<std::int64_t, int, std::uint32_t>> out;
    time_order(p, most).each([&](const trace_event& e) {
      out.push_back({e.begin, static_cast<int>(e.kind), e.index});
    });
    return out;
  };
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    kprof_test::random_timeline run(seed);
    if (seed % 2 == 0) add_chaos(run.p, seed);
    for (std::int64_t i = 0; i < 50; ++i) {
      const std::int64_t at = 1'000'000'000'000 + i / 3 * (i < 25 ? 1 : 1'000'000);
      run.scope_at(3, at, at + 5);
    }
    const auto whole = order(run.p, 1'000'000);
    CAPTURE(seed);
    CHECK(time_order(run.p).count() == whole.size());
    CHECK(std::is_sorted(whole.begin(), whole.end(), [](const auto& a, const auto& b) {
      return std::get<0>(a) < std::get<0>(b);
    }));
    for (const std::size_t most : {1U, 2U, 7U, 20U}) CHECK(order(run.p, most) == whole);
  }
}

TEST_CASE("trace_random.a_name_that_ends_in_gz_packs") {
  const kprof_test::temporary_folder folder;
  kprof_test::random_timeline run(3);
  for (std::int64_t i = 0; i < 5'000; ++i) run.scope_at(3, 1'000 + 10 * i, 1'005 + 10 * i);
  const std::string path = folder.path("run.json.gz");
  REQUIRE(kprof::write(run.p, "trace", {{"path", path}}).message == "");
  CHECK(std::system(("gzip -t " + path + " && gzip -d " + path).c_str()) == 0);
  CHECK(kprof_test::read_path(folder.path("run.json")) == trace_text(run.p));
}

TEST_CASE("trace_random.without_zlib_an_error_says_what_to_do") {
  std::string packed;
  kprof::text_sink out(
      [](void* to, std::string_view text) {
        static_cast<std::string*>(to)->append(text);
        return kprof::status{};
      },
      &packed);
  kprof::detail::gzip_packer packer(out, kprof::detail::find_zlib("libno-such-zlib.so"));
  CHECK(packer.so_far().message ==
        "cannot pack it: libz.so.1 is not found; install zlib, or give a path that does not end in "
        ".gz");
  CHECK_FALSE(packer.finish().ok());
  out.flush();
  CHECK(packed.empty());
}
