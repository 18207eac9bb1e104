// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_EMITTING_HPP
#define KPROF_SESSION_EMITTING_HPP

// Which functions guards call: those that only record, or those that send scopes to an NVTX tool
// too. Guarded by the session's lock.

#include <kprof/attach/hub.hpp>
#include <kprof/build_options.hpp>
#include <kprof/emit/nvtx.hpp>
#include <kprof/record/scope_functions.hpp>

KPROF_DETAIL_BEGIN
namespace detail {

/// Has guards call these functions; nullptr: none.
KPROF_DETAIL_LOCAL inline void listen_by(const scope_api* api) noexcept {
  hub_record& hub = the_hub();
  store(hub.recorder, api);
  publish(hub);
}

/// The tool that is attached, or nullptr; then no library of a tool is looked for again.
KPROF_DETAIL_LOCAL inline const emitter_api* attach_nvtx_or_disarm() noexcept {
  const emitter_api* tool = attach_nvtx();
  if (tool == nullptr) disarm_nvtx();
  return tool;
}

/// Whether the recording sends scopes.
class session_emitting {
 public:
  /// A recording begins. `wanted`: scopes are sent if there is a tool.
  void restart(bool wanted) noexcept {
    const emitter_api* emitter = wanted ? attach_nvtx_or_disarm() : nullptr;
    if (!wanted) disarm_nvtx();
    if (emitter != nullptr) store(the_hub().emitter, emitter);
    has_emitted_ = has_emitted_ || emits_;
    emits_ = emitter != nullptr;
  }
  const scope_api* functions(const recorder_tables& tables) const noexcept {
    if (emits_) return tables.emitting;
    return has_emitted_ ? tables.closing : tables.alone;
  }

 private:
  bool emits_ = false;  // a tool is attached
  // The last recording or one before it sent scopes, which may still be open.
  bool has_emitted_ = false;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
