// SPDX-License-Identifier: MIT
#include "saved_file.hpp"

#if __has_include(<boost/json/src.hpp>)
#include <boost/json/src.hpp>

#include <kprof/report/load.hpp>

#include <unistd.h>

#include <cstdint>
#define KPROF_DETAIL_TOOL_LOADS 1
#else
#include <kprof/write/printable.hpp>
#define KPROF_DETAIL_TOOL_LOADS 0
#endif

#include <kprof/report/output/profile_loader.hpp>

#include <string>
#include <utility>

namespace kprof_tool {
#if KPROF_DETAIL_TOOL_LOADS
namespace {

/// The largest files that kprof reads, and half of this machine's memory for what is in them.
kprof::load_options all_that_fits() {
  kprof::load_options most;
  most.max_file = kprof::detail::largest_text;
  const long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
  if (pages > 0 && bytes > 0)
    most.max_memory = static_cast<std::uint64_t>(pages) / 2 * static_cast<std::uint64_t>(bytes);
  return most;
}

}  // namespace
#endif

kprof::status load_saved(const std::string& file, kprof::profile& run) {
#if KPROF_DETAIL_TOOL_LOADS
  kprof::loaded_profile loaded = kprof::load(file, all_that_fits());
  run = std::move(loaded.run);
  // Who runs a program cannot raise its options.
  std::string& wrong = loaded.result.message;
  const std::string remedy = kprof::detail::raise_max_memory;
  if (const std::size_t at = wrong.rfind(remedy); at != std::string::npos)
    wrong.replace(at, remedy.size(), "load it on a machine with more memory");
  return std::move(loaded.result);
#else
  static_cast<void>(run);
  return {'"' + kprof::detail::printable(file, 300) +
          "\" cannot be read: this kprof was built without Boost.JSON; build it where the headers "
          "of Boost 1.75 or later are whole"};
#endif
}

void load_for_outputs() { kprof::detail::loader_of_outputs = &load_saved; }

}  // namespace kprof_tool
