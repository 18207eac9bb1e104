// SPDX-License-Identifier: MIT
#ifndef KPROF_ATTACH_HUB_HPP
#define KPROF_ATTACH_HUB_HPP

// How the modules of a process meet. Each executable and shared library that has guards carries one
// module_record and an ELF note that says where it is. Whoever listens, a session or the NVTX
// emitter, stores its functions in the records of all loaded modules. A module that is loaded later
// finds the hub in the records of the others when its static objects are built.

#include <kprof/attach/abi.hpp>
#include <kprof/attach/find_modules.hpp>
#include <kprof/attach/no_session.hpp>
#include <kprof/build_options.hpp>
#include <kprof/declare/describe.hpp>

#include <dlfcn.h>

#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail {

KPROF_DETAIL_LOCAL inline void end_through_hub(scope_token scope) noexcept;

/// What closes scopes until somebody has listened: they were opened in another module. No guard
/// begins one through it.
KPROF_DETAIL_LOCAL inline constexpr scope_api no_listener{
    1, sizeof(scope_api), &end_through_hub, nullptr, {}, nullptr, nullptr, nullptr, nullptr};

[[gnu::visibility("hidden"),
  gnu::used]] inline constinit module_record this_module __asm__("kprof_v1_module") = {
    abi_layout, sizeof(module_record), nullptr, &no_listener, nullptr, nullptr};

// The note's name is a multiple of 8 bytes less 4, so that its contents lie at the same place
// whether a linker aligns notes to 4 or to 8. It holds the distance to the record: no relocation,
// hence no writable note.
#if !defined(__CUDA_ARCH__)
__asm__(
    ".pushsection .note.kprof,\"a\",%note\n"
    "  .balign 8\n"
    "  .long 12, 8, 1\n"
    "  .asciz \"kprof-scope\"\n"
    "  .quad kprof_v1_module - .\n"
    ".popsection");
#endif

/// Keeps the module that holds the hub in memory: others call its functions until the process ends.
KPROF_DETAIL_LOCAL inline void keep_loaded() noexcept {
  Dl_info info{};
  if (dladdr(static_cast<const void*>(&this_module), &info) != 0 && info.dli_fname != nullptr &&
      info.dli_fname[0] != '\0')
    static_cast<void>(dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE));
}

/// The hub of this process, or nullptr when nobody has ever listened.
KPROF_DETAIL_LOCAL inline hub_record* find_hub() noexcept {
  if (hub_record* own = load(this_module.hub)) return own;
  hub_record* found = nullptr;
  for_each_module([&](module_record& m) {
    if (found == nullptr) found = load(m.hub);
  });
  return found;
}

/// Closes a scope through whoever opened it.
KPROF_DETAIL_LOCAL inline void end_through_hub(scope_token scope) noexcept {
  hub_record* const hub = find_hub();
  if (hub == nullptr) return;
  const bool emitted = (scope & emitted_token) != 0;
  if (auto* const end = load(emitted ? hub->end_emitted : hub->end_recorded)) end(scope);
}

/// Makes the guards of a module call what the hub says. A guard that finds somebody listening calls
/// `latest`: it is set first, and read last, since publish() may run meanwhile.
KPROF_DETAIL_LOCAL inline void set_listener(module_record& m, const hub_record& hub) noexcept {
  const scope_api* const active = load(hub.active);
  if (const scope_api* latest = load(hub.latest)) store(m.latest, latest);
  store(m.api, active);
}

/// Makes every guard of the process call the recorder if there is one, else the emitter, else
/// nobody.
KPROF_DETAIL_LOCAL inline void publish(hub_record& hub) noexcept {
  const auto wanted = [&] {
    const scope_api* recorder = load(hub.recorder);
    return recorder != nullptr ? recorder : load(hub.emit_only);
  };
  const scope_api* api = nullptr;
  // Another thread may change the recorder or the emitter meanwhile: publishing goes on until the
  // modules have the functions that are wanted now.
  do {
    api = wanted();
    if (api != nullptr) store(hub.latest, api);
    store(hub.active, api);
    unsigned count = 0;
    for_each_module([&](module_record& m) {
      store(m.hub, &hub);
      set_listener(m, hub);
      if (may_ask_loader()) modules_told.tell(count++, &m);
    });
    if (may_ask_loader()) store(modules_told.count, count);
  } while (wanted() != api);
}

/// The hub of this process; makes one, owned by this module and never freed, when there is none. Of
/// two threads that make one at once, the one that reaches the first module_record in the loader's
/// order wins.
KPROF_DETAIL_LOCAL inline hub_record& the_hub() noexcept {
  if (hub_record* found = find_hub()) {
    store(this_module.hub, found);
    return *found;
  }
  static constinit hub_record own{1,       sizeof(hub_record),
                                  nullptr, nullptr,
                                  nullptr, 0,
                                  nullptr, nullptr,
                                  nullptr, nullptr,
                                  nullptr, nullptr,
                                  nullptr};
  module_record* first = nullptr;
  for_each_module([&](module_record& m) {
    if (first == nullptr) first = &m;
  });
  // no note: a linker script dropped it, and this module is on its own
  if (first == nullptr) first = &this_module;
  hub_record* expected = nullptr;
  hub_record* winner = &own;
  if (!__atomic_compare_exchange_n(&first->hub, &expected, &own, false, __ATOMIC_SEQ_CST,
                                   __ATOMIC_SEQ_CST))
    winner = expected;
  store(this_module.hub, winner);
  if (winner == &own) keep_loaded();
  return *winner;
}

/// Joins this module to a hub that is already there, and leaves it before it is unloaded.
struct attachment {
  KPROF_DETAIL_LOCAL attachment() noexcept {
    hub_record* hub = find_hub();
    if (hub == nullptr) return;
    store(this_module.hub, hub);
    // Once more if it changed meanwhile: publish() may have run between the load and the store.
    do set_listener(this_module, *hub);
    while (load(hub->active) != load(this_module.api));
  }
  KPROF_DETAIL_LOCAL ~attachment() {
    store(this_module.version, std::uint32_t{0});  // nobody's walk finds this module from here on
    store(this_module.api, static_cast<const scope_api*>(nullptr));
    hub_record* hub = load(this_module.hub);
    if (hub != nullptr)
      if (auto* detach = load(hub->detach)) detach(this_module);
    notice_.leave(hub);
  }
  attachment(const attachment&) = delete;
  attachment& operator=(const attachment&) = delete;

 private:
  no_session_notice notice_;
};
// Lives longer than other static objects, whose constructors and destructors may have guards.
KPROF_DETAIL_LOCAL
[[gnu::init_priority(101)]] inline attachment attached;

/// Puts an operator on this module's list, once.
template <class Op>
struct listing {
  op_node node{&op_desc_of<Op>, nullptr};
  KPROF_DETAIL_LOCAL listing() noexcept {
    op_node* head = load(this_module.ops);
    do node.next = head;
    while (!__atomic_compare_exchange_n(&this_module.ops, &head, &node, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST));
  }
};
template <class Op>
KPROF_DETAIL_LOCAL inline listing<Op> listed;

}  // namespace detail
KPROF_DETAIL_END

#endif
