// SPDX-License-Identifier: MIT

// How fast records of devices are read and attributed: `device RECORDS [off]`, with or without the
// devices' timeline, makes CUPTI's records in memory, as CUPTI 13 lays them out, and prints one
// line of JSON. Timed is what kprof does with them: folding the launches out of a thread's log,
// decoding, joining, adding up. Making launches and records is not.

#include "memory.hpp"

#include <kprof/attribute/build.hpp>
#include <kprof/collect/cupti_records.hpp>
#include <kprof/op.hpp>
#include <kprof/record/scope_functions.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

using namespace kprof::detail;

namespace {

struct Gemm {
  std::int64_t m = 0, n = 0, k = 0;
  constexpr kprof::count flops() const { return kprof::count{2} * m * n * k; }
};

constexpr std::size_t record_bytes = 216;  // CUpti_ActivityKernel10

template <class T>
void put_field(char* record, std::size_t offset, T value) {
  std::memcpy(record + offset, &value, sizeof value);
}

void make_record(char* r, std::uint32_t correlation, const char* name, std::uint64_t start,
                 std::uint32_t stream) {
  std::memset(r, 0, record_bytes);
  put_field(r, 0, cupti::kind_concurrent_kernel);
  put_field(r, cupti::kernel::start, start);
  put_field(r, cupti::kernel::end, start + 2000);
  put_field(r, cupti::kernel::stream, stream);
  put_field(r, cupti::kernel::grid, std::uint32_t{128});
  put_field(r, cupti::kernel::block, std::uint32_t{256});
  put_field(r, cupti::kernel::correlation, correlation);
  put_field(r, cupti::kernel::name, name);
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

int main(int argc, char** argv) {
  const bool with_timeline = argc == 2;
  if (argc != 2 && !(argc == 3 && std::strcmp(argv[2], "off") == 0)) {
    std::fprintf(stderr, "usage: %s RECORDS [off]\n", argv[0]);
    return 2;
  }
  const auto records = static_cast<std::uint64_t>(std::atof(argv[1]));
  constexpr std::size_t memory = std::size_t{64} << 20U, per_buffer = 4096, operators = 48;
  auto& threads = *new recorder;
  own_recorder = &threads;
  threads.set_memory(memory - memory / 4);
  attribution& joined = *new attribution(threads, threads.budget());
  joined.restart(0, memory, with_timeline);
  static site where{0, 1, __FILE__, &op_desc_of<Gemm>, &this_module};
  const scope_api& scopes = scope_functions<counter_clock, false>::api();

  // A model of 48 operators, each with two kernels, over and over, on two streams.
  std::vector<std::string> names;
  for (int i = 0; i < 12; ++i)
    names.push_back("_ZN7cutlass6KernelI" + std::string(80, 'x') + std::to_string(i) + "EEvT_");
  std::vector<char> buffer(per_buffer * record_bytes);
  const double before_mib = bench::resident_mib("VmHWM:");
  double folding = 0, reading = 0;
  std::uint32_t correlation = 0;
  std::uint64_t clock = 1'000'000, done = 0, op = 0;
  while (done < records) {
    for (std::size_t i = 0; i < per_buffer; i += 2, ++op) {
      const Gemm params{static_cast<std::int64_t>(op % operators), 64, 64};
      const scope_token t = scopes.begin_any(where, &params, sizeof params);
      for (std::size_t k = 0; k < 2; ++k) {
        ++correlation;
        threads.note_launch(&correlation, 1, clock - 5000, record_kind::kernel_launch,
                            with_timeline ? call_word(1, 3000) : 0);
        make_record(buffer.data() + (i + k) * record_bytes, correlation,
                    names[(2 * op + k) % names.size()].c_str(), clock,
                    7 + static_cast<std::uint32_t>(k));
        clock += 2100;
      }
      scopes.end(t);
    }
    auto begin = std::chrono::steady_clock::now();
    joined.take_launches({});
    folding += seconds_since(begin);
    begin = std::chrono::steady_clock::now();
    activity some[64];
    std::size_t count = 0;
    for (std::size_t i = 0; i < per_buffer; ++i) {
      if (!cupti::read(buffer.data() + i * record_bytes, some[count])) continue;
      if (++count == 64) joined.take(some, std::exchange(count, 0));
    }
    joined.take(some, count);
    joined.retry_pending();
    reading += seconds_since(begin);
    done += per_buffer;
  }
  timebase time;
  time.reset(calibrate<counter_clock>());
  const kprof::profile p = build_profile(threads, &joined, {time, 0, single_scopes::none});
  std::uint64_t calls = 0;
  for (const auto& w : p.device.work) calls += w.calls;
  if (calls != done || p.device.complete.attributed != done) {
    std::fprintf(stderr, "device: %llu of %llu records\n", static_cast<unsigned long long>(calls),
                 static_cast<unsigned long long>(done));
    return 1;
  }
  std::printf(R"({"records": %llu, "folding_s": %.6f, "reading_s": %.6f, "records_per_s": %.0f, )"
              R"("rows": %zu, "before_mib": %.1f, "peak_mib": %.1f})"
              "\n",
              static_cast<unsigned long long>(done), folding, reading,
              static_cast<double>(done) / (folding + reading), p.device.work.size(), before_mib,
              bench::resident_mib("VmHWM:"));
  return 0;
}
