// SPDX-License-Identifier: MIT
#ifndef KPROF_EMIT_NVTX_HPP
#define KPROF_EMIT_NVTX_HPP

// Sends scopes to an attached NVTX tool, such as Nsight Systems: a range in domain `kprof` with the
// operator's or region's name, the parameters as a typed payload and, where they are declared and
// valid, the operator's FLOPs and bytes. kprof.hpp includes it. A library may include it alone, so
// that its users see typed ranges without any session. Including it arms the guards of the process:
// the first scope looks for a tool, and without one guards are idle again. It costs about 0.4 s of
// compile time and 31 KB of weak code an object. Any thread may open and close scopes.

#include <kprof/attach/environment_variable.hpp>
#include <kprof/build_options.hpp>
#include <kprof/emit/nvtx_ranges.hpp>

#if KPROF_NVTX

#include <ctime>
#include <utility>

#endif

KPROF_DETAIL_BEGIN
namespace detail {

struct emitter_api;

#if !KPROF_NVTX

inline const emitter_api* attach_nvtx() noexcept { return nullptr; }
inline bool arm_nvtx() noexcept { return false; }
inline void refuse_nvtx() noexcept {}
inline void disarm_nvtx() noexcept {}

#else

/// The emitter when an NVTX tool is attached, else nullptr. The first call initialises NVTX and
/// hangs the emitter into the hub; later ones cost two loads. Any thread. Waits at most two seconds
/// for another thread that initialises: that thread may need the loader's lock, which this one
/// holds while a static object's constructor opens a scope. Such a scope is not sent.
KPROF_DETAIL_LOCAL inline const emitter_api* attach_nvtx() noexcept {
  using nvtx::self;
  if (load(self.refused) || nvtx::telling) return nullptr;
  std::uint32_t tool = load(self.tool);
  if (tool == nvtx::not_sought && nvtx::exchange(self.tool, tool, nvtx::being_sought)) {
    nvtx::telling = true;
    // NVTX itself reads NVTX_INJECTION64_PATH, whatever the process may do.
    self.emitter = environment_is_foreign() ? nullptr : nvtx::look_for_tool(the_hub());
    nvtx::telling = false;
    tool = self.emitter != nullptr ? nvtx::found : nvtx::absent;
    store(self.tool, tool);
  }
  for (int i = 0; tool == nvtx::being_sought && !load(self.gave_up_waiting); ++i) {
    const std::timespec millisecond{0, 1'000'000};
    nanosleep(&millisecond, nullptr);
    tool = load(self.tool);
    if (i == 2000) store(self.gave_up_waiting, true);
  }
  return tool == nvtx::found ? self.emitter : nullptr;
}

// The functions of guards while no session records.
namespace nvtx {

/// The ranges that this thread has open here, and how often it opened one at each depth: a token
/// that names an older range at the same depth is recognised. Below the depths that are counted it
/// is not.
struct thread_ranges {
  static constexpr std::uint32_t counted = 64;
  std::uint32_t number;
  std::uint32_t depth;
  std::uint16_t opened[counted];
};
KPROF_DETAIL_LOCAL inline constinit thread_local thread_ranges mine{};

/// A token: `emitted_token` and the thread's number in the upper half, then 16 bits of which
/// opening at this depth, then the depth.
KPROF_DETAIL_LOCAL inline scope_token token_of_innermost() noexcept {
  const std::uint32_t opening = mine.depth < thread_ranges::counted ? mine.opened[mine.depth] : 0U;
  return emitted_token | static_cast<scope_token>(mine.number) << 32U | opening << 16U | mine.depth;
}

KPROF_DETAIL_LOCAL inline scope_token begin(site& where, const void* payload,
                                            std::uint32_t bytes) noexcept;
template <std::uint32_t Words>
KPROF_DETAIL_LOCAL inline scope_token begin_words(site& where, const void* payload) noexcept {
  return begin(where, payload, 8 * Words);
}

/// Closes the range and those left open within it. Nothing for a token of another thread or of a
/// range that is closed.
KPROF_DETAIL_LOCAL inline void end(scope_token token) noexcept {
  if ((token & emitted_token) == 0) return end_through_hub(token);
  const std::uint32_t depth = token & 0xFFFFU;
  if ((token & ~emitted_token) >> 32U != mine.number || depth > mine.depth) return;
  if (depth < thread_ranges::counted && mine.opened[depth] != (token >> 16U & 0xFFFFU)) return;
  for (; mine.depth >= depth; --mine.depth) self.emitter->pop();
}

KPROF_DETAIL_LOCAL inline std::uint32_t capture() noexcept { return 0; }
// NVTX ranges stay on their thread
KPROF_DETAIL_LOCAL inline scope_token adopt(std::uint32_t) noexcept { return 0; }
KPROF_DETAIL_LOCAL inline void release(scope_token) noexcept {}
KPROF_DETAIL_LOCAL inline std::uint32_t link_call(std::uint32_t) noexcept { return 0; }

template <std::uint32_t... Words>
constexpr scope_api make_emit_only(std::integer_sequence<std::uint32_t, Words...>) noexcept {
  return {1,      sizeof(scope_api), &end,      &begin, {&begin_words<Words>...}, &capture,
          &adopt, &release,          &link_call};
}
KPROF_DETAIL_LOCAL inline constexpr scope_api emit_only =
    make_emit_only(std::make_integer_sequence<std::uint32_t, max_fast_words + 1>{});

KPROF_DETAIL_LOCAL inline scope_token begin(site& where, const void* payload,
                                            std::uint32_t bytes) noexcept {
  if (telling) return 0;
  const emitter_api* to = attach_nvtx();
  if (to == nullptr) {
    // No tool: guards go idle again. Only the first scope finds itself in the hub, so that only it
    // walks the binaries.
    const scope_api* own = &emit_only;
    if (load(self.tool) != being_sought &&
        exchange(the_hub().emit_only, own, static_cast<const scope_api*>(nullptr)))
      publish(the_hub());
    return 0;
  }
  if (mine.number == 0) mine.number = __atomic_add_fetch(&self.threads, 1U, __ATOMIC_RELAXED);
  if (mine.depth == 0xFFFF) return 0;
  if (!to->push(where, payload, bytes)) return 0;
  if (++mine.depth < thread_ranges::counted) ++mine.opened[mine.depth];
  return token_of_innermost();
}

}  // namespace nvtx

/// Lets the guards of the process look for a tool at the next scope, unless somebody else does so
/// already. False when it is known that there is none. Including this header calls it when static
/// objects are built.
KPROF_DETAIL_LOCAL inline bool arm_nvtx() noexcept {
  hub_record& hub = the_hub();
  if (load(nvtx::self.refused) || load(hub.emit_refused) != 0 ||
      load(nvtx::self.tool) == nvtx::absent || environment_is_foreign())
    return false;
  const scope_api* nobody = nullptr;
  keep_loaded();
  if (nvtx::exchange(hub.emit_only, nobody, &nvtx::emit_only)) {
    store(hub.end_emitted, &nvtx::end);
    publish(hub);
  }
  return true;
}

/// For a session whose user wants no NVTX: nothing is sent from now on, and no tool is looked for.
/// Ranges that are open are still closed. Libraries loaded later find it written in the hub.
KPROF_DETAIL_LOCAL inline void refuse_nvtx() noexcept {
  hub_record& hub = the_hub();
  store(nvtx::self.refused, true);
  store(hub.emit_refused, std::uint32_t{1});
  store(hub.emitter, static_cast<const emitter_api*>(nullptr));
  store(hub.emit_only, static_cast<const scope_api*>(nullptr));
  publish(hub);
}

/// For a session that has found no tool: guards do not look for one again when it stops. The caller
/// publishes the hub.
KPROF_DETAIL_LOCAL inline void disarm_nvtx() noexcept {
  const scope_api* own = &nvtx::emit_only;
  nvtx::exchange(the_hub().emit_only, own, static_cast<const scope_api*>(nullptr));
}

namespace nvtx {
struct arming {
  KPROF_DETAIL_LOCAL arming() noexcept { arm_nvtx(); }
};
KPROF_DETAIL_LOCAL
[[gnu::init_priority(102)]] inline arming armed;
}  // namespace nvtx

#endif  // KPROF_NVTX

}  // namespace detail
KPROF_DETAIL_END

#endif
