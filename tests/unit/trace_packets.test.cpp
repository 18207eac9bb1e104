// SPDX-License-Identifier: MIT
// needs: exceptions

// Traces as Perfetto's packets are read back by a reader of their own, and compared with the JSON
// of the same profile, which trace.test.cpp and trace_random.test.cpp compare with the profile.

#include <kprof/report/load.hpp>
#include <kprof/report/save.hpp>
#include <kprof/report/trace.hpp>
#include <kprof/report/write.hpp>

#include "../support/catch.hpp"
#include "../support/child.hpp"
#include "../support/packet_reader.hpp"
#include "../support/sample_profile.hpp"
#include "../support/timeline_oracle.hpp"
#include "../support/trace_chaos.hpp"
#include "../support/trace_reader.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <tuple>
#include <vector>

using kprof_test::packet_slice;
using kprof_test::read_packets;
using kprof_test::read_trace;
using kprof_test::timeline_builder;
using kprof_test::trace_slice;
using kprof_test::trace_text;

namespace {

std::string packets_of(const kprof::profile& p, const char* gpu = "stages") {
  return trace_text(p, {{"path", "a.pftrace"}, {"gpu", gpu}});
}

/// Category, name, begin, end and the name of the row, and of the process of work on devices.
using shown = std::tuple<std::string, std::string, std::int64_t, std::int64_t, std::string>;

std::vector<shown> slices_of(const read_trace& trace) {
  std::vector<shown> out;
  for (const trace_slice& s : trace.slices)
    out.push_back({s.category, s.name, s.begin, s.end, trace.row_of(s)});
  std::sort(out.begin(), out.end());
  return out;
}
std::vector<shown> slices_of(const read_packets& trace) {
  std::vector<shown> out;
  for (const packet_slice& s : trace.slices) {
    const std::string& row = trace.row_of(s);
    const std::size_t of_gpu = s.gpu < 0 || !row.starts_with("GPU ") ? 0 : row.find("stream");
    out.push_back({s.category, s.name, s.begin, s.end, row.substr(of_gpu)});
  }
  std::sort(out.begin(), out.end());
  return out;
}

/// Begins of the slices at both ends of each arrow.
using ends = std::vector<std::pair<std::int64_t, std::int64_t>>;
ends arrows_of(const read_trace& trace) {
  ends out;
  std::map<std::int64_t, std::int64_t> from;
  for (const kprof_test::arrow_end& a : trace.starts) from[a.id] = a.at;
  for (const kprof_test::arrow_end& a : trace.ends)
    for (const trace_slice& s : trace.slices)
      if (s.row == a.row && s.begin <= a.at && a.at < s.end)
        out.push_back({from.at(a.id), s.begin});
  std::sort(out.begin(), out.end());
  return out;
}
ends arrows_of(const read_packets& trace) {
  ends out;
  for (const kprof_test::packet_flow& f : trace.flows)
    out.push_back({trace.slices[f.from].begin, trace.slices[f.to].begin});
  std::sort(out.begin(), out.end());
  return out;
}

void check_as_json(const kprof::profile& p, unsigned seed, const char* gpu) {
  CAPTURE(seed, gpu);
  const read_trace json(trace_text(p));
  const read_packets packets(packets_of(p, gpu));
  CHECK(slices_of(packets) == slices_of(json));
  CHECK(arrows_of(packets) == arrows_of(json));
  const auto sorted = [](std::vector<kprof_test::counter_point> points) {
    std::stable_sort(points.begin(), points.end(), [](const auto& a, const auto& b) {
      return std::tie(a.name, a.at) < std::tie(b.name, b.at);
    });
    return points;
  };
  const auto seen = sorted(packets.points), wanted = sorted(json.points);
  REQUIRE(seen.size() == wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    CHECK(seen[i].name == wanted[i].name);
    CHECK(seen[i].at == wanted[i].at);
    CHECK(seen[i].value == Approx(wanted[i].value).epsilon(1e-3));
  }
  const boost::json::object& said = json.top.at("kprof").as_object();
  for (const auto& [key, value] : said)
    if (value.is_int64()) CHECK(packets.missing.at(key) == std::to_string(value.as_int64()));
}
void check_as_json(const kprof::profile& p, unsigned seed) {
  for (const char* const gpu : {"stages", "tracks"}) check_as_json(p, seed, gpu);
}

/// A text sink into a string.
kprof::status append_to(void* to, std::string_view text) {
  static_cast<std::string*>(to)->append(text);
  return {};
}

}  // namespace

