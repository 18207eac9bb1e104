// SPDX-License-Identifier: MIT
#ifndef KPROF_ATTRIBUTE_SINGLE_SCOPES_HPP
#define KPROF_ATTRIBUTE_SINGLE_SCOPES_HPP

// Which snapshots have single scopes in profile::timeline.

#include <kprof/build_options.hpp>

#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail {

enum class single_scopes : std::uint8_t {
  none,
  /// Where the devices' timeline has items, since a report says what the host did meanwhile; and
  /// where the session's settings ask for report(timeline).
  beside_devices,
  all,
};

}  // namespace detail
KPROF_DETAIL_END

#endif
