// SPDX-License-Identifier: MIT
#ifndef KPROF_ATTACH_HUB_HPP
#define KPROF_ATTACH_HUB_HPP

// How the binaries of a process find one another. Each executable and shared library that has
// guards carries one module_record and an ELF note that says where it is; whoever listens (a
// session, the NVTX emitter) walks the notes of all loaded binaries and hangs its functions into
// every record. Neither exported symbols nor a library of kprof's own are needed, so hidden
// visibility, RTLD_LOCAL and mixed compilers make no difference. A binary loaded later finds the
// hub in the records of the others when its static objects are built.
//
// Everything here is ABI: plain structs, versioned, leaked on purpose so that late destructors may
// still reach them.

#include <kprof/build_options.hpp>
#include <kprof/declare/describe.hpp>
#include <kprof/declare/descriptor.hpp>

#include <dlfcn.h>
#include <link.h>

#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail {

struct module_record;

/// One per call site, static. The type is hidden so that no binary shares another's sites.
struct [[gnu::visibility("hidden")]] site {
  std::uint32_t id;  // given by the session at the first scope; 0 until then
  std::uint32_t line;
  const char* file;   // nullptr: a guard without a call site of its own
  const op_desc* op;  // nullptr: a region, whose name is its payload
  const module_record* home;
};

/// Names an open scope: the number of its thread's log in the upper half, then 16 bits that change
/// whenever scopes end out of order there, then how deep it lies. 0 names none. One word, so that
/// closing a scope in order is one comparison, and all that a guard keeps.
using scope_token = std::uint64_t;
/// Set in the tokens that the NVTX emitter gives out while no session records.
inline constexpr scope_token emitted_token = scope_token{1} << 63U;

/// Payloads of 0, 8, ..., 8 * max_fast_words bytes have a function of their own: a copy of known
/// size costs 2 ns less than a loop. The record is written behind a call and not at the call site,
/// which would be three times as large.
inline constexpr std::uint32_t max_fast_words = 16;

/// The functions of whoever listens.
struct scope_api {
  std::uint32_t version;
  std::uint32_t size;
  void (*end)(scope_token scope) noexcept;
  scope_token (*begin_any)(site& where, const void* payload, std::uint32_t bytes) noexcept;
  scope_token (*begin[max_fast_words + 1])(site& where, const void* payload) noexcept;
  std::uint32_t (*capture)() noexcept;  // path of the innermost open scope; 0: none
  scope_token (*adopt)(std::uint32_t path) noexcept;
  void (*release)(scope_token adopted) noexcept;
};

/// Sends scopes to a tool, with or without a session.
struct emitter_api {
  // false: not sent, not to be popped
  bool (*push)(const site& where, const void* payload, std::uint32_t payload_bytes) noexcept;
  void (*pop)() noexcept;
};

/// One per process, made by the first binary that listens.
struct hub_record {
  std::uint32_t version;
  std::uint32_t size;
  const scope_api* active;     // what every module_record::api points to, or nullptr
  const scope_api* recorder;   // the session's functions while it records, or nullptr
  const scope_api* emit_only;  // the emitter's functions for when no session records, or nullptr
  std::uint32_t emit_refused;  // 1: the user wants no tool to be told anything
  // nullptr: no tool is attached; a recorder calls it beside its own work
  const emitter_api* emitter;
  // the session's own state; it begins with a `const char*` that names the build it is of
  void* session;
  // the session takes what it needs before a binary goes
  void (*detach)(const module_record& leaving) noexcept;
  const scope_api* latest;  // the last `active` that was not nullptr, or nullptr
  // What closes scopes opened by the session's functions and by the emitter's, also when others
  // listen by then. Once set they stay.
  void (*end_recorded)(scope_token scope) noexcept;
  void (*end_emitted)(scope_token scope) noexcept;
};

/// An operator known to a binary.
struct op_node {
  const op_desc* op;
  op_node* next;
};

struct module_record {
  std::uint32_t version;
  std::uint32_t size;
  const scope_api* api;  // nullptr: nobody listens, and a guard costs this load and a branch
  // Closes scopes: the last `api` that was not nullptr. A guard keeps only the token, and may close
  // when nobody listens any more.
  const scope_api* latest;
  hub_record* hub;
  op_node* ops;
};

KPROF_DETAIL_LOCAL inline void end_through_hub(scope_token scope) noexcept;

/// What closes scopes until somebody has listened: they were opened in another module.
KPROF_DETAIL_LOCAL inline constexpr scope_api no_listener{
    1, sizeof(scope_api), &end_through_hub, nullptr, {}, nullptr, nullptr, nullptr};

