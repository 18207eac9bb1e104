// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_GPU_FACTS_BUFFERS_CUH
#define KPROF_TESTS_GPU_FACTS_BUFFERS_CUH

// Questions of facts.cu: the order of records and buffers, flushes, and the space of records.

#include "facts.hpp"
#include "kernels.cuh"

#include <atomic>
#include <chrono>
#include <set>
#include <string>

namespace {

using namespace std::chrono_literals;

/// Small buffers, filled by eight streams of four threads.
void buffers() {
  constexpr int threads = 4, streams = 2, each = 400;
  activity_log::begin(16U << 10);
  enable_work();
  std::vector<std::thread> workers;
  for (int t = 0; t < threads; ++t)
    workers.emplace_back([] {
      device_array<float> x(256);
      const cudaStream_t s[streams] = {new_stream(), new_stream()};
      for (int i = 0; i < each; ++i)
        for (const cudaStream_t one : s) launch_touch(x.data(), 256, one);
      for (const cudaStream_t one : s) CUDA(cudaStreamSynchronize(one));
    });
  for (std::thread& worker : workers) worker.join();
  CUDA(cudaDeviceSynchronize());
  std::this_thread::sleep_for(200ms);
  const std::size_t unasked = activity_log::work().size();
  CUPTI(cuptiActivityFlushAll, 0);

  const std::vector<record> work = activity_log::work();
  CHECK_EQUAL("records of all kernels", work.size(), std::size_t{threads} * streams * each);
  CHECK_EQUAL("no record was dropped", activity_log::dropped(), 0U);
  std::size_t back_within = 0, back_across = 0, back_in_stream = 0;
  std::vector<std::uint64_t> latest(activity_log::buffers() + 1, 0);
  std::vector<std::pair<std::uint32_t, std::uint64_t>> of_stream;  // the latest start of each
  std::uint64_t latest_before = 0;                                 // in buffers delivered earlier
  for (std::size_t i = 0; i < work.size(); ++i) {
    if (i > 0 && work[i].buffer != work[i - 1].buffer)
      latest_before = std::max(latest_before, latest[work[i - 1].buffer]);
    back_within += work[i].start < latest[work[i].buffer] ? 1 : 0;
    back_across += work[i].start < latest_before ? 1 : 0;
    latest[work[i].buffer] = std::max(latest[work[i].buffer], work[i].start);
    auto s = std::find_if(of_stream.begin(), of_stream.end(),
                          [&](const auto& p) { return p.first == work[i].stream; });
    if (s == of_stream.end()) s = of_stream.insert(s, {work[i].stream, 0});
    back_in_stream += work[i].start < s->second ? 1 : 0;
    s->second = std::max(s->second, work[i].start);
  }
  note(std::to_string(activity_log::buffers()) +
       " buffers; records that begin before an earlier one: " + std::to_string(back_within) +
       " in their buffer, " + std::to_string(back_across) + " against buffers before, " +
       std::to_string(back_in_stream) + " in their stream; " + std::to_string(unasked) +
       " records came unasked");
  fact("buffers.full_ones_come_unasked", yes_or_no(unasked > 0));
  fact("buffers.sorted_within", yes_or_no(back_within == 0));
  fact("buffers.sorted_across", yes_or_no(back_across == 0));
  fact("buffers.sorted_in_a_stream", yes_or_no(back_in_stream == 0));
  const std::vector<std::thread::id> completers = activity_log::completers();
  const auto here = static_cast<std::size_t>(
      std::count(completers.begin(), completers.end(), std::this_thread::get_id()));
  fact("buffers.delivered_by", here == 0 ? "another thread"
                               : here == completers.size()
                                   ? "the thread that flushes"
                                   : "both the thread that flushes and another");
}

// ---- flushes

/// Kernels that have ended, and a queue of others that have not, when CUPTI is flushed.
void flushes() {
  constexpr std::size_t ended = 50, queued = 1000;
  device_array<float> x(256);
  const cudaStream_t s = new_stream();
  launch_spin(1000, s);  // is loaded now
  CUDA(cudaDeviceSynchronize());
  activity_log::begin();
  enable_work();
  for (std::size_t i = 0; i < ended; ++i) launch_touch(x.data(), 256, s);
  CUDA(cudaDeviceSynchronize());
  for (std::size_t i = 0; i < queued; ++i) launch_spin(200'000, s);
  CUPTI(cuptiActivityFlushAll, 0);
  const std::size_t by_flush = activity_log::work().size();
  CUPTI(cuptiActivityFlushAll, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  std::size_t unfinished = 0, without_times = 0;
  const std::vector<record> forced = activity_log::work();
  for (const record& r : forced) {
    unfinished += r.end == 0 || r.start == 0 ? 1 : 0;
    without_times += r.end == 0 && r.start == 0 ? 1 : 0;
  }
  activity_log::forget();
  finish_work();
  const std::size_t later = activity_log::work().size(), told = forced.size() + later;
  note(std::to_string(by_flush) + " records by a flush, " + std::to_string(forced.size()) +
       " after a forced one, " + std::to_string(unfinished) + " of them unfinished, " +
       std::to_string(later) + " once all had ended");
  fact("flush.ended_come_while_others_run", yes_or_no(by_flush >= ended));
  fact("flush.forced_delivers_unfinished", yes_or_no(unfinished > 0));
  fact("flush.forced_unfinished_times", unfinished == 0               ? "there are none"
                                        : without_times == unfinished ? "start and end are 0"
                                                                      : "not both are 0");
  fact("flush.forced_come_again",
       unfinished == 0 ? "there are none"
                       : how_many(told - std::min(told, ended + queued), unfinished));
  CHECK("every kernel has come", told >= ended + queued);
}

/// When CUPTI takes the space of a record: a stream is held up, and graphs of many nodes are queued
/// behind.
void space() {
  constexpr int nodes = 100, graphs = 40;
  device_array<float> x(256);
  const cudaStream_t s = new_stream();
  launch_spin(1000, s);  // is loaded now
  CUDA(cudaDeviceSynchronize());
  activity_log::begin(64U << 10);  // some 300 records
  enable_work();
  const cudaGraphExec_t exec = instantiate(capture(s, [&] {
    for (int i = 0; i < nodes; ++i) launch_touch(x.data(), 256, s);
  }));
  launch_spin(300'000'000, s);
  for (int i = 0; i < graphs; ++i) CUDA(cudaGraphLaunch(exec, s));
  const std::size_t while_queued = activity_log::requesters().size();
  finish_work();
  const std::size_t in_all = activity_log::requesters().size();
  CHECK_EQUAL("records of all nodes", activity_log::work().size(), std::size_t{nodes} * graphs + 1);
  note(std::to_string(while_queued) + " of " + std::to_string(in_all) +
       " buffers were asked for while all nodes were queued");
  fact("buffers.space_is_taken",
       2 * while_queued > in_all ? "when work is launched" : "when work has ended");
}

}  // namespace

#endif
