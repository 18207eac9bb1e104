// SPDX-License-Identifier: MIT
// Any bytes as the names, parameters and numbers of a profile with steps, work on devices, a
// timeline and ceilings, and as options of the report: the page is printable, whatever they are.
#include "groupings.hpp"
#include "machines.hpp"
#include "printable.hpp"
#include "timeline_builder.hpp"

#include <kprof/report/text.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace {

/// Takes values off the input's front, and zeros when it has ended.
class bytes {
 public:
  bytes(const std::uint8_t* data, std::size_t size) : at_(data), end_(data + size) {}
  bool left() const { return at_ != end_; }
  std::uint8_t byte() { return at_ == end_ ? std::uint8_t{0} : *at_++; }
  std::uint64_t word() {
    std::uint64_t out = 0;
    for (int i = 0; i < 8; ++i) out = out << 8U | byte();
    return out;
  }
  double number() {
    const std::uint64_t bits = word();
    double out = 0;
    std::memcpy(&out, &bits, sizeof out);
    return out >= 0 && out < 1e18 ? out : static_cast<double>(bits % 1'000'000);
  }
  /// A time in ns; now and then before the session's start.
  std::int64_t time() {
    const std::uint8_t exponent = byte();
    const auto ns = static_cast<std::int64_t>(std::uint64_t{byte()} << exponent % 48U);
    return exponent >= 240 ? -ns : ns;
  }
  std::string text() {
    std::string out(byte() % 40U, '\0');
    for (char& c : out) c = static_cast<char>(byte());
    return out;
  }

 private:
  const std::uint8_t* at_;
  const std::uint8_t* end_;
};

/// An index of something of which there are `size`; now and then of nothing.
std::uint32_t index(bytes& in, std::size_t size) {
  const std::uint8_t value = in.byte();
  return value == 255 || size == 0 ? 0xFFFFFFFFU : static_cast<std::uint32_t>(value % size);
}

kprof::report_options options_of(bytes& in) {
  kprof::report_options out;
  out.width = in.byte() * 2;
  out.top = in.byte() % 8;
  out.ascii = in.byte() % 2 != 0;
  out.legend = in.byte() % 2 != 0;
  const std::uint8_t by = in.byte();
  out.by = kprof_test::finer_and_finer()[by % 4];
  if (by % 8 >= 4) out.by = out.by + kprof::grouping::step;
  const std::uint8_t shown = in.byte();
  out.timeline = shown % 2 != 0;
  out.roofline = shown % 4 >= 2;
  out.details = shown % 8 >= 4;
  out.api = shown % 16 >= 8;
  if (shown % 32 >= 16) out.kernels = out.copies = out.tree = true;
  if (shown % 64 >= 32) out.advice = {"all"};
  if (shown >= 128) out.full_names = true;
  return out;
}

/// Threads, regions and operators.
void add_scopes(kprof_test::timeline_builder& b, bytes& in) {
  std::vector<std::uint32_t> nodes{b.thread(in.text(), in.byte())};
  for (std::size_t most = in.byte() % 16U; in.left() && nodes.size() <= most;) {
    const std::uint32_t parent = nodes[in.byte() % nodes.size()];
    const std::uint8_t kind = in.byte();
    if (kind % 8 == 0) nodes.push_back(b.thread(in.text(), in.byte()));
    else if (kind % 16 == 2) nodes.push_back(b.graph(parent, in.byte(), in.text()));
    else if (kind % 2 == 0) nodes.push_back(b.region(parent, in.text()));
    else nodes.push_back(b.op(parent, in.text(), in.text()));
    kprof::scope_node& n = b.p.nodes[nodes.back()];
    n.work.pass = static_cast<kprof::pass_kind>(kind / 16U % 8U);
    n.captured = kind / 128U;
    b.calls(nodes.back(), in.byte() + 1U, in.number());
    if (kind % 3 == 0) b.work(nodes.back(), in.word(), in.word(), in.word());
    if (kind % 5 == 0) b.site(nodes.back(), in.text(), in.byte());
  }
}

void add_device_work(kprof_test::timeline_builder& b, bytes& in) {
  for (std::size_t left = in.byte() % 8U; in.left() && left > 0; --left) {
    const std::uint32_t scope = index(in, b.p.nodes.size());
    const std::uint8_t what = in.byte(), runs = in.byte();
    const double ns = in.number();
    kprof::device_work* work = nullptr;
    if (what % 4 == 0) work = &b.set(scope, runs, ns, in.word());
    else if (what % 4 == 1)
      work = &b.copy(scope, static_cast<kprof::copy_direction>(what / 4U % 6U), runs, ns,
                     in.word() >> 16U);
    else work = &b.kernel(scope, in.text(), runs, ns, in.byte(), in.byte() * 8U);
    work->stream = what / 32U;
    work->device = what / 128U;
    work->merged = what == 255;
    work->untimed = what % 16U == 15 ? in.byte() : 0U;
    work->from = work->to = static_cast<kprof::memory_place>(what / 8U % 6U);
  }
}

