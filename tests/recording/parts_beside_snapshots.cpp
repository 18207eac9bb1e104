// SPDX-License-Identifier: MIT
// Threads share calls of ever new parameters, so that memory for them is spent and what is known of
// a call is forgotten when it is complete, while another thread takes snapshots. What breaks there
// is for the sanitizers to see; counts hold anyway.
#include <kprof/kprof.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "checks.hpp"

namespace {

struct Share {
  std::int64_t n = 0;
  constexpr std::uint64_t flops() const { return 3; }
};

constexpr int threads = 3;
std::atomic<bool> stop{false};
std::atomic<std::int64_t> done[threads];

/// One part of each call. No thread is further ahead than 256 calls.
void share(int part) {
  for (std::int64_t call = 0; !stop;) {
    { KPROF_PART(Share, {call}, part, threads); }
    done[part] = ++call;
    for (int other = 0; call % 256 == 0 && other < threads; ++other)
      while (!stop && done[other] < call) std::this_thread::yield();
  }
}

}  // namespace

int main() {
  kprof::settings settings;
  settings.memory = std::size_t{32} << 20U;
  check("a recording begins", kprof::start(settings).ok());
  std::vector<std::thread> all;
  for (int part = 0; part < threads; ++part) all.emplace_back(share, part);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(4);
  while (std::chrono::steady_clock::now() < end) {
    const kprof::profile p = kprof::snapshot();
    std::uint64_t calls = 0, parts = 0;
    for (const kprof::scope_node& n : p.nodes) calls += n.shared.calls, parts += n.calls;
    check("no more calls than their parts make", calls * threads <= parts);
  }
  stop = true;
  for (std::thread& t : all) t.join();
  std::uint64_t calls = 0;
  const kprof::profile p = kprof::snapshot();
  for (const kprof::scope_node& n : p.nodes) calls += n.shared.calls;
  std::int64_t least = done[0];
  for (const std::atomic<std::int64_t>& of : done)
    if (of < least) least = of;
  check("all calls with all parts count", calls == static_cast<std::uint64_t>(least));
  return exit_status();
}
