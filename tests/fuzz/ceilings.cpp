// SPDX-License-Identifier: MIT
// Any text as a file of ceilings: it is read, each mistake is a line fit to print, every rate is
// one that a machine can have, and what is written of it is read back the same.
#include "printable.hpp"

#include <kprof/model/ceilings_text.hpp>
#include <kprof/model/written_ceilings.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

void require_rate(double rate) {
  kprof_test::require(rate == 0 || kprof::detail::is_rate(rate), "a rate that no machine has");
}
void require_rates(const kprof::rate_ceiling& rate) {
  require_rate(rate.one_thread);
  require_rate(rate.all_threads);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kprof::detail;
  const written_ceilings read =
      read_ceilings(std::string_view(reinterpret_cast<const char*>(data), size));
  kprof_test::require(read.mistakes.size() <= 10, "more lines than the bound");
  for (const std::string& line : read.mistakes) kprof_test::require_printable(line, 1);
  const kprof::cpu_ceilings& cpu = read.value.cpu;
  require_rate(cpu.clock_hz);
  for (const kprof::arithmetic_ceiling& a : cpu.arithmetic) require_rates(a.operations);
  for (const kprof::memory_ceiling& m : cpu.memory) {
    require_rates(m.read);
    require_rates(m.triad);
  }
  for (const kprof::gpu_ceilings& gpu : read.value.gpus) {
    for (const kprof::gpu_arithmetic_ceiling& a : gpu.arithmetic) require_rate(a.operations);
    for (const double rate : {gpu.memory_bytes, gpu.l2_bytes, gpu.shared_bytes}) require_rate(rate);
  }
  const std::string once = write_ceilings(read_ceilings(write_ceilings(cpu, "")).value.cpu, "");
  kprof_test::require(write_ceilings(read_ceilings(once).value.cpu, "") == once,
                      "other ceilings after writing");
  kprof::cpu_ceilings over;
  put_over(over, cpu);
  for (const kprof::arithmetic_ceiling& a : over.arithmetic) require_rates(a.operations);
  return 0;
}
