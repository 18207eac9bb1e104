// SPDX-License-Identifier: MIT
// Any text as the variable KPROF: it is read, each mistake is a line fit to print, and what was
// read can be asked for.
#include "printable.hpp"

#include <kprof/kprof.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const kprof::parsed_settings read = kprof::settings::parse(text);
  kprof_test::require(read.errors.size() <= 20, "more lines than the bound");
  for (const std::string& line : read.errors) kprof_test::require_printable(line, 1);
  static const kprof::profile empty;
  // A page takes much longer than reading its options.
  std::string page;
  if (read.errors.empty() && kprof::write_text(empty, read.value.report, page))
    kprof_test::require_printable(page, 0);
  for (const kprof::output_request& request : read.value.outputs)
    kprof_test::require(!request.output.empty(), "an output without a name");
  return 0;
}
