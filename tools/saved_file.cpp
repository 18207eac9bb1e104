// SPDX-License-Identifier: MIT
#include "saved_file.hpp"

#if __has_include(<boost/json/src.hpp>)
#include <boost/json/src.hpp>

#include <kprof/report/load.hpp>
#define KPROF_DETAIL_TOOL_LOADS 1
#else
#include <kprof/write/printable.hpp>
#define KPROF_DETAIL_TOOL_LOADS 0
#endif

#include <kprof/report/output/profile_loader.hpp>

#include <string>
#include <utility>

namespace kprof_tool {

kprof::status load_saved(const std::string& file, kprof::profile& run) {
#if KPROF_DETAIL_TOOL_LOADS
  kprof::loaded_profile loaded = kprof::load(file);
  run = std::move(loaded.run);
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
