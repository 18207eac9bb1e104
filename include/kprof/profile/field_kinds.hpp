// SPDX-License-Identifier: MIT
#ifndef KPROF_PROFILE_FIELD_KINDS_HPP
#define KPROF_PROFILE_FIELD_KINDS_HPP

// What a profile calls the kinds of fields that operators declare. Pure.

#include <kprof/build_options.hpp>
#include <kprof/declare/descriptor.hpp>
#include <kprof/profile/parameters.hpp>

KPROF_DETAIL_BEGIN
namespace detail {

inline parameter_kind to_kind(field_kind kind) noexcept {
  switch (kind) {
    case field_kind::signed_integer: return parameter_kind::signed_integer;
    case field_kind::unsigned_integer: return parameter_kind::unsigned_integer;
    case field_kind::floating: return parameter_kind::floating;
    case field_kind::boolean: return parameter_kind::boolean;
    case field_kind::enumeration: return parameter_kind::enumeration;
    case field_kind::string: return parameter_kind::text;
    case field_kind::aggregate: return parameter_kind::aggregate;
  }
  return parameter_kind::none;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
