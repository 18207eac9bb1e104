// SPDX-License-Identifier: MIT
// needs: exceptions

// Traces are read back by Boost.JSON, and compared with the profile.

#include <kprof/report/load.hpp>
#include <kprof/report/save.hpp>
#include <kprof/report/trace.hpp>
#include <kprof/report/write.hpp>

#include "../support/catch.hpp"
#include "../support/timeline_builder.hpp"
#include "../support/trace_reader.hpp"

#include <cstdint>
#include <string>
#include <vector>

using kprof_test::read_trace;
using kprof_test::timeline_builder;
using kprof_test::trace_slice;
using kprof_test::trace_text;

namespace {

/// A step with a region, in which an operator launches a kernel and a copy.
struct small_run : timeline_builder {
  std::uint32_t main, layer, gemm;

  small_run() : main(thread("main", 4242)), layer(region(main, "layer")) {
    gemm = op(layer, "Gemm", "M=64 N=32 type=f32");
    work(gemm, 4096, 300, 100);
    scope_at(gemm, 2'000, 12'500);
    scope_at(layer, 1'000, 20'000);
    kernel_at({3'000, 5'001, 15'000, 35'050}, {.scope = gemm});
    p.device.timeline.items.back().correlation = 11;
    copy_at({6'000, 7'000, 36'000, 38'000}, {.scope = gemm}, 4'000);
    p.device.timeline.items.back().correlation = 12;
    kprof::device_work& kernel = p.device.work[0];
    kernel.grid[0] = 4, kernel.grid[1] = kernel.grid[2] = 1;
    kernel.block[0] = 256, kernel.block[1] = kernel.block[2] = 1;
    kernel.registers = 64, kernel.static_shared = 1000, kernel.dynamic_shared = 24;
    kernel.total_ns = 20'050;
    kprof::device_work& copy = p.device.work[1];
    copy.direction = kprof::copy_direction::host_to_device;
    copy.from = kprof::memory_place::pinned, copy.to = kprof::memory_place::device;
    kprof_test::add_device(p);
    p.nodes[gemm].calls = 1;
    p.program = "train";
    p.clock.start_realtime_ns = 1'700'000'000'123'456'789;
  }
};

std::vector<std::string> names(const std::vector<trace_slice>& slices) {
  std::vector<std::string> out;
  for (const trace_slice& s : slices) out.push_back(s.name);
  return out;
}

}  // namespace

TEST_CASE("trace.a_scope_is_a_slice_with_its_parameters_and_its_work") {
  const small_run run;
  const read_trace trace(trace_text(run.p));
  REQUIRE(trace.called("Gemm").size() == 1);
  const trace_slice gemm = trace.called("Gemm")[0];
  CHECK(gemm.category == "cpu_op");
  CHECK(gemm.begin == 2'000);
  CHECK(gemm.end == 12'500);
  CHECK(gemm.row == kprof_test::row_number{4242, 4242});
  CHECK(gemm.text("Input Dims") == "M=64 N=32 type=f32");
  CHECK(gemm.number("flops") == 4096);
  CHECK(gemm.number("bytes") == 400);
  CHECK(gemm.text("type") == "f32");
  REQUIRE(trace.called("layer").size() == 1);
  const trace_slice layer = trace.called("layer")[0];
  CHECK(layer.category == "user_annotation");
  CHECK(layer.begin == 1'000);
  CHECK(layer.end == 20'000);
  CHECK(layer.args.empty());
}

TEST_CASE("trace.processes_rows_and_devices_have_names") {
  const small_run run;
  const read_trace trace(trace_text(run.p));
  CHECK(trace.processes.at(4242) == "train");
  CHECK(trace.processes.at(0) == "GPU 0 NVIDIA H100 80GB HBM3");
  CHECK(trace.rows.at({4242, 4242}) == "main");
  CHECK(trace.rows.at({0, 7}) == "stream 7");
  const boost::json::object& gpu = trace.top.at("deviceProperties").as_array().at(0).as_object();
  CHECK(gpu.at("name").as_string() == "NVIDIA H100 80GB HBM3");
  CHECK(kprof_test::whole(gpu.at("numSms")) == 132);
  CHECK(kprof_test::whole(gpu.at("computeMajor")) == 9);
  CHECK(trace.top.at("baseTimeNanoseconds").to_number<std::uint64_t>() ==
        1'700'000'000'123'456'789U);
}

TEST_CASE("trace.work_of_a_device_is_on_its_stream_with_an_arrow_from_its_launch") {
  const small_run run;
  const read_trace trace(trace_text(run.p, {{"detail", "kineto"}}));
  REQUIRE(names(trace.of("kernel")) == std::vector<std::string>{"gemm"});
  const trace_slice kernel = trace.of("kernel")[0];
  CHECK(kernel.row == kprof_test::row_number{0, 7});
  CHECK(kernel.begin == 15'000);
  CHECK(kernel.end == 35'050);
  CHECK(kernel.number("stream") == 7);
  CHECK(kernel.number("device") == 0);
  CHECK(kernel.number("registers per thread") == 64);
  CHECK(kernel.number("shared memory") == 1024);
  CHECK(kernel.args.at("grid") == boost::json::value{4, 1, 1});
  CHECK(kernel.args.at("block") == boost::json::value{256, 1, 1});
  CHECK(kernel.real("blocks per SM") == Approx(4.0 / 132).epsilon(1e-3));

  REQUIRE(names(trace.of("gpu_memcpy")) ==
          std::vector<std::string>{"Memcpy HtoD (Pinned -> Device)"});
  const trace_slice copy = trace.of("gpu_memcpy")[0];
  CHECK(copy.number("bytes") == 4'000);
  CHECK(copy.real("memory bandwidth (GB/s)") == 2);

  REQUIRE(names(trace.of("cuda_runtime")) ==
          std::vector<std::string>{"cudaLaunchKernel", "cudaMemcpyAsync"});
  const trace_slice launch = trace.of("cuda_runtime")[0];
  CHECK(launch.begin == 3'000);
  CHECK(launch.end == 5'001);
  CHECK(launch.number("correlation") == 11);
  CHECK(kernel.number("correlation") == 11);
  // How TensorBoard finds the operator of a kernel.
  CHECK(launch.number("External id") == trace.called("Gemm")[0].number("External id"));
  CHECK(launch.number("External id") > 0);

  REQUIRE(trace.starts.size() == 2);
  REQUIRE(trace.ends.size() == 2);
  CHECK(trace.starts[0].id == 11);
  CHECK(trace.starts[0].at == 3'000);
  CHECK(trace.loose_arrows() == std::vector<std::string>{});
}

TEST_CASE("trace.short_of_all_details_slices_tell_of_their_arrows") {
  const small_run run;
  const std::string text = trace_text(run.p);
  CHECK(text.find("\"ph\":\"s\"") == std::string::npos);
  CHECK(text.find("\"ph\":\"f\"") == std::string::npos);
  const read_trace trace(text), whole(trace_text(run.p, {{"detail", "kineto"}}));
  REQUIRE(trace.starts.size() == 2);
  REQUIRE(trace.ends.size() == 2);
  CHECK(trace.starts[0].id == 3);  // past the number of items
  CHECK(trace.loose_arrows() == std::vector<std::string>{});
  // What Perfetto shows and HTA reads.
  const trace_slice kernel = trace.of("kernel")[0], launch = trace.of("cuda_runtime")[0];
  CHECK(kernel.args ==
        boost::json::object{
            {"grid", {4, 1, 1}}, {"block", {256, 1, 1}}, {"stream", 7}, {"correlation", 11}});
  CHECK(launch.args == boost::json::object{{"correlation", 11}});
  CHECK(trace.of("gpu_memcpy")[0].real("memory bandwidth (GB/s)") == 2);
  CHECK(trace.called("Gemm")[0].number("External id") == -1);
  REQUIRE(trace.slices.size() == whole.slices.size());
  for (std::size_t i = 0; i < whole.slices.size(); ++i) {
    CHECK(trace.slices[i].name == whole.slices[i].name);
    CHECK(trace.slices[i].begin == whole.slices[i].begin);
    CHECK(trace.slices[i].end == whole.slices[i].end);
  }
}

TEST_CASE("trace.an_arrow_that_perfetto_would_lose_is_two_events") {
  timeline_builder run;
  const auto gemm = run.op(run.thread("main", 99), "Gemm");
  run.scope_at(gemm, 1'000, 2'000);
  run.kernel_at({1'500, 1'900, 1'499, 2'500}, {.scope = gemm});  // seems to start before its launch
  run.p.device.timeline.items.back().correlation = 5;
  const std::string text = trace_text(run.p);
  CHECK(text.find("bind_id") == std::string::npos);
  const read_trace trace(text);
  CHECK(trace.starts.size() == 1);
  CHECK(trace.ends.size() == 1);
  CHECK(trace.loose_arrows() == std::vector<std::string>{});
  run.p.device.timeline.items.back().start = 1'500;
  CHECK(trace_text(run.p).find("bind_id") != std::string::npos);
}

TEST_CASE("trace.a_file_for_tensorboard_has_all_details") {
  const small_run run;
  const auto has_ids = [&](std::vector<kprof::option_setting> options) {
    return trace_text(run.p, std::move(options)).find("External id") != std::string::npos;
  };
  CHECK(has_ids({{"path", "a.pt.trace.json"}}));
  CHECK(has_ids({{"path", "a.pt.trace.json"}, {"launches", "cuda_runtime"}}));
  CHECK_FALSE(has_ids({{"path", "a.pt.trace.json"}, {"detail", "short"}}));
  CHECK_FALSE(has_ids({{"path", "a.json"}, {"launches", "Runtime"}}));
  CHECK(has_ids({{"path", "a.json"}, {"detail", "kineto"}}));
}

TEST_CASE("trace.steps_are_those_of_pytorch") {
  small_run run;
  run.step_at(900, 21'000);
  run.step_at(21'000, 30'000);
  run.p.steps.push_back({2, 0, false, 30'000, 31'000});  // skipped
  const read_trace trace(trace_text(run.p));
  CHECK(names(trace.of("user_annotation")) ==
        std::vector<std::string>{"ProfilerStep#0", "layer", "ProfilerStep#1"});
  CHECK(trace.called("ProfilerStep#1")[0].begin == 21'000);
  CHECK(trace.called("ProfilerStep#1")[0].end == 30'000);
}

TEST_CASE("trace.a_region_is_no_step_by_its_name") {
  timeline_builder run;
  run.scope_at(run.region(run.thread("main", 99), "ProfilerStep#7"), 0, 10);
  CHECK(read_trace(trace_text(run.p)).slices.at(0).name == "region ProfilerStep#7");
}

TEST_CASE("trace.the_name_of_the_file_chooses_the_category_of_launches") {
  const small_run run;
  const auto count = [&](std::vector<kprof::option_setting> options, const char* category) {
    return read_trace(trace_text(run.p, std::move(options))).of(category).size();
  };
  CHECK(count({{"path", "a.pt.trace.json"}}, "Runtime") == 2);
  CHECK(count({{"path", "a.trace.json"}}, "Runtime") == 0);
  CHECK(count({{"path", "a.trace.json"}}, "cuda_runtime") == 2);
  CHECK(count({{"path", "a.pt.trace.json"}, {"launches", "cuda_runtime"}}, "cuda_runtime") == 2);
  CHECK(count({{"launches", "Runtime"}}, "Runtime") == 2);
}

TEST_CASE("trace.calls_lie_in_their_scopes_though_clocks_differ") {
  timeline_builder run;
  const auto gemm = run.op(run.thread("main", 99), "Gemm");
  run.scope_at(gemm, 1'000, 2'000);
  run.kernel_at({999, 1'500, 3'000, 4'000}, {.scope = gemm});
  run.scope_at(gemm, 5'000, 6'000);
  run.kernel_at({5'500, 6'003, 7'000, 8'000}, {.scope = gemm});
  const read_trace trace(trace_text(run.p, {{"detail", "kineto"}}));
  CHECK(trace.crossing() == std::vector<std::string>{});
  CHECK(trace.rows.size() == 2);
  const std::vector<trace_slice> launches = trace.of("cuda_runtime"), ops = trace.of("cpu_op");
  REQUIRE(launches.size() == 2);
  CHECK(launches[0].begin == 1'000);
  CHECK(launches[0].end == 1'500);
  CHECK(launches[1].begin == 5'500);
  CHECK(launches[1].end == 6'000);
  for (std::size_t i = 0; i < 2; ++i)
    CHECK(launches[i].number("External id") == ops[i].number("External id"));
}

TEST_CASE("trace.a_call_that_is_told_twice_is_written_once") {
  timeline_builder run;
  const auto load = run.op(run.thread("main", 99), "Load");
  run.p.device.functions = {"cudaMemcpy_v3020", "cudaStreamSynchronize"};
  run.scope_at(load, 0, 9'000);
  kprof::host_call& copies = run.call_at(kprof::call_kind::copy, 1'000, 5'000);
  copies.name = 0;
  copies.waits_for = kprof::awaited::stream;
  run.copy_at({1'000, 5'016, 2'000, 4'900}, {.scope = load});
  run.p.device.timeline.items.back().correlation = 5;
  run.sync_at(6'000, 7'000).name = 1;
  const read_trace trace(trace_text(run.p));
  REQUIRE(names(trace.of("cuda_runtime")) ==
          std::vector<std::string>{"cudaMemcpy", "cudaStreamSynchronize"});
  CHECK(trace.of("cuda_runtime")[0].end == 5'000);
  CHECK(trace.of("cuda_runtime")[0].number("correlation") == 5);
  // Made up: it is no launch's.
  CHECK(trace.of("cuda_runtime")[1].number("correlation") > 0xFFFFFFFF);
  CHECK(trace.ends.size() == 1);
}

TEST_CASE("trace.a_graph_is_one_launch_with_an_arrow_to_each_of_its_kernels") {
  timeline_builder run;
  const auto step = run.op(run.thread("main", 99), "Step");
  const auto gemm = run.op(run.graph(step, 1), "Gemm");
  run.scope_at(step, 0, 10'000);
  for (int i = 0; i < 3; ++i) {
    run.kernel_at({1'000, 2'000, 3'000 + 100 * i, 3'400}, {.scope = gemm, .graph = true});
    run.p.device.timeline.items.back().correlation = 77;
  }
  const read_trace trace(trace_text(run.p, {{"detail", "kineto"}}));
  REQUIRE(names(trace.of("cuda_runtime")) == std::vector<std::string>{"cudaGraphLaunch"});
  CHECK(trace.of("cuda_runtime")[0].number("External id") ==
        trace.called("Step")[0].number("External id"));
  CHECK(trace.starts.size() == 3);
  CHECK(trace.ends.size() == 3);
  CHECK(trace.loose_arrows() == std::vector<std::string>{});
  // They overlap: each is on a row of its own.
  CHECK(trace.crossing() == std::vector<std::string>{});
  const std::vector<trace_slice> kernels = trace.of("kernel");
  REQUIRE(kernels.size() == 3);
  CHECK(trace.row_of(kernels[0]) == "stream 7");
  CHECK(trace.row_of(kernels[1]) == "stream 7 (2)");
  CHECK(trace.row_of(kernels[2]) == "stream 7 (3)");
  CHECK(kernels[1].number("stream") == kernels[1].row.second);
}

TEST_CASE("trace.scopes_that_cross_have_rows_of_their_own") {
  timeline_builder run;
  const auto main = run.thread("main", 99), a = run.op(main, "A"), b = run.op(main, "B");
  run.scope_at(a, 0, 100);
  run.scope_at(b, 50, 150);
  run.scope_at(a, 60, 90);
  const read_trace trace(trace_text(run.p));
  CHECK(trace.crossing() == std::vector<std::string>{});
  CHECK(trace.row_of(trace.called("B")[0]) == "main (2)");
  CHECK(trace.row_of(trace.called("A")[0]) == "main");
  CHECK(trace.row_of(trace.called("A")[1]) == "main");
}

TEST_CASE("trace.a_loaded_profile_gives_the_same") {
  const small_run run;
  const kprof::loaded_profile loaded = kprof::load_text(kprof::saved_text(run.p));
  REQUIRE(loaded.result.message == "");
  CHECK(trace_text(loaded.run) == trace_text(run.p));
}

TEST_CASE("trace.an_empty_profile_is_a_trace") {
  const read_trace trace(trace_text({}));
  CHECK(trace.slices.empty());
  CHECK(trace.top.at("deviceProperties").as_array().empty());
}

TEST_CASE("trace.a_run_of_many_days_counts_from_its_first_event") {
  timeline_builder run;
  constexpr std::int64_t month = std::int64_t{30} * 24 * 3600 * 1'000'000'000;
  run.scope_at(run.op(run.thread("main", 99), "Late"), month, month + 15);
  run.p.clock.start_realtime_ns = 1'000;
  const read_trace trace(trace_text(run.p));
  CHECK(trace.slices.at(0).begin == 0);
  CHECK(trace.slices.at(0).end == 15);
  CHECK(trace.top.at("baseTimeNanoseconds").to_number<std::int64_t>() == month + 1'000);
}