TEST_CASE("trace_packets.slices_have_the_names_and_arguments_of_the_profile") {
  timeline_builder run;
  const auto main = run.thread("main", 4242), gemm = run.op(main, "Gemm", "M=64 N=32 type=f32");
  run.work(gemm, 4096, 300, 100);
  run.p.nodes[gemm].calls = 1;
  run.scope_at(gemm, 2'000, 12'501);
  run.kernel_at({3'000, 5'001, 15'000, 35'050}, {.scope = gemm});
  run.p.device.timeline.items.back().correlation = 11;
  kprof::device_work& kernel = run.p.device.work[0];
  kernel.grid[0] = 4, kernel.grid[1] = kernel.grid[2] = 1;
  kernel.registers = 64, kernel.static_shared = 1000, kernel.dynamic_shared = 24;
  kprof_test::add_device(run.p);
  run.step_at(1'900, 40'000);
  run.p.program = "train";
  run.p.clock.start_realtime_ns = 1'700'000'000'123'456'789;
  const read_packets trace(packets_of(run.p, "tracks"));
  const packet_slice op = trace.called("Gemm").at(0);
  CHECK(op.begin == 2'000);
  CHECK(op.end == 12'501);
  CHECK(op.depth == 1);
  CHECK(op.args.at("Input Dims") == "M=64 N=32 type=f32");
  CHECK(op.args.at("flops") == "4096");
  CHECK(op.args.at("bytes") == "400");
  CHECK(op.args.at("type") == "f32");
  CHECK(trace.called("ProfilerStep#0").at(0).depth == 0);
  const packet_slice launch = trace.called("cudaLaunchKernel").at(0);
  CHECK(launch.depth == 2);
  CHECK(launch.args.at("correlation") == "11");
  const packet_slice ran = trace.of("kernel").at(0);
  CHECK(ran.args.at("grid") == "[4,1,1]");
  CHECK(ran.args.at("registers per thread") == "64");
  CHECK(ran.args.at("shared memory") == "1024");
  CHECK(trace.row_of(ran) == "stream 7");
  CHECK(trace.tracks.at(trace.tracks.at(ran.track).parent).name == "GPU 0 NVIDIA H100 80GB HBM3");
  CHECK(arrows_of(trace) == ends{{3'000, 15'000}});
  CHECK(trace.clocks.at(6) == 0);
  CHECK(trace.clocks.at(1) == 1'700'000'000'123'456'789U);
  CHECK(trace.missing.at("numSms") == "132");
}

TEST_CASE("trace_packets.an_arrow_leads_on_though_clocks_differ") {
  timeline_builder run;
  const auto gemm = run.op(run.thread("main", 99), "Gemm");
  run.scope_at(gemm, 1'000, 2'000);
  run.kernel_at({1'500, 1'900, 1'400, 2'500}, {.scope = gemm});  // seems to start before its launch
  run.p.device.timeline.items.back().correlation = 5;
  for (const char* const gpu : {"stages", "tracks"})
    CHECK(arrows_of(read_packets(packets_of(run.p, gpu))) == ends{{1'500, 1'400}});
}

TEST_CASE("trace_packets.work_of_devices_is_render_stages") {
  timeline_builder run;
  const auto main = run.thread("main", 4242), gemm = run.op(main, "Gemm");
  run.scope_at(gemm, 2'000, 12'501);
  run.kernel_at({3'000, 5'001, 15'000, 35'050}, {.scope = gemm});
  run.p.device.timeline.items.back().correlation = 11;
  kprof::device_work& kernel = run.p.device.work[0];
  kernel.grid[0] = 4, kernel.grid[1] = 2, kernel.grid[2] = 1;
  kernel.block[0] = 256, kernel.block[1] = kernel.block[2] = 1;
  kernel.registers = 64, kernel.static_shared = 1000, kernel.dynamic_shared = 24;
  kprof_test::add_device(run.p);
  kprof::device_work copy = kernel;
  copy.task = kprof::device_task::copy;
  copy.direction = kprof::copy_direction::host_to_device;
  run.p.device.work.push_back(copy);
  run.p.device.timeline.items.push_back({.work = 1, .stream = 7, .start = 40'000, .end = 41'000});
  run.p.device.timeline.items.back().bytes = 5'000;
  const read_packets trace(packets_of(run.p));
  const packet_slice ran = trace.of("kernel").at(0);
  CHECK(ran.gpu == 0);
  CHECK(ran.pid == 4242);
  CHECK(ran.begin == 15'000);
  CHECK(ran.end == 35'050);
  CHECK(trace.row_of(ran) == "stream 7");
  CHECK(ran.args.at("grid") == "[4,2,1]");
  CHECK(ran.args.at("block") == "[256,1,1]");
  CHECK(ran.args.at("registers per thread") == "64");
  CHECK(ran.args.at("shared memory") == "1024");
  CHECK(ran.args.at("correlation") == "11");
  CHECK(ran.args.at("waited (ns)") == "12000");
  const packet_slice copied = trace.of("gpu_memcpy").at(0);
  CHECK(copied.args.at("bytes") == "5000");
  CHECK(copied.args.at("memory bandwidth (GB/s)") == "5");
  CHECK(copied.args.count("waited (ns)") == 0);
  CHECK(trace.explains_correlation);
  CHECK(trace.called("cudaLaunchKernel").at(0).args.at("correlation") == "11");
  // No track of a stream beside its queue.
  CHECK(std::count_if(trace.tracks.begin(), trace.tracks.end(),
                      [](const auto& of) { return of.second.name == "stream 7"; }) == 1);
}

TEST_CASE("trace_packets.queues_of_several_devices_have_different_names") {
  timeline_builder run;
  run.kernel_at({-1, -1, 1'000, 2'000});
  run.kernel_at({-1, -1, 1'000, 2'000});
  run.p.device.work.push_back(run.p.device.work[0]);
  run.p.device.work[1].device = 1;
  run.p.device.timeline.items[1].work = 1;
  const read_packets trace(packets_of(run.p));
  REQUIRE(trace.slices.size() == 2);
  for (const packet_slice& s : trace.slices)
    CHECK(trace.row_of(s) == "GPU " + std::to_string(s.gpu) + " stream 7");
  CHECK(trace.slices[0].gpu + trace.slices[1].gpu == 1);
}

TEST_CASE("trace_packets.random_timelines_show_what_the_json_shows") {
  for (std::uint32_t seed = 0; seed < kprof_test::seeds / 20; ++seed) {
    kprof_test::random_timeline run(seed);
    kprof_test::number_launches(run.p);
    check_as_json(run.p, seed);
  }
}

TEST_CASE("trace_packets.what_has_no_sense_is_left_out_as_from_the_json") {
  for (std::uint32_t seed = 0; seed < kprof_test::seeds / 20; ++seed) {
    kprof_test::random_timeline run(seed);
    kprof::profile p = seed % 2 == 0 ? kprof_test::random_profile(seed) : run.p;
    kprof_test::add_chaos(p, seed);
    kprof_test::number_launches(p);
    check_as_json(p, seed);
  }
}

TEST_CASE("trace_packets.names_of_the_program_come_plain") {
  kprof::profile p = kprof_test::hostile_profile();
  for (std::uint32_t i = 0; i < p.nodes.size(); ++i)
    if (p.nodes[i].kind != kprof::scope_kind::root) p.timeline.push_back({i, i, 1});
  check_as_json(p, 0);  // the reader refuses what is no plain text
  const read_packets trace(packets_of(p));
  CHECK(trace.called("quotes \"double\" 'single' `back`").size() == 2);
  CHECK(trace.called(std::string(1'000, 'x') + "\u2026").size() == 2);
  CHECK(trace.called("(no name)").size() >= 1);
}

TEST_CASE("trace_packets.texts_are_forgotten_where_they_are_too_many") {
  timeline_builder run;
  const auto main = run.thread("main", 99);
  for (int i = 0; i < 3'000; ++i) {
    const auto op = run.op(main, "Op" + std::to_string(i % 500), "n=" + std::to_string(i));
    run.scope_at(op, 10 * i, 10 * i + 7);
    if (i % 30 == 0) run.kernel_at({-1, -1, 10 * i, 10 * i + 20}, {.scope = op});
  }
  std::string text;
  kprof::text_sink out(&append_to, &text);
  kprof::detail::trace_source source(run.p);
  kprof::detail::packet_trace format(source, true, out, 20'000);
  kprof::detail::trace_walk(source, format).write();
  out.flush();
  const read_packets small(text), whole(packets_of(run.p));
  CHECK(small.forgotten > 10);
  CHECK(whole.forgotten == 1);
  CHECK(slices_of(small) == slices_of(whole));
  for (std::size_t i = 0; i < whole.slices.size(); ++i)
    CHECK(small.slices[i].args == whole.slices[i].args);
}

TEST_CASE("trace_packets.a_loaded_profile_gives_the_same") {
  const kprof_test::random_timeline run(3);
  const kprof::loaded_profile loaded = kprof::load_text(kprof::saved_text(run.p));
  REQUIRE(loaded.result.message == "");
  CHECK(packets_of(loaded.run) == packets_of(run.p));
}

TEST_CASE("trace_packets.an_empty_profile_is_a_trace") {
  const read_packets trace(packets_of({}));
  CHECK(trace.slices.empty());
  CHECK(trace.missing.at("scopes") == "0");
}

TEST_CASE("trace_packets.a_name_that_ends_in_gz_packs") {
  const kprof_test::temporary_folder folder;
  kprof_test::random_timeline run(3);
  const std::string path = folder.path("run.pftrace.gz");
  REQUIRE(kprof::write(run.p, "trace", {{"path", path}}).message == "");
  CHECK(std::system(("gzip -d " + path).c_str()) == 0);
  CHECK(kprof_test::read_path(folder.path("run.pftrace")) == packets_of(run.p));
}