[[gnu::visibility("hidden"),
  gnu::used]] inline constinit module_record this_module __asm__("kprof_v1_module") = {
    1, sizeof(module_record), nullptr, &no_listener, nullptr, nullptr};

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

template <class T>
T load(T& from) noexcept {
  return __atomic_load_n(&from, __ATOMIC_SEQ_CST);
}
template <class T>
void store(T& to, T value) noexcept {
  __atomic_store_n(&to, value, __ATOMIC_SEQ_CST);
}

/// The module_record a note segment names, or nullptr.
inline module_record* record_in_notes(const char* from, const char* to,
                                      std::size_t alignment) noexcept {
  const auto up = [alignment](std::size_t n) { return (n + alignment - 1) & ~(alignment - 1); };
  while (to - from >= 12) {
    std::uint32_t head[3];  // name size, contents size, type
    __builtin_memcpy(head, from, sizeof head);
    const char* contents = from + up(12 + std::size_t{head[0]});
    if (static_cast<std::size_t>(to - from) < up(12 + std::size_t{head[0]}) + head[1])
      return nullptr;
    if (head[0] == 12 && head[1] == 8 && head[2] == 1 &&
        __builtin_memcmp(from + 12, "kprof-scope", 12) == 0) {
      std::int64_t distance = 0;
      __builtin_memcpy(&distance, contents, sizeof distance);
      return reinterpret_cast<module_record*>(reinterpret_cast<std::uintptr_t>(contents) +
                                              static_cast<std::uintptr_t>(distance));
    }
    from = contents + up(head[1]);
  }
  return nullptr;
}

/// Calls visit(module_record&) for each loaded binary that has guards and the same ABI. The
/// loader's lock is held.
template <class Visit>
KPROF_DETAIL_LOCAL void for_each_module(Visit visit) noexcept {
  const auto each = [](dl_phdr_info* info, std::size_t, void* data) -> int {
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const auto& segment = info->dlpi_phdr[i];
      if (segment.p_type != PT_NOTE) continue;
      const char* notes = reinterpret_cast<const char*>(info->dlpi_addr + segment.p_vaddr);
      if (module_record* m =
              record_in_notes(notes, notes + segment.p_memsz, segment.p_align == 8 ? 8 : 4)) {
        if (m->version == 1 && m->size == sizeof(module_record)) (*static_cast<Visit*>(data))(*m);
        break;
      }
    }
    return 0;
  };
  dl_iterate_phdr(each, &visit);
}

/// Keeps the binary that holds the hub in memory: others call its functions until the process ends.
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

/// Makes the guards of a module call what the hub says. What closes scopes is set before what opens
/// them.
KPROF_DETAIL_LOCAL inline void set_listener(module_record& m, const hub_record& hub) noexcept {
  if (const scope_api* latest = load(hub.latest)) store(m.latest, latest);
  store(m.api, load(hub.active));
}

/// Makes every guard of the process call the recorder if there is one, else the emitter, else
/// nobody.
KPROF_DETAIL_LOCAL inline void publish(hub_record& hub) noexcept {
  const auto wanted = [&] {
    const scope_api* recorder = load(hub.recorder);
    return recorder != nullptr ? recorder : load(hub.emit_only);
  };
  const scope_api* api = nullptr;
  // again when another thread has changed what is wanted meanwhile: the last word must be the
  // newest
  do {
    api = wanted();
    if (api != nullptr) store(hub.latest, api);
    store(hub.active, api);
    for_each_module([&](module_record& m) {
      store(m.hub, &hub);
      set_listener(m, hub);
    });
  } while (wanted() != api);
}

/// The hub of this process; makes one, owned by this binary and never freed, when there is none. Of
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
                                  nullptr, nullptr};
  module_record* first = nullptr;
  for_each_module([&](module_record& m) {
    if (first == nullptr) first = &m;
  });
  // no note: a linker script dropped it, and this binary is on its own
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

/// Joins this binary to a hub that is already there, and leaves it before it is unloaded.
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
    store(this_module.version, std::uint32_t{0});  // nobody's walk finds this binary from here on
    store(this_module.api, static_cast<const scope_api*>(nullptr));
    hub_record* hub = load(this_module.hub);
    if (hub != nullptr)
      if (auto* detach = load(hub->detach)) detach(this_module);
  }
  attachment(const attachment&) = delete;
  attachment& operator=(const attachment&) = delete;
};
KPROF_DETAIL_LOCAL inline attachment attached;

/// Puts an operator on this binary's list, once.
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