void add_timeline(kprof_test::timeline_builder& b, bytes& in) {
  kprof::profile& p = b.p;
  for (std::size_t left = in.byte() % 12U; in.left() && left > 0; --left) {
    const std::uint8_t what = in.byte();
    const std::int64_t begin = in.time(), end = begin + in.time();
    kprof_test::item_place at;
    at.scope = index(in, p.nodes.size());
    at.thread = index(in, p.threads.size());
    at.stream = what / 32U % 4U;
    at.device = what / 128U;
    at.graph = what % 32U >= 16;
    const std::int64_t before = in.time();
    const kprof_test::item_time time{begin - before, begin - before / 2, begin, end};
    switch (what % 8) {
      case 0: b.communication_at(time, at); break;
      case 1: b.copy_at(time, at, in.word()); break;
      case 2: b.set_at(time, at); break;
      case 3: b.sync_at(begin, end, at.stream).thread = at.thread; break;
      case 4: b.event_at(what, at.stream, begin, in.byte() % 4U, end); break;
      case 5: {
        kprof::host_call& c = b.call_at(static_cast<kprof::call_kind>(in.byte() % 9U), begin, end);
        c.scope = at.scope;
        c.name = index(in, p.device.functions.size());
        c.waits_for = static_cast<kprof::awaited>(what / 32U % 4U);
        break;
      }
      case 6:
        if (at.scope < p.nodes.size()) b.scope_at(at.scope, begin, end);
        break;
      default: b.kernel_at(time, at, in.text());
    }
  }
  if (in.byte() % 4 == 1) p.device.timeline.windows = {{in.time(), in.time()}};
  p.device.timeline.dropped_items = in.byte() % 2U;
}

void add_steps(kprof_test::timeline_builder& b, bytes& in) {
  kprof::profile& p = b.p;
  std::int64_t at = 0;
  for (std::size_t left = in.byte() % 12U; in.left() && left > 0; --left) {
    const std::uint8_t what = in.byte();
    at += what % 8 == 7 ? in.time() : 0;
    const std::int64_t end = at + in.time();
    p.steps.push_back({p.steps.size(), index(in, p.threads.size()), what % 16 != 15, at, end});
    at = end;
  }
  for (std::size_t left = in.byte() % 4U; in.left() && left > 0; --left) {
    kprof::thread_steps& t = p.stepping.threads.emplace_back();
    t.thread = index(in, p.threads.size());
    t.count = in.byte();
    t.nested = in.byte() % 4U;
    t.total_ns = in.number();
    t.min_ns = in.number();
    t.max_ns = in.number();
    t.first_ns = in.byte() % 2 == 0 ? in.number() : -1;
    for (std::uint64_t i = 0; i < t.count; ++i)
      t.durations.add(static_cast<std::uint64_t>(t.max_ns) / (i + 1));
  }
  if (in.byte() % 2 != 0) p.stepping.region = in.text();
  p.stepping.whole_from = in.time();
  for (std::size_t left = in.byte() % 16U; in.left() && left > 0 && !p.steps.empty(); --left) {
    const std::uint32_t step = in.byte() % static_cast<std::uint32_t>(p.steps.size()),
                        node = in.byte() % static_cast<std::uint32_t>(p.nodes.size());
    const double ns = in.number();
    p.stepping.shares.push_back({step, node, in.byte(), ns, ns / (1 + in.byte())});
  }
}

void add_machine(kprof::profile& p, bytes& in) {
  const std::uint8_t known = in.byte();
  if (known % 2 != 0) {
    p.machine.cpu = kprof_test::two_cpus();
    p.machine.cpu.threads = in.byte();
    p.machine.cpu.clock_hz = in.number();
    p.machine.cpu.model = in.text();
    p.machine.source = in.text();
    for (kprof::arithmetic_ceiling& a : p.machine.cpu.arithmetic)
      a.operations = {in.number(), in.number(), in.byte() % 2 != 0};
    for (kprof::memory_ceiling& m : p.machine.cpu.memory)
      if (in.byte() % 4 == 0) m.read = m.triad = {in.number(), in.number(), false};
  }
  if (known % 4 < 2) return;
  for (std::size_t i = 0; i < p.device.devices.size(); ++i) {
    kprof::gpu_ceilings& gpu = p.machine.gpus.emplace_back(kprof_test::h100());
    gpu.device = in.text();
    gpu.memory_bytes = in.number();
    gpu.l2_bytes = in.number();
    for (kprof::gpu_arithmetic_ceiling& a : gpu.arithmetic)
      if (in.byte() % 4 == 0) a.operations = in.number();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  bytes in(data, size);
  const kprof::report_options options = options_of(in);
  const std::uint8_t parts = in.byte();
  kprof_test::timeline_builder b;
  add_scopes(b, in);
  if (parts % 2 != 0) add_steps(b, in);
  if (parts % 4 >= 2) b.p.device.functions = {in.text(), in.text()};
  if (parts % 4 >= 2) add_device_work(b, in);
  if (parts % 8 >= 4) add_timeline(b, in);
  kprof::profile run = b.done();
  if (parts % 4 >= 2) {
    kprof_test::add_device(run);
    run.device.devices[0].name = in.text();
    if (parts >= 128) run.device.devices.push_back({.id = 1, .described = true, .name = in.text()});
    run.wall_ns = in.number();
  }
  if (parts % 8 >= 4) run.complete.timeline_ns = in.number();
  if (parts % 16 >= 8) add_machine(run, in);
  if (parts % 32 >= 16) run.notes = {in.text(), in.text()};
  std::string page;
  kprof_test::require(kprof::write_text(run, options, page).ok(), "no report");
  kprof_test::require_printable(page, 0);
  return 0;
}
