// SPDX-License-Identifier: MIT
// Any text as the transcript of a program on a GPU: records without launches, twice, out of order,
// of unknown graphs. Each is attributed, counted, or refused with its line.
#define KPROF_LIBFUZZER
#include "../cupti/replay.cpp"

#include <cstddef>
#include <stdexcept>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static replay& one = *new replay;
  std::istringstream lines(std::string(reinterpret_cast<const char*>(data), size));
  one.restart();
  for (std::string line; std::getline(lines, line);) try {
      if (!one.line(line)) break;
    } catch (const std::logic_error&) {
      break;  // of std::stoul: no number where the format has one
    }
  const kprof::profile run = one.attributed();
  const auto& c = run.device.complete;
  // Each record is counted in one place.
  std::uint64_t in_rows = 0;
  for (const kprof::device_work& w : run.device.work) in_rows += w.calls;
  if (in_rows > c.records) {
    std::fprintf(stderr, "fuzz: %llu runs of %llu records\n",
                 static_cast<unsigned long long>(in_rows),
                 static_cast<unsigned long long>(c.records));
    std::abort();
  }
  return 0;
}
