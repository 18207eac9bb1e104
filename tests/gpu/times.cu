// SPDX-License-Identifier: MIT
//
// Times of kernels against CUDA events and the device's own clock; the time a device is busy; the
// gap between a launch and the start of what it launched.

#include "kernels.cuh"

#include <chrono>

namespace {

cudaEvent_t new_event() {
  cudaEvent_t e = nullptr;
  CUDA(cudaEventCreate(&e));
  return e;
}
double between_ns(cudaEvent_t begin, cudaEvent_t end) {
  float ms = 0;
  CUDA(cudaEventElapsedTime(&ms, begin, end));
  return 1e6 * ms;
}

struct Cycles {
  std::int64_t n = 0;
};

/// Kernels are loaded at their first launch, and clocks rise only under load.
void warm_up() {
  touch_kernel<<<1, 1>>>(static_cast<float*>(nullptr), 0);
  cycles_kernel<<<1, 1>>>(0LL);
  for (int i = 0; i < 50; ++i) launch_spin(1'000'000);
  CUDA(cudaDeviceSynchronize());
}

/// Times from events hold the gaps around a kernel too, of a microsecond or two: they are the same
/// for a kernel that does nothing and cancel out in the difference to it.
void events() {
  warm_up();
  int clock_khz = 0;
  CUDA(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, 0));
  CHECK("kprof starts", kprof::start().ok());
  constexpr int repeats = 50;
  constexpr double lengths_us[] = {0, 2, 5, 10, 50, 100, 1000};
  constexpr int count = sizeof lengths_us / sizeof *lengths_us;
  double by_events[count] = {};
  const cudaEvent_t begin = new_event(), end = new_event();
  for (int r = 0; r < repeats; ++r)
    for (int i = 0; i < count; ++i) {
      const auto cycles = static_cast<std::int64_t>(lengths_us[i] * clock_khz / 1e3);
      // so that the next three are queued when the first of them begins: no wait for the host
      // between
      launch_spin(100'000);
      CUDA(cudaEventRecord(begin));
      {
        KPROF_OP(Cycles, {.n = cycles});
        cycles_kernel<<<1, 1>>>(static_cast<long long>(cycles));
        CUDA(cudaGetLastError());
      }
      CUDA(cudaEventRecord(end));
      CUDA(cudaEventSynchronize(end));
      by_events[i] += between_ns(begin, end) / repeats;
    }
  CUDA(cudaDeviceSynchronize());
  const kprof::profile p = kprof::snapshot();
  check_complete(p);
  double idle = 0;
  for (int i = 0; i < count; ++i) {
    const tally t = directly_in(
        p,
        "Cycles n=" + std::to_string(static_cast<std::int64_t>(lengths_us[i] * clock_khz / 1e3)));
    const double ns = t.kernels == 0 ? NAN : t.ns / static_cast<double>(t.kernels);
    const std::string what = std::to_string(static_cast<int>(lengths_us[i])) + " us";
    CHECK_EQUAL("kernels of " + what, t.kernels, static_cast<unsigned>(repeats));
    CHECK_WITHIN("ns of a kernel of " + what + ", no longer than between events around it", ns, 1,
                 by_events[i] + 500);
    CHECK("shortest, mean and longest of " + what + " are in order",
          t.min_ns <= ns * 1.000001 && ns <= t.max_ns * 1.000001);
    note(what + ": " + std::to_string(ns) + " ns by kprof, " + std::to_string(by_events[i]) +
         " ns between events");
    if (i == 0) {
      idle = ns;
      continue;
    }
    const double wanted = by_events[i] - by_events[0], tolerance = std::fmax(2000, 0.02 * wanted);
    CHECK_WITHIN("ns of a kernel of " + what + " beyond those of an idle one, as by events",
                 ns - idle, wanted - tolerance, wanted + tolerance);
  }
}

/// Kernels that wait for the device's own clock take as long as they say, and a little.
void own_clock() {
  warm_up();
  CHECK("kprof starts", kprof::start().ok());
  for (int i = 0; i < 20; ++i)
    for (const std::int64_t ns : {20'000, 200'000, 2'000'000}) spin(ns);
  CUDA(cudaDeviceSynchronize());
  const kprof::profile p = kprof::snapshot();
  check_complete(p);
  for (const std::int64_t ns : {20'000, 200'000, 2'000'000}) {
    const tally t = directly_in(p, "Spin ns=" + std::to_string(ns));
    const auto wanted = static_cast<double>(ns);
    CHECK_WITHIN("mean ns of a kernel that waits " + std::to_string(ns),
                 t.ns / static_cast<double>(t.kernels), wanted - 1100, 1.01 * wanted + 4000);
    CHECK_WITHIN("shortest", t.min_ns, wanted - 1100, 1.01 * wanted + 4000);
  }
}

/// The device that all kernels of this suite run on.
kprof::device_info first_device(const kprof::profile& p) {
  for (const kprof::device_info& d : p.device.devices)
    if (d.id == 0) return d;
  kprof::device_info none;
  none.busy_ns = none.sum_ns = NAN;
  return none;
}
double busy(const kprof::profile& p) { return first_device(p).busy_ns; }
double sum(const kprof::profile& p) { return first_device(p).sum_ns; }

/// Two streams at once: the device is busy half as long as its kernels' times add up to.
void overlapping() {
  warm_up();
  cudaStream_t one = nullptr, other = nullptr;
  CUDA(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
  CUDA(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  CHECK("kprof starts", kprof::start().ok());
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 20; ++i) spin(2'000'000, one), spin(2'000'000, other);
  CUDA(cudaDeviceSynchronize());
  const double wall =
      std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
  const kprof::profile p = kprof::snapshot();
  check_complete(p);
  CHECK_WITHIN("ms of all kernels, summed", sum(p) / 1e6, 80, 82);
  CHECK_WITHIN("ms that the device was busy", busy(p) / 1e6, 40, 43);
  CHECK_WITHIN("ms that the device was busy, no longer than the host waited", busy(p) / 1e6, 0,
               wall / 1e6);
  CHECK("the time that it was busy is exact", first_device(p).busy_is_exact);
  CHECK_WITHIN("the sum, as in the rows of work", sum(p), everything(p).ns * 0.999999,
               everything(p).ns * 1.000001);
}

/// One after another: busy is the sum.
void serial() {
  warm_up();
  CHECK("kprof starts", kprof::start().ok());
  for (int i = 0; i < 200; ++i) spin(50'000);
  CUDA(cudaDeviceSynchronize());
  const kprof::profile p = kprof::snapshot();
  check_complete(p);
  CHECK_WITHIN("ms of all kernels, summed", sum(p) / 1e6, 9.8, 11);
  CHECK_WITHIN("busy, as a share of the sum", busy(p) / sum(p), 0.999, 1.000001);
}

/// A kernel starts a few microseconds after its launch where the device is idle, and when the one
/// before has ended where not.
void gaps() {
  warm_up();
  CHECK("kprof starts", kprof::start().ok());
  for (int i = 0; i < 100; ++i) {
    spin(1000);
    CUDA(cudaDeviceSynchronize());
  }
  launch_spin(20'000'000);
  spin(2000);  // waits for it
  CUDA(cudaDeviceSynchronize());
  const kprof::profile p = kprof::snapshot();
  check_complete(p);
  const tally alone = directly_in(p, "Spin ns=1000"), queued = directly_in(p, "Spin ns=2000");
  CHECK_EQUAL("launches seen", alone.gaps, 100U);
  CHECK_WITHIN("us from a launch to the start, the device being idle",
               alone.gap_ns / 1e3 / static_cast<double>(alone.gaps), 0, 100);
  CHECK_WITHIN("ms from a launch to the start, behind a kernel of 20 ms", queued.gap_ns / 1e6, 18,
               21);
  note("gap of an idle device: " +
       std::to_string(alone.gap_ns / 1e3 / static_cast<double>(alone.gaps)) + " us");
}

/// Scopes that wait for their kernel are as long as it, or longer: the two clocks agree.
void clocks() {
  warm_up();
  CHECK("kprof starts", kprof::start().ok());
  for (int i = 0; i < 20; ++i) {
    KPROF_OP(Spin, {.ns = 5'000'000});
    launch_spin(5'000'000);
    CUDA(cudaDeviceSynchronize());
  }
  const kprof::profile p = kprof::snapshot();
  check_complete(p);
  double host = 0;
  for (const kprof::scope_node& n : p.nodes)
    if (is_called(p, n, "Spin")) host += n.total_ns;
  const tally t = directly_in(p, "Spin");
  CHECK_WITHIN("the device's time, as a share of the host's around it", t.ns / host, 0.95, 1.0);
  CHECK_WITHIN("us from a launch to the start", t.gap_ns / 1e3 / static_cast<double>(t.gaps), 0,
               100);
}

}  // namespace

int main(int argc, char** argv) {
  return run_modes(argc, argv, "times",
                   {{"events", events, mode::gpu},
                    {"own_clock", own_clock, mode::gpu},
                    {"overlapping", overlapping, mode::gpu},
                    {"serial", serial, mode::gpu},
                    {"gaps", gaps, mode::gpu},
                    {"clocks", clocks, mode::gpu}});
}
