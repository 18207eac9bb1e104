// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_SAMPLE_PROFILE_HPP
#define KPROF_TESTS_SAMPLE_PROFILE_HPP

// Profiles made by hand, with fixed values: the ones behind the golden files, and random ones with
// hostile names.

#include "profile_builder.hpp"

#include <kprof/profile.hpp>

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace kprof_test {

/// What a session fills in around the scopes of a healthy run.
inline void add_surroundings(kprof::profile& p) {
  p.recording = true;
  p.state = "recording";
  p.wall_ns = 5.03e9;
  p.clock.source = "tsc";
  p.clock.residual_ns = 34;
  p.complete.in_timeline = p.complete.recorded;
  p.complete.timeline_ns = p.wall_ns;
  p.cost = {.scope_ns = 28.1,
            .empty_scope_ns = 11.2,
            .recording_ns = 28.1 * static_cast<double>(p.complete.recorded),
            .folding_ns = 212'000,
            .memory = 13 << 20,
            .memory_limit = 64 << 20};
}

/// A training loop with a loader thread. Nothing went wrong.
inline kprof::profile sample_profile() {
  profile_builder b;
  const auto main = b.thread("train", 4711), loader = b.thread("loader", 4712);
  const auto epoch = b.region(main, "epoch");
  const auto forward = b.region(epoch, "forward"), backward = b.region(epoch, "backward"),
             update = b.region(epoch, "update");
  b.calls(epoch, 1, 4.96e9)
      .calls(forward, 100, 1.70e7)
      .calls(backward, 100, 3.10e7)
      .calls(update, 100, 1.40e6);

  const auto conv =
      b.op(forward, "Conv2d", "N=32 C=64 H=56 W=56 K=64 R=3 S=3 stride=1 pad=1 type=f32");
  b.calls(conv, 380, 2.2e6)
      .calls(conv, 20, 2.9e6)
      .work(conv, 7'398'752'256, 25'837'568, 25'690'112)
      .site(conv, "src/layers/conv.cpp", 118);
  const auto gemm = b.op(forward, "Gemm", "M=4096 N=1024 K=1024 type=f32");
  b.calls(gemm, 180, 1.62e6)
      .calls(gemm, 20, 1.9e6)
      .work(gemm, 8'589'934'592, 20'971'520, 16'777'216)
      .site(gemm, "src/layers/linear.cpp", 57);
  const auto relu = b.op(forward, "Relu", "n=6422528 type=f32");
  b.calls(relu, 400, 8.2e5)
      .work(relu, 0, 25'690'112, 25'690'112)
      .site(relu, "src/layers/activation.cpp", 21);
  b.p.nodes[relu].work.has_flops = false;
  const auto softmax = b.op(forward, "Softmax", "rows=4096 columns=1000 type=f32");
  b.calls(softmax, 100, 1.1e6)
      .work(softmax, 20'480'000, 16'384'000, 16'384'000)
      .site(softmax, "src/layers/loss.cpp", 33);

  const auto dconv = b.op(backward, "Conv2dGrad",
                          "N=32 C=64 H=56 W=56 K=64 R=3 S=3 stride=1 pad=1 pass=wgrad type=f32");
  b.calls(dconv, 390, 5.8e6)
      .calls(dconv, 10, 7.0e6)
      .work(dconv, 14'797'504'512, 51'527'680, 25'837'568)
      .site(dconv, "src/layers/conv.cpp", 204);
  const auto dgemm = b.op(backward, "Gemm", "M=1024 N=1024 K=4096 type=f32");
  b.calls(dgemm, 200, 1.75e6)
      .work(dgemm, 8'589'934'592, 33'554'432, 4'194'304)
      .site(dgemm, "src/layers/linear.cpp", 96);
  const auto sgd = b.op(update, "Sgd", "n=1247312");
  b.calls(sgd, 4200, 3.1e4)
      .work(sgd, 2'494'624, 9'978'496, 4'989'248)
      .site(sgd, "src/optimizer.cpp", 12);
  const auto clip = b.op(update, "Clip", "");
  b.calls(clip, 4200, 60).site(clip, "src/optimizer.cpp", 15);

  const auto load = b.region(loader, "load batch");
  const auto decode = b.op(load, "Decode", "batch=32 codec=jpeg");
  b.calls(load, 100, 8.1e6).calls(decode, 3200, 2.4e5).site(decode, "src/data/decode.cpp", 301);
  b.p.nodes[decode].work.has_bytes = true;
  b.p.nodes[decode].work.bytes_read = 180'000;
  b.p.nodes[decode].work.bytes_written = 150'528;
  kprof::profile p = b.done();
  add_surroundings(p);
  return p;
}

/// A run in which everything that can go wrong did.
inline kprof::profile troubled_profile() {
  profile_builder b;
  const auto main = b.thread("a.out", 100), pool = b.thread("", 0);
  b.p.threads[1].merged = 1200;
  b.p.threads[1].ended = true;
  const auto step = b.region(main, "step");
  b.calls(step, 9, 2.0e6);
  b.p.nodes[step].open = 1;
  b.p.nodes[step].open_ns = 1.5e6;
  const auto good = b.op(step, "Gemm", "M=64 N=64 K=64 type=f16");
  b.calls(good, 1'234'567, 9.5)
      .work(good, 524'288, 16'384, 8'192, kprof::dtype::f16)
      .site(good, "gemm.cpp", 10);
  const auto bad = b.op(step, "Gemm", "M=-1 N=64 K=64 type=f16");
  b.calls(bad, 3, 1.0e3).work(bad, 0, 0, 0, kprof::dtype::f16).site(bad, "gemm.cpp", 10);
  b.p.nodes[bad].work.valid = false;
  const auto other = b.op(step, "Gemm");
  b.calls(other, 77'000, 120).site(other, "gemm.cpp", 10);
  b.p.nodes[other].merged = true;
  const auto instant = b.op(step, "Barrier", "id=7");
  b.calls(instant, 12, 0).work(instant, 10, 0, 0);
  const auto view = b.op(step, "Reshape", "rank=4");
  b.calls(view, 12, 400).work(view, 100, 0, 0);
  const auto waiting = b.op(step, "AllReduce", "n=1048576 type=f32");
  b.work(waiting, 1'048'576, 8'388'608, 4'194'304);
  b.p.nodes[waiting].open = 2;
  b.p.nodes[waiting].open_ns = 3.0e6;
  const auto task = b.op(pool, "Task");
  b.calls(task, 1200, 9.0e4);
  kprof::profile p = b.done();
  add_surroundings(p);
  p.recording = false;
  p.state = "stopped";
  p.paused_ns = 1.25e9;
  p.complete.open = 3;
  p.complete.never_closed = 1;
  p.complete.dropped = 120'345;
  p.complete.closed_by_parent = 2;
  p.complete.closed_elsewhere = 1;
  p.complete.invalid = 3;
  p.complete.merged = 77'000;
  p.complete.in_timeline = 131'072;
  p.complete.timeline_ns = 4.1e8;
  p.cost.memory = 64 << 20;
  p.notes = {
      "the clock is clock_gettime: this machine's counter is not invariant, and a scope costs "
      "about 40 ns more; choose another machine for "
      "short scopes",
      "KPROF=\"trace(path=/no/such)\": no trace was written; create the folder"};
  return p;
}

/// Names that try to break the page.
inline std::vector<std::string> hostile_names() {
  return {"plain",
          "quotes \"double\" 'single' `back`",
          "two\nlines\r\n\tand a tab",
          "\x1b[31mred\x1b[0m\x1b]0;title\x07",
          "c1 \xC2\x9B"
          "31m",
          "not utf-8: \xFF\xFE \xC0\xAF \xED\xA0\x80 \xF4\x90\x80\x80 \xE2\x82",
          "Gr\xC3\xB6\xC3\x9F"
          "e \xCE\xBB\xCE\xBC",
          "e\xCC\x81galit\xC3\xA9 e\xCC\x81\xCC\x82\xCC\x83\xCC\x84\xCC\x85",
          "\xCC\x81 begins with a mark",
          "\xE6\xBC\xA2\xE5\xAD\x97\xE3\x82\xAB\xE3\x83\x8A \xED\x95\x9C\xEA\xB8\x80",
          "\xF0\x9F\x9A\x80 rocket \xF0\x9F\x91\xA8\xE2\x80\x8D\xF0\x9F\x91\xA9",
          "right to left \xE2\x80\xAE gnp.exe \xE2\x80\xAC",
          "zero\xE2\x80\x8Bwidth",
          "back\\slash \\n is not a new line",
          std::string("nul \0 inside", 12),
          "",
          "   spaces   ",
          "<script>alert(1)</script> %s %n",
          std::string(10'000, 'x'),
          "template<" + std::string(5'000, '<') + ">"};
}

inline kprof::profile hostile_profile() {
  profile_builder b;
  const auto main = b.thread("th\x1b[1mread\n", 1);
  double ns = 1e6;
  for (const std::string& name : hostile_names()) {
    const auto region = b.region(main, name), op = b.op(region, name, name);
    b.calls(region, 1, ns).calls(op, 1, ns * 0.75).work(op, 1000, 10, 10).site(op, name, 1);
    ns -= 1e4;
  }
  kprof::profile p = b.done();
  add_surroundings(p);
  p.recording = false;
  p.state = "off: \x1b[2J \xFF";
  p.clock.source =
      "ts\x1b"
      "c";
  p.notes = hostile_names();
  return p;
}

/// One scope within another, `depth` times.
inline kprof::profile deep_profile(std::size_t depth) {
  profile_builder b;
  auto at = b.thread("main", 1);
  for (std::size_t i = 0; i < depth; ++i) {
    at = b.op(at, i % 2 == 0 ? "Even" : "Odd", "n=" + std::to_string(i % 3));
    b.calls(at, 1, 1e6 + 1e3 * static_cast<double>(depth - i));
  }
  kprof::profile p = b.done();
  add_surroundings(p);
  return p;
}

inline kprof::profile random_profile(unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  std::vector<std::string> names = hostile_names();
  for (int i = 0; i < 4; ++i) {
    std::string bytes;
    for (std::size_t n = below(60); n > 0; --n) bytes += static_cast<char>(random());
    names.push_back(bytes);
  }
  profile_builder b(0.25 + static_cast<double>(below(100)) / 50);
  std::vector<std::uint32_t> places;
  for (std::size_t i = 0, threads = 1 + below(4); i < threads; ++i)
    places.push_back(b.thread(names[below(names.size())], below(70'000)));
  for (std::size_t i = 0, nodes = below(60); i < nodes; ++i) {
    const auto parent = places[below(places.size())];
    const bool op = below(3) > 0;
    const auto at = b.scope(parent, op ? kprof::scope_kind::op : kprof::scope_kind::region,
                            names[below(names.size())], op ? names[below(names.size())] : "");
    for (std::size_t k = below(4); k > 0; --k)
      b.calls(
          at, 1 + below(3),
          static_cast<double>(below(2'000'000'000)) / static_cast<double>(1 + below(1'000'000)));
    if (below(3) == 0)
      b.p.nodes[at].calls += below(2) == 0 ? below(1'000'000'000) * 1'000'000'000ULL : 0;
    if (below(4) > 0)
      b.work(at, below(1'000'000) * below(1'000'000'000), below(1'000'000'000),
             below(1'000'000'000), static_cast<kprof::dtype>(below(24)));
    b.p.nodes[at].work.valid = below(9) > 0;
    b.p.nodes[at].merged = below(9) == 0;
    if (below(5) == 0)
      b.p.nodes[at].open = below(100'000),
      b.p.nodes[at].open_ns = 1e3 * static_cast<double>(below(1'000'000'000));
    b.site(at, names[below(names.size())], static_cast<std::uint32_t>(below(100'000)));
    places.push_back(at);
  }
  kprof::profile p = b.done();
  add_surroundings(p);
  p.recording = below(2) == 0;
  p.state = names[below(names.size())];
  p.wall_ns = 1e3 * static_cast<double>(random());
  if (below(2) == 0) {
    kprof::completeness& c = p.complete;
    for (std::uint64_t* n :
         {&c.recorded, &c.open, &c.never_closed, &c.dropped, &c.dropped_inside, &c.closed_by_parent,
          &c.closed_elsewhere, &c.invalid, &c.merged, &c.in_timeline})
      *n = below(3) == 0 ? 0 : random() * below(1'000'000'000);
    c.timeline_ns = 1e3 * static_cast<double>(random());
  }
  for (std::size_t i = below(3); i > 0; --i) p.notes.push_back(names[below(names.size())]);
  return p;
}

}  // namespace kprof_test

#endif
