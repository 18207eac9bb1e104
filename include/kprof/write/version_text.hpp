// SPDX-License-Identifier: MIT
#ifndef KPROF_WRITE_VERSION_TEXT_HPP
#define KPROF_WRITE_VERSION_TEXT_HPP

// The version of these headers as text. Included by the outputs that say who wrote them.

#include <kprof/build_options.hpp>
#include <kprof/version.hpp>

#include <string>

KPROF_DETAIL_BEGIN
namespace detail {

/// "1.2.3"
inline std::string version_text() {
  return std::to_string(KPROF_VERSION_MAJOR) + '.' + std::to_string(KPROF_VERSION_MINOR) + '.' +
         std::to_string(KPROF_VERSION_PATCH);
}

}  // namespace detail
KPROF_DETAIL_END

#endif
