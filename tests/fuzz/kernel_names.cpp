// SPDX-License-Identifier: MIT
// Any text as the name of a kernel, mangled or not: the report's names come from it in bounded time
// and length.
#include "printable.hpp"

#include <kprof/model/kernel_name.hpp>
#include <kprof/model/telling_kernel_names.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string name = kprof::kernel_name(text);
  const std::string brief = kprof::short_kernel_name(text);
  kprof_test::require(text.empty() == name.empty(), "a name is lost");
  kprof_test::require(name.size() <= 64 * text.size() + 1024, "a name out of all proportion");
  // "<" without its end becomes "<...>".
  kprof_test::require(brief.size() <= 6 * name.size() + 16, "a short name that is long");
  return 0;
}
