// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_BOOTSTRAP_HPP
#define KPROF_SESSION_BOOTSTRAP_HPP

// The functions that guards call while the session is armed, and the session's lock. Both are code
// of the module that owns the session. Included by session_state.hpp.

#include <kprof/attach/hub.hpp>
#include <kprof/build_options.hpp>
#include <kprof/record/scope_functions.hpp>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

KPROF_DETAIL_BEGIN
namespace detail {

/// Locks the session and marks the thread as inside kprof, so that guards in an allocator do not
/// re-enter.
class KPROF_DETAIL_LOCAL session_lock {
 public:
  explicit session_lock(std::mutex& mutex) : lock_(mutex) {}

 private:
  mark_inside_kprof mark_;
  std::lock_guard<std::mutex> lock_;
};

/// Starts the recording of an armed session; in the binary that owns it.
using start_function = void (*)();
KPROF_DETAIL_LOCAL inline constinit start_function own_start_recording = nullptr;

/// The functions that guards call while the session is armed. The first begin starts the recording
/// and goes on with the functions that record.
class KPROF_DETAIL_LOCAL bootstrap {
  static const scope_api* start() noexcept {
    // The guard is in an allocator that this thread calls while it starts the recording.
    if (inside_kprof) return nullptr;
    own_start_recording();
    const scope_api* listener = load(this_module.api);
    if (listener != &api()) return listener;
    static_cast<void>(own_recorder->drop());  // there is no memory to start with
    return nullptr;
  }
  template <std::size_t Words>
  static scope_token begin(site& where, const void* params) noexcept {
    const scope_api* api = start();
    return api == nullptr ? 0 : api->begin[Words](where, params);
  }
  static scope_token begin_any(site& where, const void* bytes, std::uint32_t size) noexcept {
    const scope_api* api = start();
    return api == nullptr ? 0 : api->begin_any(where, bytes, size);
  }
  template <std::size_t... Words>
  static constexpr scope_api make(std::index_sequence<Words...>) noexcept {
    return {1,
            sizeof(scope_api),
            &end_through_hub,
            &begin_any,
            {&begin<Words>...},
            []() noexcept -> std::uint32_t { return 0; },
            [](std::uint32_t) noexcept -> scope_token { return 0; },
            [](scope_token) noexcept {},
            [](std::uint32_t) noexcept -> std::uint32_t { return 0; }};
  }

 public:
  static const scope_api& api() noexcept {
    static constexpr scope_api table = make(std::make_index_sequence<max_fast_words + 1>{});
    return table;
  }
};

}  // namespace detail
KPROF_DETAIL_END

#endif
