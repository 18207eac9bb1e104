// SPDX-License-Identifier: MIT

// Random programs on the scripted CUDA, each with threads, devices, streams, copies, nested scopes,
// snapshots in between, contexts that are destroyed and made again, one recording or two, and
// graphs that are cloned, put into others, launched into others, updated, changed in single nodes,
// destroyed early, or of before the recording: what kprof attributes is compared with what the
// program did. `schedules FIRST LAST` runs those seeds.

#include "schedules_graphs.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

/// One thread of a random program; in each recording it is another thread.
class program : public random_graphs {
 public:
  /// `alone`: no other thread uses the device.
  program(unsigned seed, bool alone) : random_graphs(seed), alone_(alone) { take_foreign_graph(); }

  truth run(kprof::context from, const scopes& around) {
    truth_ = {};
    check(cudaSetDevice(device_));
    scopes_.adopt(around);
    kprof::context_guard here{from};
    work(0);
    return std::move(truth_);
  }
  /// What it does while kprof does not listen.
  void between() {
    check(cudaSetDevice(device_));
    scopes_.adopt({});
    for (unsigned i = 0, steps = draw(4); i < steps; ++i) {
      const unsigned what = draw(7);
      if (what == 0 || !has_graphs()) capture();
      else if (what == 1) update();
      else if (what == 2) set_nodes();
      else if (what == 3) make_again();
      else if (what == 4) launch();
      else replay();
    }
  }
  void end() {
    check(cudaSetDevice(device_));
    destroy_graphs();
    leave_device();
  }

 private:
  void work(int depth) {
    for (unsigned i = 0, steps = 1 + draw(6); i < steps; ++i) {
      const unsigned what = draw(100);
      if (depth < 4 && what < 35) nested(depth);
      else if (what < 45) capture();
      else if (what < 58 && has_graphs()) replay(chance(10));
      else if (what < 61 && has_graphs()) set_and_replay();
      else if (what < 62 && has_graphs()) chance(70) ? update() : update_child();
      else if (what < 63 && has_graphs()) chance(50) ? set_nodes() : make_again();
      else if (what < 64) static_cast<void>(kprof::snapshot());
      else if (what < 67) check(cudaStreamSynchronize(streams_[0]));
      else if (what < 68 && alone_) reset();
      else launch();
    }
  }
  /// As a decode whose cache grows does.
  void set_and_replay() {
    for (unsigned i = 0, steps = 1 + draw(3); i < steps; ++i) {
      set_nodes();
      replay();
      if (chance(10)) check(cudaStreamSynchronize(streams_[0]));
    }
  }
  void nested(int depth) {
    const auto n = static_cast<std::int64_t>(draw(3));
    if (chance(60)) within_op(scope::op, n, [&] { work(depth + 1); });
    else within({"region", scope::region}, 0, [&] { work(depth + 1); });
  }
  void reset() {
    destroy_graphs();
    leave_device();
    check(cudaDeviceReset());
    take_device();
  }

  const bool alone_;
};

using programs = std::vector<std::unique_ptr<program>>;

/// Each program on a thread of its own.
truth run_threads(const programs& all, kprof::context from, const scopes& around) {
  std::vector<truth> parts(all.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < all.size(); ++i)
    threads.emplace_back([&, i] { parts[i] = all[i]->run(from, around); });
  for (std::thread& t : threads) t.join();
  truth sum;
  for (const truth& part : parts) sum.add(part);
  return sum;
}
truth record(const programs& all, bool with_scope_around) {
  if (!with_scope_around) return run_threads(all, {}, {});
  truth sum;
  {
    KPROF_OP(Op, {.n = 100});
    sum = run_threads(all, kprof::context::current(), {{"Op n=100", scope::threads_op}});
  }
  sum.calls["Op n=100"] = sum.idle["Op n=100"] = 1;
  return sum;
}

int check_one(unsigned seed) {
  std::mt19937 random(seed);
  if (!kprof::start({.cupti = kprof::cupti_choice::on})) return 1;
  listening = true;
  uses_default_stream = random() % 2 == 0;
  programs all(1 + random() % 4);
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = std::make_unique<program>(seed * 31 + static_cast<unsigned>(i), all.size() == 1);
  truth expected = record(all, random() % 2 == 0);
  int wrong = differences(kprof::snapshot(), expected, seed);
  if (random() % 2 == 0) {
    kprof::stop();
    listening = false;
    ++stops;
    for (const auto& p : all) p->between();
    if (!kprof::start({.cupti = kprof::cupti_choice::on})) return 1;
    listening = true;
    expected = record(all, random() % 2 == 0);
    wrong += differences(kprof::snapshot(), expected, seed);
  }
  for (const auto& p : all) p->end();
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  const auto first = static_cast<unsigned>(argc > 1 ? std::atoi(argv[1]) : 1),
             last = static_cast<unsigned>(argc > 2 ? std::atoi(argv[2]) : 100);
  int wrong = 0;
  std::uint64_t runs = 0;
  make_foreign_graphs(last - first + 1);
  for (unsigned seed = first; seed <= last && wrong < 20; ++seed) wrong += check_one(seed);
  runs = scripted_device_operations();
  if (scripted_misuse() != 0) {
    std::printf("misuse of CUPTI: %s\n", scripted_misuse_text());
    ++wrong;
  }
  std::printf("%u schedules, %llu device operations, %d differences\n", last - first + 1,
              static_cast<unsigned long long>(runs), wrong);
  return wrong == 0 ? 0 : 1;
}
